import type { LineRef } from "../line-file.js";

/** A message of a session: a user's line, or the lines that one answer was written in. */
export interface Kept {
  readonly lines: LineRef[];
  readonly results: Map<string, LineRef>;
  /** Of an answer: which one its lines belong to. */
  readonly answer: string | undefined;
}
