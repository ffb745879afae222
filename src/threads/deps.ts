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

/** A file of a project that names what is used here once the user trusts it. */
export interface ProjectFile {
  readonly kind: "config" | "mcp";
  /** All it says, as JSON; what is trusted is exactly this. */
  readonly content: string;
  readonly sha256: string;
}

/** What a project's own files say, besides what `.agent` holds: it is read, and used, by others. */
export interface ProjectFiles {
  /** What stands in a project now, and what is wrong with it. What can't be used is only a warning. */
  read(root: string): { readonly files: readonly ProjectFile[]; readonly warnings: readonly string[] };
  /** Brings what is used of a workspace's project in line with its files and with what is trusted. */
  refresh(workspace_id: string): Promise<void>;
}

export interface ThreadsDeps extends TreeDeps {
  readonly project: ProjectFiles;
  readonly files: ThreadFiles;
  readonly words: WordIndexer;
  readonly setups: Setups;
  readonly agents: KnownAgents;
  readonly live: Bus<LiveNote>;
  /** Told of what went wrong where nobody waits for an answer. */
  readonly report: (error: unknown, what: string) => void;
}
