import type { Chance } from "./chance.js";

/** A message that a client sent. */
export interface Said {
  readonly text: string;
  readonly how: "run" | "append" | "steer";
  /** Both known once it was acknowledged. */
  id?: string;
  run?: string;
  /** The run that it was to steer. */
  steers?: string;
  /** Its run may have been cancelled while it waited, or it was never acknowledged: it need not be there. */
  maybe: boolean;
}

export interface KnownThread {
  readonly id: string;
  readonly agent: string;
  /** It delegates, and nothing is done to it that would drop a result. */
  readonly desk: boolean;
  title: string;
  folder: string | undefined;
  pinned: boolean;
  deleted: boolean;
  inWorktree: boolean;
  log: Said[];
}

export interface KnownFolder {
  readonly id: string;
  name: string;
  parent: string | undefined;
}

/** A document of a scope: what was acknowledged by version, and texts of which nobody knows. */
export interface KnownDoc {
  readonly folder: string | undefined;
  readonly acknowledged: Map<number, string>;
  readonly unclear: Set<string>;
}

/** Asked after the next start: adopts what is there of a call whose answer never came, or blamed the disk. */
export type Doubt = (state: TreeState) => void | Promise<void>;

export interface TreeState {
  readonly threads: ReadonlyMap<
    string,
    { title: string; folder_id?: string | undefined; pinned_at?: number | undefined; worktree?: unknown }
  >;
  readonly folders: ReadonlyMap<string, { name: string; parent_folder_id?: string | undefined }>;
  /** The texts of a thread, in order. */
  texts(thread_id: string): Promise<string[]>;
}

/** What one client knows. It does one thing after the other, and what it owns nobody else touches. */
export interface Known {
  readonly name: string;
  readonly chance: Chance;
  readonly threads: KnownThread[];
  readonly folders: KnownFolder[];
  readonly doubts: Doubt[];
  /** A run whose acknowledgement is missing: it is sent again with the same key. */
  unanswered: { thread: KnownThread; said: Said } | undefined;
  next: number;
}

interface Entry {
  readonly at: string;
  readonly client: string;
  readonly call: string;
  became: string;
}

/** All that clients were told by any gateway so far. */
export class Ledger {
  readonly clients: Known[];
  readonly docs = new Map<string, KnownDoc>();
  /** Lines that people added to the note: whether that was acknowledged. */
  readonly noted = new Map<string, boolean>();
  readonly counts = { sent: 0, acknowledged: 0, refused: 0, unknown: 0 };
  readonly byMethod = new Map<string, number>();
  readonly refusals = new Map<string, number>();
  /** What no client should ever see. */
  readonly problems: string[] = [];
  /** A disk that was full for a while may have made runs fail. */
  mayFail = false;
  /** Runs that were proven by replay, and need not be again. */
  readonly proven = new Set<string>();

  constructor(chance: Chance, clients: number) {
    this.clients = Array.from({ length: clients }, (_, at) => ({
      name: `c${at}`,
      chance: chance.branch(`client ${at}`),
      threads: [],
      folders: [],
      doubts: [],
      unanswered: undefined,
      next: 1,
    }));
  }

  /** Every call, in the order they were sent, with what became of it: to be read when something is wrong. */
  readonly history: Entry[] = [];

  write(client: string, call: string): Entry {
    const entry: Entry = { at: new Date().toISOString(), client, call, became: "unknown" };
    this.history.push(entry);
    return entry;
  }

  doc(folder: string | undefined): KnownDoc {
    const key = folder ?? "root";
    const found = this.docs.get(key) ?? { folder, acknowledged: new Map(), unclear: new Set() };
    this.docs.set(key, found);
    return found;
  }

  /** Every thread that any client made. */
  threads(): KnownThread[] {
    return this.clients.flatMap(({ threads }) => threads);
  }
}

/** Whatever was under way in it may have been cancelled. */
export function mayBeCancelled(thread: KnownThread): void {
  for (const said of thread.log) if (said.how === "run") said.maybe = true;
}
