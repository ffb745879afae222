import { isKind } from "../../base/index.js";
import type { Thread } from "../../protocol/index.js";
import { workspaces } from "../../store/index.js";
import type { ThreadsDeps } from "../deps.js";
import { FollowedWorkspace } from "./followed-workspace.js";
import type { Reconciled, ReconcileOptions } from "./reconcile.js";
import { Watchers } from "./watchers.js";

const SWEEP_MS = 60_000;
/** Of all workspaces together; each wants its latest ones. */
const WATCHED = 4_000;

export interface FollowOptions {
  /** How long a request waits until the files of its workspace have been looked at for the first time. */
  readonly firstLookMs: number;
}

/** Follows what other programs do to the files of the workspaces that are in use. */
export class Follower {
  readonly #deps: ThreadsDeps;
  readonly #options: FollowOptions;
  readonly #followed = new Map<string, FollowedWorkspace>();
  readonly #sweeping: NodeJS.Timeout;
  readonly #threads: Watchers;
  #closed = false;

  constructor(deps: ThreadsDeps, options: FollowOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#threads = new Watchers(WATCHED, (error) =>
      deps.report(error, "changes of some threads show up late"),
    );
    this.#sweeping = setInterval(() => void this.#sweep(), SWEEP_MS).unref();
  }

  /** Looks at a workspace's files before it is used for the first time; from then on it is followed. */
  async open(workspace_id: string): Promise<void> {
    if (this.#closed) return;
    const followed = this.#followed.get(workspace_id) ?? this.#start(workspace_id);
    if (followed.ready) return;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      // Counted from when it began: where looking takes long, only those who came first wait, and once.
      const left = this.#options.firstLookMs - followed.lookedForMs;
      if (Number.isFinite(left)) timer = setTimeout(resolve, Math.max(0, left));
    });
    await Promise.race([followed.first, late]).finally(() => clearTimeout(timer));
  }

  /** A thread somebody looks at is watched, however old it is. */
  touch(workspace_id: string, thread_id: string): void {
    this.#followed.get(workspace_id)?.touch(thread_id);
  }

  /**
   * A thread was made: its workspace is followed from now on. Whoever watches the project sees the thread by itself; a
   * new worktree is not known yet. Nobody waits for it.
   */
  began({ workspace_id, id, worktree }: Pick<Thread, "workspace_id" | "id" | "worktree">): void {
    if (!this.#followed.has(workspace_id)) this.open(workspace_id).catch(() => {});
    else if (worktree) this.touch(workspace_id, id);
  }

  /** Reads every file of a workspace again. */
  async reindex(workspace_id: string, onProgress: ReconcileOptions["onProgress"]): Promise<Reconciled> {
    const followed = this.#followed.get(workspace_id) ?? this.#start(workspace_id);
    await followed.first;
    return followed.reconcile({ force: true, ...(onProgress && { onProgress }) });
  }

  /** Its directory is another now, or it is gone: what was watched is let go of. */
  forget(workspace_id: string): void {
    this.#followed.get(workspace_id)?.close();
    this.#followed.delete(workspace_id);
  }

  /** Follows every workspace, one after the other, without hurry: what happened while nobody looked is found. */
  async openAll(): Promise<void> {
    const rows = await this.#deps.store.read(() => workspaces.listWorkspaces(ALL_WORKSPACES));
    for (const { id } of rows) await this.open(id).catch(() => {});
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#sweeping);
    const all = [...this.#followed.values()];
    for (const followed of all) followed.close();
    this.#threads.clear();
    this.#followed.clear();
    await Promise.all(all.map((followed) => followed.idle()));
  }

  #start(workspace_id: string): FollowedWorkspace {
    const followed = new FollowedWorkspace(this.#deps, workspace_id, this.#threads);
    this.#followed.set(workspace_id, followed);
    followed.first.catch((error) => {
      if (this.#followed.get(workspace_id) === followed) this.forget(workspace_id);
      if (!isKind(error, "workspace.not_found"))
        this.#deps.report(error, "a workspace's files could not be looked at");
    });
    return followed;
  }

  async #sweep(): Promise<void> {
    for (const followed of [...this.#followed.values()]) {
      if (!followed.busy && followed.rested) await followed.sweep();
    }
  }
}

const ALL_WORKSPACES = 10_000;
