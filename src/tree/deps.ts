import type { Clock, MakeId } from "../base/index.js";
import type { Store, Unit } from "../store/index.js";

/** Whoever asked: kept with what they change, and handed back with the notifications of it. */
export interface Call {
  readonly origin?: unknown;
  readonly actor?: string | undefined;
}

export interface FolderScope {
  readonly workspace_id: string;
  readonly folder_id: string;
}

/**
 * What stands on folders (AGENTS.md documents) and must follow them, within the same transaction. Each wraps the change
 * itself, so that it can look at the state before and after.
 */
export interface FolderFollower {
  moving<T>(scope: FolderScope, change: Unit<T>): Unit<T>;
  /** Answers the ids of what was removed with the folder. */
  deleting(scope: FolderScope, call: Call, change: Unit<void>): Unit<string[]>;
}

export interface TreeDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly follower: FolderFollower;
}
