import { CancelledError, UsageError } from "./errors.js";

export interface ConfirmOptions {
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** Asks on a terminal; anywhere else the answer must be on the command line. */
export async function confirm(question: string, { yes, json }: ConfirmOptions): Promise<void> {
  if (yes) return;
  if (json || process.stdin.isTTY !== true || process.stderr.isTTY !== true) {
    throw new UsageError("This asks for confirmation, and there is no terminal to ask on: add --yes");
  }
  const prompts = await import("@clack/prompts");
  const answer = await prompts.confirm({
    message: question,
    initialValue: false,
    output: process.stderr,
    withGuide: false,
  });
  if (answer !== true) throw new CancelledError("Nothing was changed.");
}
