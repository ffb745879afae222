/** What happened, before it has its place in a journal. `at` is unix milliseconds; the rest of it is JSON. */
export interface Happening {
  readonly type: string;
  readonly at: number;
  readonly run_id?: string;
  readonly [fact: string]: unknown;
}

/** An event in its place. */
export interface JournalEvent extends Happening {
  readonly seq: number;
  /** Hash of the event before it. */
  readonly prev: string;
  /** Hash of the state after it. */
  readonly state: string;
}

/** An event as it is kept: `body` is what was hashed. */
export interface WrittenEvent {
  readonly seq: number;
  readonly body: string;
  readonly hash: string;
}

/** Where a journal ends. */
export interface JournalHead {
  readonly seq: number;
  readonly hash: string;
}

export const EMPTY_HEAD: JournalHead = { seq: 0, hash: "" };
