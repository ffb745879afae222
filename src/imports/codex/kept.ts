import type { Tokens } from "../blocks.js";
import type { LineFile, LineRef } from "../line-file.js";
import type { Json } from "../values.js";

/** A line of this file, or of the one whose history a session goes on with. */
export interface Line {
  readonly file: LineFile;
  readonly ref: LineRef;
}

export function readLine({ file, ref }: Line): Promise<Json> {
  return file.read(ref);
}

/** What a user said: the line that tells of it, and the one with its images. */
export interface KeptUser {
  readonly kind: "user";
  readonly said: Line;
  /** The first letters, to know the same thing told twice. */
  readonly text: string;
  sent: Line | undefined;
}

/** One answer of the model: its items, and what came of them. */
export interface KeptAnswer {
  readonly kind: "answer";
  readonly items: Line[];
  readonly model: string | undefined;
  /** Calls that somebody answers. */
  readonly calls: Set<string>;
  readonly results: Map<string, Line>;
  /** What Codex itself noted of a call: changes of files, how long it took. */
  readonly details: Map<string, Line>;
  tokens: Tokens | undefined;
  stopReason: string | undefined;
  /** Nothing is added to it any more. */
  ended: boolean;
}

/** A summary in place of what was before. */
export interface KeptNote {
  readonly kind: "note";
  readonly said: Line;
}

export type Kept = KeptUser | KeptAnswer | KeptNote;
