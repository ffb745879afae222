import { UsageError } from "../../errors.js";
import type { WorkspaceOptions } from "../../options.js";
import { note, paint, paintErr, print, printJson } from "../../output.js";
import { withSession } from "../../session.js";
import { readTextInput } from "../agents-md/text-file.js";
import { onThread } from "./of-thread.js";

interface AppendOptions extends WorkspaceOptions {
  readonly role: "user" | "agent" | "system";
}

export async function append(id: string, given: string, options: AppendOptions): Promise<void> {
  const text = given === "-" ? await readInput() : given;
  if (text.trim() === "") throw new UsageError("There is no text to append");
  const { role } = options;
  const message = { role, content: [{ type: "text" as const, text }] };
  const result = await withSession(options, (session) =>
    onThread(session, id, (named) => session.call("message/append", { ...named, message })),
  );
  if (options.json) return printJson(result);
  print(`Appended a message by the ${role}  ${paint.dim(result.message.id)}`);
}

/** The line end that programs put behind their output is not part of what they say. */
async function readInput(): Promise<string> {
  if (process.stdin.isTTY === true) note(paintErr.dim("Type the text; Ctrl-D ends it."));
  return (await readTextInput()).replace(/\r?\n$/, "");
}
