import { fstatSync } from "node:fs";
import { UsageError } from "../../errors.js";
import { note, paintErr } from "../../output.js";
import { readTextInput } from "../agents-md/text-file.js";

/**
 * What is to be sent: the words of the command line, and standard input where `-` stands, set apart by empty lines.
 * Standard input is read only when it was asked for: a command in a loop must not take what the loop reads.
 */
export async function readMessage(words: readonly string[]): Promise<string> {
  const given = words.length === 0 ? ["-"] : words;
  const inputs = given.filter((word) => word === "-").length;
  if (inputs > 1) throw new UsageError("Standard input can be read only once: give one `-`");
  const input = inputs === 1 ? await readInput() : leaveInput();
  const text = paragraphs(given, input).join("\n\n");
  if (text.trim() === "")
    throw new UsageError("There is nothing to send: give a text, or - for standard input");
  return text;
}

/** Whoever pipes something in and forgets the `-` would wonder about the answer. */
function leaveInput(): "" {
  if (process.stderr.isTTY === true && isPipe(process.stdin.fd))
    note(paintErr.dim("Standard input was not read: - stands for it."));
  return "";
}

function isPipe(fd: number): boolean {
  try {
    return fstatSync(fd).isFIFO();
  } catch {
    return false;
  }
}

/** Words beside each other are one paragraph, standard input is one of its own. */
function paragraphs(words: readonly string[], input: string): string[] {
  const at = words.indexOf("-");
  if (at === -1) return [words.join(" ")];
  const parts = [words.slice(0, at).join(" "), input, words.slice(at + 1).join(" ")];
  return parts.filter((part) => part !== "");
}

/** The line end that programs put behind their output is not part of what they say. */
async function readInput(): Promise<string> {
  if (process.stdin.isTTY === true) note(paintErr.dim("Type the message; Ctrl-D ends it."));
  return (await readTextInput()).replace(/\r?\n$/, "");
}
