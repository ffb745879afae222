import type { Bus } from "../base/index.js";
import type { NotificationName } from "../protocol/index.js";
import type { TreeDeps } from "../tree/index.js";
import type { ThreadFiles } from "./files/thread-files.js";
import type { WordIndexer } from "./files/words.js";
import type { Setups } from "./setups.js";

/** A notification nobody can ask for later. */
export interface LiveNote {
  readonly workspace_id: string;
  /** Only for those who follow this thread. */
  readonly thread_id?: string;
  readonly method: NotificationName;
  readonly params: object;
}

/** The agents there are, as far as a thread needs to know them. */
export interface KnownAgents {
  in(workspace_id: string): {
    nameOf(agent_id: string): string | undefined;
    /** Who answers when nobody was chosen. */
    readonly fallback: string;
  };
}

export interface ThreadsDeps extends TreeDeps {
  readonly files: ThreadFiles;
  readonly words: WordIndexer;
  readonly setups: Setups;
  readonly agents: KnownAgents;
  readonly live: Bus<LiveNote>;
  /** Told of what went wrong where nobody waits for an answer. */
  readonly report: (error: unknown, what: string) => void;
}
