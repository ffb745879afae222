import type { Message } from "../atsf/index.js";

export const TOOLS = ["claude", "codex", "pi", "opencode"] as const;
export type Tool = (typeof TOOLS)[number];

/** A session that was found, as far as its beginning tells. */
export interface FoundSession {
  readonly tool: Tool;
  /** The file or database it stands in. */
  readonly path: string;
  /** What its tool calls it; the same on every look. */
  readonly id: string;
  /** Where its agent worked; undefined when it does not say. */
  readonly cwd: string | undefined;
  /** Unix milliseconds. */
  readonly modifiedAt: number;
}

/** Something below a place that could be no session, or could not be read. */
export interface NotRead {
  readonly path: string;
  readonly reason: string;
}

export type Found = FoundSession | NotRead;

export function isSession(found: Found): found is FoundSession {
  return "id" in found;
}

/** A message as it will stand in a thread. Images are still inline. */
export interface SourceMessage {
  readonly message: Message;
  /** Its answer may not be complete: a result is missing, or its end. */
  readonly open: boolean;
}

/** One way through a session. A branch holds the whole way, what it shares with its parent included. */
export interface Branch {
  /** Empty for the trunk; else what the branch begins with. It stays the same however much the session grows. */
  readonly key: string;
  readonly parentKey: string | undefined;
  messages(): AsyncIterable<SourceMessage>;
}

export interface SourceSession {
  readonly title: string | undefined;
  readonly createdAt: string | undefined;
  readonly version: string | undefined;
  readonly gitBranch: string | undefined;
  readonly gitCommit: string | undefined;
  /** The id of the session it was started from. */
  readonly parentId: string | undefined;
  /** Of all that was read: another one when anything in the source is another. */
  readonly contentSha256: string;
  /** The trunk first. */
  readonly branches: readonly Branch[];
  /** What can't be carried over. It is complete when the messages were read. */
  readonly lossy: Lossy;
  close(): Promise<void>;
}

/** One tool's way of keeping sessions. */
export interface Source {
  readonly tool: Tool;
  /** As people know it. */
  readonly name: string;
  /** Every session at a path: a file of the tool, or a directory with such files below it. Links are not followed. */
  find(path: string): AsyncIterable<Found>;
  open(found: FoundSession): Promise<SourceSession>;
}

export interface Lost {
  readonly what: string;
  readonly count: number;
}

const MOST_NAMED = 100;
const OTHER_KINDS = "other kinds";

/** What a source has and a thread has no place for, counted by kind. */
export class Lossy {
  readonly #counts = new Map<string, number>();
  readonly #named = new Set<string>();
  readonly #seen = new Set<string>();

  add(what: string, count = 1): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + count);
  }

  /** The same by a word of the source itself. Of those there may be as many as it has lines: the first are told apart. */
  addNamed(what: string): void {
    if (this.#named.size < MOST_NAMED) this.#named.add(what);
    this.add(this.#named.has(what) ? what : OTHER_KINDS);
  }

  /** Where the losses of one entry are counted: the first time it is read, not when another branch reads it again. */
  of(entry: string): Lossy {
    if (this.#seen.has(entry)) return new Lossy();
    this.#seen.add(entry);
    return this;
  }

  list(): Lost[] {
    return [...this.#counts].map(([what, count]) => ({ what, count }));
  }
}
