import type { Command } from "commander";
import { UsageError } from "../../errors.js";
import type { Session } from "../../session.js";
import { readTextFile } from "../agents-md/text-file.js";

export interface PromptOptions {
  readonly prompt?: string;
  readonly promptFile?: string;
}

export function promptOptions(command: Command, what: string): Command {
  return command
    .option("--prompt <text>", `a base prompt ${what}, instead of the agent's own`)
    .option("--prompt-file <file>", "the same, from a file");
}

/** The text that was given as a base prompt. Read before a gateway is asked for: it may be a pipe that takes its time. */
export async function readPrompt({ prompt, promptFile }: PromptOptions): Promise<string | undefined> {
  if (prompt !== undefined && promptFile !== undefined) {
    throw new UsageError("--prompt and --prompt-file exclude each other");
  }
  const text = promptFile === undefined ? prompt : (await readTextFile(promptFile)).replace(/^\uFEFF/, "");
  if (text?.trim() === "") {
    throw new UsageError("The base prompt is empty: give a text, or leave it out to use the agent's own");
  }
  return text;
}

/** A prompt is kept by the hash of its content, and named by that. */
export async function putPrompt({ call }: Session, text: string): Promise<string> {
  return (await call("blob/put", { text })).ref;
}
