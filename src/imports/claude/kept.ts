import { MOST_OF_ANSWER } from "../blocks.js";
import type { LineRef } from "../line-file.js";

/** A message of a session: a user's line, or the lines that one answer was written in. */
export interface Kept {
  readonly lines: LineRef[];
  /** Of its calls; undefined for one that is there and was left out. */
  readonly results: Map<string, LineRef | undefined>;
  /** Of an answer: which one its lines belong to. */
  readonly answer: string | undefined;
  /** How many bytes of lines that is, and the last line that was counted. */
  size: number;
  counted: LineRef | undefined;
}

export function kept(lines: readonly LineRef[], answer?: string): Kept {
  return { lines: [...lines], results: new Map(), answer, size: 0, counted: undefined };
}

/** Whether a line is still taken. All lines of one answer are in memory at once, and a file may have it all in one. */
export function hasRoom(of: Kept, ref: LineRef): boolean {
  if (of.counted?.offset === ref.offset) return true;
  if (of.lines.length > 0 && of.size + ref.length > MOST_OF_ANSWER) return false;
  of.size += ref.length;
  of.counted = ref;
  return true;
}
