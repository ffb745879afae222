import { basename, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isStoreFailure, threadFiles, type WorkspaceRow, workspaces } from "../../store/index.js";
import { workspaceNotFound } from "../../tree/index.js";
import type { ThreadsDeps } from "../deps.js";
import { rootThatCounts, threadsDirOf } from "./find.js";
import { refreshFolderNames } from "./folder-names-in-files.js";
import { reflectGone } from "./gone.js";
import { stampsOf } from "./look.js";
import { keepUnreadable, type Reconciled, type ReconcileOptions, reconcile } from "./reconcile.js";
import { reflect } from "./reflect.js";
import { isDirectory } from "./thread-files.js";
import { identityOf, Watchers } from "./watchers.js";

/** So many threads are watched, the latest ones; the others are looked at once a minute. */
const WATCHED = 1_000;
const MOST_PLACES = 10_000;
const LATE = "changes of some threads show up late";
const SETTLE_MS = 100;
/** Times what a look took. */
const REST = 20;
const REREAD_MS = 200;
/** When a store that took nothing is tried again. */
const AGAIN_MS = 2_000;
/** Among what is scheduled, where threads stand by their ids. */
const SWEEP = "";

/** One workspace as it is followed. */
export class FollowedWorkspace {
  readonly first: Promise<Reconciled>;
  ready = false;
  readonly #deps: ThreadsDeps;
  readonly #id: string;
  readonly #places: Watchers;
  /** Shared by all workspaces: a system has only so many watchers, and editors want some too. */
  readonly #threads: Watchers;
  readonly #scheduled = new Map<string, NodeJS.Timeout>();
  /** Threads whose change the store did not take. */
  readonly #owed = new Set<string>();
  #work: Promise<unknown> = Promise.resolve();
  /** Looks at the whole workspace that wait or are under way. */
  #looks = 0;
  readonly #began = performance.now();
  #restsUntil = 0;
  #closed = false;

  constructor(deps: ThreadsDeps, workspace_id: string, threads: Watchers) {
    this.#deps = deps;
    this.#id = workspace_id;
    this.#threads = threads;
    this.#places = new Watchers(MOST_PLACES, (error) => deps.report(error, LATE));
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

  /** Long enough for what looking takes there: where very many threads are, the gateway does other things most of the time. */
  get rested(): boolean {
    return performance.now() >= this.#restsUntil;
  }

  get lookedForMs(): number {
    return performance.now() - this.#began;
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
    this.#scheduled.clear();
    this.#places.clear();
  }

  watchThread(thread_id: string, root: string): void {
    if (this.#closed) return;
    const dir = join(threadsDirOf(root), thread_id);
    this.#threads.watch(this.#key(thread_id), dir, () => this.#schedule(thread_id, root));
  }

  /** Somebody looks at it, or it was just made: wherever its files are, they are followed from now on. */
  touch(thread_id: string): void {
    if (this.#closed || this.#threads.has(this.#key(thread_id))) return;
    const watchFound = async () => {
      const root = await this.#knownRoot(await this.#workspace(), thread_id);
      if (root === undefined) return;
      this.watchThread(thread_id, root);
      this.#watchPlace(root);
    };
    watchFound().catch(() => {});
  }

  #key(thread_id: string): string {
    return `${this.#id}/${thread_id}`;
  }

  async #reconcile(options: ReconcileOptions): Promise<Reconciled> {
    const began = performance.now();
    const workspace = await this.#workspace();
    // Watched first and read then: what changes in between is seen twice rather than not at all.
    const main = this.#deps.files.directoryOf(workspace);
    this.#watchPlace(main);
    const result = await reconcile(this.#deps, workspace, options);
    for (const place of result.places.slice(1)) this.#watchPlace(place);
    await this.#watchLatest(main);
    // Only once: another gateway on the same project may see other folders, and neither should undo the other for ever.
    if (!this.ready) await refreshFolderNames(this.#deps, workspace);
    await this.#deps.words.open(this.#id);
    this.#restsUntil = performance.now() + (performance.now() - began) * REST;
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
  #watchPlace(root: string): void {
    if (this.#closed) return;
    const there = [threadsDirOf(root), join(root, ".agent"), root].find(
      (dir) => identityOf(dir) !== undefined,
    );
    if (there === undefined) return;
    // Whoever moves `.agent` away takes along what is watched below it, and nobody is told of that there.
    for (const dir of new Set([there, root]))
      this.#places.watch(dir, dir, (name) => this.#placeChanged(root, dir, name));
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

  /** A program that writes a file several times in a row is looked at once. */
  #schedule(thread_id: string, root: string, afterMs = SETTLE_MS): void {
    const key = `${root} ${thread_id}`;
    if (this.#closed || this.#scheduled.has(key)) return;
    const timer = setTimeout(() => {
      this.#scheduled.delete(key);
      this.#work = Promise.all([this.#work, this.#check(thread_id, root)]).then(() => {});
    }, afterMs);
    this.#scheduled.set(key, timer.unref());
  }

  async #check(thread_id: string, root: string): Promise<void> {
    try {
      const dir = join(threadsDirOf(root), thread_id);
      // Half of our own change is no news; whoever has the turn looks for what others did by itself, and may yet fail to
      // have it written down. Files that are gone are.
      if (this.#deps.files.isTaken(this.#id, thread_id) && identityOf(dir) !== undefined)
        return this.#schedule(thread_id, root);
      if (this.#deps.files.wasRead(this.#id, thread_id, stampsOf(dir))) {
        // One that was just made here is watched from now on.
        this.watchThread(thread_id, root);
        return;
      }
      const workspace = await this.#workspace();
      await this.#deps.files.turn(this.#id, thread_id, () => this.#look(workspace, thread_id, root));
      this.#owed.delete(thread_id);
    } catch (error) {
      this.#failed(thread_id, root, error);
    }
  }

  /** Whatever the store did not take is brought to it again and again, and told of once: nobody else would before the next sweep. */
  #failed(thread_id: string, root: string, error: unknown): void {
    const again = isStoreFailure(error);
    if (!again || !this.#owed.has(thread_id))
      this.#deps.report(error, "a change of a thread's files could not be read");
    if (!again) return;
    this.#owed.add(thread_id);
    this.#schedule(thread_id, root, AGAIN_MS);
  }

  async #look(workspace: WorkspaceRow, thread_id: string, root: string): Promise<void> {
    const files = { workspace, thread_id, root };
    const dir = join(threadsDirOf(root), thread_id);
    if (!(await isDirectory(dir))) {
      // Back as it was, it is read all the same.
      this.#deps.files.remember(this.#id, thread_id, "");
      await reflectGone(this.#deps, workspace, thread_id);
      // What is watched no longer exists; the thread may stand elsewhere by now.
      this.#threads.forget(this.#key(thread_id), dir);
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
    } catch (error) {
      if (isStoreFailure(error)) throw error;
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
