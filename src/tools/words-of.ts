import { sep } from "node:path";
import { clipped } from "./quoted.js";

const MOST_WORDS = 1_000;

/**
 * What may be told of something a tool threw: its message, unless that holds a path that is not below the tool's directory.
 * Then not a word of it: where a path ends can't be told from the words around it.
 */
export function wordsOf(error: unknown, directory: string | undefined): string {
  const { message, code } = look(error);
  const below = directory === undefined ? message : message.replaceAll(directory + sep, "");
  if (below !== "" && !ABSOLUTE.test(below)) return `: ${clipped(below, MOST_WORDS)}`;
  return code === undefined ? "." : ` (${code}).`;
}

/** A slash that follows no name, a drive, or a share. */
const ABSOLUTE = /(?<![\p{L}\p{N}_.-])\/|\b[A-Za-z]:[\\/]|\\\\/u;

/** Anything can be thrown, also what throws again when it is looked at. */
function look(error: unknown): { message: string; code: string | undefined } {
  try {
    const { message, code } = error as { message?: unknown; code?: unknown };
    return {
      message: typeof message === "string" ? withoutStack(message) : "",
      code: typeof code === "string" && /^[A-Z][A-Z0-9_]{1,31}$/.test(code) ? code : undefined,
    };
  } catch {
    return { message: "", code: undefined };
  }
}

/** Some put the stack into the message. */
function withoutStack(message: string): string {
  return message.split(/\n\s*at /, 1)[0]?.trim() ?? "";
}
