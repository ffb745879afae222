import { type FSWatcher, watch } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Lru } from "../../base/index.js";
import { threadFiles, type WorkspaceRow, workspaces } from "../../store/index.js";
import { workspaceNotFound } from "../../tree/index.js";
import type { ThreadsDeps } from "../deps.js";
import { rootThatCounts, threadsDirOf } from "./find.js";
import { refreshFolderNames } from "./folder-names-in-files.js";
import { reflectGone } from "./gone.js";
import { stampsOf } from "./look.js";
import { keepUnreadable, type Reconciled, type ReconcileOptions, reconcile } from "./reconcile.js";
import { reflect } from "./reflect.js";
import { isDirectory } from "./thread-files.js";

/** So many threads are watched, the latest ones; the others are looked at once a minute. */
const WATCHED = 1_000;
const SETTLE_MS = 100;
const REREAD_MS = 200;
/** Among what is scheduled, where threads stand by their ids. */
const SWEEP = "";

/** One workspace as it is followed. */
export class FollowedWorkspace {
  readonly first: Promise<Reconciled>;
  ready = false;
  readonly #deps: ThreadsDeps;
  readonly #id: string;
  readonly #places = new Map<string, WatchedPlace>();
  readonly #threads = new Lru<string, WatchedThread>(WATCHED, ({ watcher }) => watcher.close());
  readonly #scheduled = new Map<string, NodeJS.Timeout>();
  #work: Promise<unknown> = Promise.resolve();
  /** Looks at the whole workspace that wait or are under way. */
  #looks = 0;
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
    this.#looks++;
    const mine = this.#work.then(() => this.#reconcile(options)).finally(() => this.#looks--);
    this.#work = mine.catch(() => {});
    return mine;
  }

  get busy(): boolean {
    return this.#looks > 0;
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
    for (const { watcher } of this.#places.values()) watcher.close();
    this.#scheduled.clear();
    this.#places.clear();
    this.#threads.clear();
  }

  watchThread(thread_id: string, root: string): void {
    const dir = join(threadsDirOf(root), thread_id);
    if (this.#closed || this.#threads.get(thread_id)?.dir === dir) return;
    const watcher = this.#watch(dir, () => this.#schedule(thread_id, root));
    if (watcher) this.#threads.set(thread_id, { dir, watcher });
  }

  /** Somebody looks at it. */
  touch(thread_id: string): void {
    if (this.#closed || this.#threads.get(thread_id)) return;
    const watchFound = async () => {
      const root = await this.#knownRoot(await this.#workspace(), thread_id);
      if (root !== undefined) this.watchThread(thread_id, root);
    };
    watchFound().catch(() => {});
  }

  async #reconcile(options: ReconcileOptions): Promise<Reconciled> {
    const workspace = await this.#workspace();
    // Watched first and read then: what changes in between is seen twice rather than not at all.
    const main = this.#deps.files.directoryOf(workspace);
    // What is not there can't be watched; one without a project gets its directory anyway.
    if (workspace.root_path === null) await this.#deps.files.ensureDirectory(workspace);
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
      const identity = await identityOf(dir);
      if (identity === undefined) continue;
      const known = this.#places.get(dir);
      // A directory that was made anew under its name is another one: the old watcher hears nothing of it.
      if (this.#closed || known?.identity === identity) return;
      known?.watcher.close();
      this.#places.delete(dir);
      const watcher = this.#watch(dir, (name) => this.#placeChanged(root, dir, name));
      if (watcher) this.#places.set(dir, { watcher, identity });
      return;
    }
  }

  #placeChanged(root: string, dir: string, name: string | null): void {
    const inside = dir === threadsDirOf(root);
    if (inside && name && !name.startsWith(".")) this.#schedule(name, root);
    const itself = name === basename(dir) || name === null;
    if (itself || (!inside && (name === ".agent" || name === "threads"))) this.#scheduleSweep();
  }

  #scheduleSweep(): void {
    if (this.#closed || this.#scheduled.has(SWEEP)) return;
    const timer = setTimeout(() => {
      this.#scheduled.delete(SWEEP);
      void this.sweep();
    }, SETTLE_MS);
    this.#scheduled.set(SWEEP, timer.unref());
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
      if (this.#deps.files.wasRead(this.#id, thread_id, stampsOf(dir))) {
        // One that was just made here is watched from now on.
        this.watchThread(thread_id, root);
        return;
      }
      const workspace = await this.#workspace();
      await this.#deps.files.turn(this.#id, thread_id, () => this.#look(workspace, thread_id, root));
    } catch (error) {
      this.#deps.report(error, "a change of a thread's files could not be read");
    }
  }

  async #look(workspace: WorkspaceRow, thread_id: string, root: string): Promise<void> {
    const files = { workspace, thread_id, root };
    const dir = join(threadsDirOf(root), thread_id);
    if (!(await isDirectory(dir))) {
      // Back as it was, it is read all the same.
      this.#deps.files.remember(this.#id, thread_id, "");
      await reflectGone(this.#deps, workspace, thread_id);
      // What is watched no longer exists; the thread may stand elsewhere by now.
      if (this.#threads.get(thread_id)?.dir === dir) this.#threads.delete(thread_id);
      const now = await this.#knownRoot(workspace, thread_id);
      if (now !== undefined && now !== root) this.watchThread(thread_id, now);
      return;
    }
    const main = this.#deps.files.directoryOf(workspace);
    const known = await this.#knownRoot(workspace, thread_id);
    const counts = { thread_id, main, seen: root, ...(known !== undefined && { known }) };
    if ((await rootThatCounts(this.#deps, counts)) !== root) return;
    this.watchThread(thread_id, root);
    try {
      await reflect(this.#deps, files);
    } catch {
      // Perhaps it is being written at this moment.
      await delay(REREAD_MS);
      await reflect(this.#deps, files).catch((error) => keepUnreadable(this.#deps, files, error));
    }
  }

  async #knownRoot(workspace: WorkspaceRow, thread_id: string): Promise<string | undefined> {
    const row = await this.#deps.store.read(() => threadFiles.findIndexed(workspace.id, thread_id));
    if (!row || row.deleted_at !== null) return undefined;
    return row.file_root ?? this.#deps.files.directoryOf(workspace);
  }
}

interface WatchedPlace {
  readonly watcher: FSWatcher;
  readonly identity: string;
}

/** A number alone does not tell: systems give that of a deleted directory to the next one. */
async function identityOf(dir: string): Promise<string | undefined> {
  return stat(dir).then(
    (found) => (found.isDirectory() ? `${found.ino}:${found.birthtimeMs}` : undefined),
    () => undefined,
  );
}

interface WatchedThread {
  readonly dir: string;
  readonly watcher: FSWatcher;
}
