import { z } from "zod";

/** How every tool here is told where. */
export function pathTo(what: string) {
  return z
    .string()
    .min(1)
    .max(4_096)
    .refine((path) => !path.includes("\0"), "contains a NUL character")
    .describe(`${what}, relative to the workspace's directory`);
}

/** Text that is the same text again when it is read from the file it was written to. */
export function fileText(what: string) {
  return z
    .string()
    .max(MOST_FILE_BYTES)
    .refine((text) => !text.includes("\0"), "contains a NUL character, which no text file has")
    .refine((text) => text.isWellFormed(), "contains half a character (a lone surrogate)")
    .describe(what);
}

/** Bytes of a file that is written or changed. */
export const MOST_FILE_BYTES = 4 * 1024 * 1024;

const UNPRINTABLE = /[\p{Cc}\p{Cs}\u2028\u2029]/u;

/** A path on a line of its own, or before a colon: no name can look like two lines. */
export function printed(path: string): string {
  return UNPRINTABLE.test(path) ? JSON.stringify(path) : path;
}
