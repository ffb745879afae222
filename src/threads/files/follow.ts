import { type FSWatcher, watch } from "node:fs";
import { join } from "node:path";
import { isKind, Lru } from "../../base/index.js";
import { threadFiles, type WorkspaceRow, workspaces } from "../../store/index.js";
import { workspaceNotFound } from "../../tree/index.js";
import type { ThreadsDeps } from "../deps.js";
import { threadsDirOf } from "./find.js";
import { refreshFolderNames } from "./folder-names-in-files.js";
import { reflectGone } from "./gone.js";
import { stampsOf } from "./look.js";
import { keepUnreadable, type Reconciled, type ReconcileOptions, reconcile } from "./reconcile.js";
import { reflect } from "./reflect.js";
import { isDirectory } from "./thread-files.js";

/** So many threads are watched, the latest ones; the others are looked at once a minute. */
const WATCHED = 1_000;
const SWEEP_MS = 60_000;
const SETTLE_MS = 100;

export interface FollowOptions {
  /** How long a request waits until the files of its workspace have been looked at for the first time. */
  readonly firstLookMs: number;
}

/** Follows what other programs do to the files of the workspaces that are in use. */
export class Follower {
  readonly #deps: ThreadsDeps;
  readonly #options: FollowOptions;
  readonly #followed = new Map<string, Followed>();
  readonly #sweeping: NodeJS.Timeout;

  constructor(deps: ThreadsDeps, options: FollowOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#sweeping = setInterval(() => void this.#sweep(), SWEEP_MS).unref();
  }

  /** Looks at a workspace's files before it is used for the first time; from then on it is followed. */
  async open(workspace_id: string): Promise<void> {
    const followed = this.#followed.get(workspace_id) ?? this.#start(workspace_id);
    if (followed.ready) return;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      const { firstLookMs } = this.#options;
      if (Number.isFinite(firstLookMs)) timer = setTimeout(resolve, firstLookMs);
    });
    await Promise.race([followed.first, late]).finally(() => clearTimeout(timer));
  }

  /** A thread somebody looks at is watched, however old it is. */
  touch(workspace_id: string, thread_id: string, root: string): void {
    this.#followed.get(workspace_id)?.watchThread(thread_id, root);
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
    clearInterval(this.#sweeping);
    const all = [...this.#followed.values()];
    for (const followed of all) followed.close();
    this.#followed.clear();
    await Promise.all(all.map((followed) => followed.idle()));
  }

  #start(workspace_id: string): Followed {
    const followed = new Followed(this.#deps, workspace_id);
    this.#followed.set(workspace_id, followed);
    followed.first.catch((error) => {
      if (this.#followed.get(workspace_id) === followed) this.forget(workspace_id);
      if (!isKind(error, "workspace.not_found"))
        this.#deps.report(error, "a workspace's files could not be looked at");
    });
    return followed;
  }

  async #sweep(): Promise<void> {
    for (const followed of [...this.#followed.values()]) await followed.sweep();
  }
}

const ALL_WORKSPACES = 10_000;

/** One workspace as it is followed. */
class Followed {
  readonly first: Promise<Reconciled>;
  ready = false;
  readonly #deps: ThreadsDeps;
  readonly #id: string;
  readonly #places = new Map<string, FSWatcher>();
  readonly #threads = new Lru<string, FSWatcher>(WATCHED, (watcher) => watcher.close());
  readonly #scheduled = new Map<string, NodeJS.Timeout>();
  #work: Promise<unknown> = Promise.resolve();
  #told = false;
  #closed = false;

  constructor(deps: ThreadsDeps, workspace_id: string) {
    this.#deps = deps;
    this.#id = workspace_id;
    this.first = this.reconcile({});
    this.first.then(
      () => {
        this.ready = true;
      },
      () => {},
    );
  }

  /** One after the other: two that read the same files would only get in each other's way. */
  reconcile(options: ReconcileOptions): Promise<Reconciled> {
    const mine = this.#work.then(() => this.#reconcile(options));
    this.#work = mine.catch(() => {});
    return mine;
  }

  async sweep(): Promise<void> {
    if (this.#closed) return;
    await this.reconcile({}).catch((error) =>
      this.#deps.report(error, "a workspace's files could not be looked at"),
    );
  }

  async idle(): Promise<void> {
    await this.#work;
  }

  close(): void {
    this.#closed = true;
    for (const timer of this.#scheduled.values()) clearTimeout(timer);
    for (const watcher of this.#places.values()) watcher.close();
    this.#scheduled.clear();
    this.#places.clear();
    this.#threads.clear();
  }

  watchThread(thread_id: string, root: string): void {
    if (this.#closed || this.#threads.get(thread_id)) return;
    const dir = join(threadsDirOf(root), thread_id);
    const watcher = this.#watch(dir, () => this.#schedule(thread_id, root));
    if (watcher) this.#threads.set(thread_id, watcher);
  }

  async #reconcile(options: ReconcileOptions): Promise<Reconciled> {
    const workspace = await this.#workspace();
    // Watched first and read then: what changes in between is seen twice rather than not at all.
    const main = this.#deps.files.directoryOf(workspace);
    await this.#watchPlace(main);
    const result = await reconcile(this.#deps, workspace, options);
    for (const place of result.places.slice(1)) await this.#watchPlace(place);
    await this.#watchLatest(main);
    await refreshFolderNames(this.#deps, workspace);
    await this.#deps.words.open(this.#id);
    return result;
  }

  async #workspace(): Promise<WorkspaceRow> {
    const workspace = await this.#deps.store.read(() => workspaces.findWorkspace(this.#id));
    if (!workspace) throw workspaceNotFound(this.#id);
    return workspace;
  }

  async #watchLatest(main: string): Promise<void> {
    const latest = await this.#deps.store.read(() => threadFiles.latestThreads(this.#id, WATCHED));
    for (const { id, file_root } of latest.reverse()) this.watchThread(id, file_root ?? main);
  }

  /** Watches where threads come and go. Before there is any, the nearest directory above says when there will be. */
  async #watchPlace(root: string): Promise<void> {
    for (const dir of [threadsDirOf(root), join(root, ".agent"), root]) {
      if (!(await isDirectory(dir))) continue;
      if (this.#closed || this.#places.has(dir)) return;
      const inside = dir === threadsDirOf(root);
      const watcher = this.#watch(dir, (name) => {
        if (inside && name && !name.startsWith(".")) this.#schedule(name, root);
        if (!inside && (name === ".agent" || name === "threads")) void this.sweep();
      });
      if (watcher) this.#places.set(dir, watcher);
      return;
    }
  }

  /** Without a watcher (the system has no more, say) the sweep finds what changed, within a minute. */
  #watch(dir: string, onChange: (name: string | null) => void): FSWatcher | undefined {
    try {
      const watcher = watch(dir, { persistent: false }, (_event, name) => onChange(name));
      watcher.on("error", () => watcher.close());
      return watcher;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (!this.#told && code !== "ENOENT") this.#deps.report(error, "changes of some threads show up late");
      this.#told ||= code !== "ENOENT";
      return undefined;
    }
  }

  /** A program that writes a file several times in a row is looked at once. */
  #schedule(thread_id: string, root: string): void {
    if (this.#closed || this.#scheduled.has(thread_id)) return;
    const timer = setTimeout(() => {
      this.#scheduled.delete(thread_id);
      this.#work = Promise.all([this.#work, this.#check(thread_id, root)]);
    }, SETTLE_MS);
    this.#scheduled.set(thread_id, timer.unref());
  }

  async #check(thread_id: string, root: string): Promise<void> {
    try {
      const dir = join(threadsDirOf(root), thread_id);
      if (this.#deps.files.wasRead(this.#id, thread_id, stampsOf(dir))) return;
      const workspace = await this.#workspace();
      await this.#deps.files.turn(this.#id, thread_id, () => this.#look(workspace, thread_id, root));
    } catch (error) {
      this.#deps.report(error, "a change of a thread's files could not be read");
    }
  }

  async #look(workspace: WorkspaceRow, thread_id: string, root: string): Promise<void> {
    const files = { workspace, thread_id, root };
    if (!(await isDirectory(join(threadsDirOf(root), thread_id)))) {
      await reflectGone(this.#deps, workspace, thread_id);
      return;
    }
    this.watchThread(thread_id, root);
    await reflect(this.#deps, files).catch((error) => keepUnreadable(this.#deps, files, error));
  }
}
