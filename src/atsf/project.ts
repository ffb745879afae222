import { mkdirSync, renameSync, statSync } from "node:fs";
import { readdir, realpath, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { Lru } from "../base/index.js";
import { assertInside } from "./confined.js";
import { reading, writing } from "./disk.js";
import { readEnvelope } from "./envelope.js";
import { atsfError } from "./errors.js";
import { isMissing, isThere, makeDirectory, notADirectory, syncDirectory, writeNew } from "./files.js";
import { ensureGitignore, hideFromGit } from "./gitignore.js";
import { agentDir, ENVELOPE, isThreadId, threadDir, threadNotFound, threadsDir } from "./layout.js";
import { draftIn, letGo, removedName, sweep } from "./left-over.js";
import { type OnWaiting, ThreadLocks } from "./lock.js";
import { type NewThread, newEnvelope } from "./new-envelope.js";
import type { ThreadEnvelope } from "./schemas.js";
import { Thread } from "./thread.js";

export interface ProjectOptions {
  /** Told when a writer has waited two seconds for another program. */
  readonly onWaiting?: OnWaiting;
  readonly now?: () => number;
}

/** A thread as a list shows it: what its envelope says, or why that can't be read. */
export type ListedThread =
  | { readonly threadId: string; readonly dir: string; readonly envelope: ThreadEnvelope }
  | { readonly threadId: string; readonly dir: string; readonly error: unknown };

/** Each may hold a file open and remembers what it read. */
const OPEN_THREADS = 128;
/** More at once would run into a system's limit of open files. */
const LISTED_AT_ONCE = 64;
const SWEEP_EVERY_MS = 60_000;

/** Opens the threads of a project directory (or of a worktree). Nothing is written until a thread is made. */
export async function openProject(root: string, options: ProjectOptions = {}): Promise<Project> {
  const real = await realpath(root).catch(() => root);
  if (!(await isDirectory(real))) throw notADirectory(root);
  return new Project(real, options);
}

export class Project {
  readonly root: string;
  readonly #now: () => number;
  readonly #locks: ThreadLocks;
  readonly #threads = new Lru<string, Thread>(OPEN_THREADS, (thread) => this.#retire(thread));
  readonly #retiring = new Set<Promise<void>>();
  #sweptAt = Number.NEGATIVE_INFINITY;

  constructor(root: string, { onWaiting, now = Date.now }: ProjectOptions) {
    this.root = root;
    this.#now = now;
    this.#locks = new ThreadLocks(onWaiting);
  }

  /** Every thread, those that can't be read with the reason. In no particular order. */
  async list(): Promise<ListedThread[]> {
    const ids = (await threadNames(this.root)).filter((name) => isThreadId(name) && !name.startsWith("."));
    const listed: ListedThread[] = [];
    for (let at = 0; at < ids.length; at += LISTED_AT_ONCE) {
      const some = ids.slice(at, at + LISTED_AT_ONCE);
      listed.push(...(await Promise.all(some.map((threadId) => this.#listed(threadId)))));
    }
    return listed;
  }

  /** A thread that is there. */
  async thread(threadId: string): Promise<Thread> {
    const dir = threadDir(this.root, threadId);
    if (!(await isDirectory(dir, threadsDir(this.root)))) throw threadNotFound(threadId);
    const known = this.#threads.get(threadId);
    if (known) return known;
    await assertInside(this.root, dir);
    return this.#threads.get(threadId) ?? this.#remember(threadId, dir);
  }

  /** Makes a thread. Its directory appears whole, or not at all. */
  async create(given: NewThread): Promise<Thread> {
    const dir = threadDir(this.root, given.threadId);
    const envelope = newEnvelope(this.root, this.#now(), given);
    await writing(threadsDir(this.root), async () => {
      await this.#prepare();
      if (await isThere(dir)) throw exists(given.threadId);
      await this.#putNew(dir, envelope);
    });
    this.#threads.delete(given.threadId);
    return this.#remember(given.threadId, dir);
  }

  /** Takes a thread's directory out of the project, to a place on the same disk or, without one, for good. */
  async remove(threadId: string, to?: string): Promise<void> {
    const thread = await this.thread(threadId);
    await thread.close();
    const gone = join(threadsDir(this.root), removedName(threadId));
    await this.#locks.run(thread.dir, () =>
      // Half a thread is worse than a thread: it leaves its name before its files go.
      writing(thread.dir, () => rename(thread.dir, to ?? gone)),
    );
    this.forget(threadId);
    await syncDirectory(threadsDir(this.root));
    if (to === undefined) await writing(gone, () => rm(gone, { recursive: true, force: true }));
  }

  /** Lets go of a thread whose directory was moved by other means. */
  forget(threadId: string): void {
    this.#locks.forget(threadDir(this.root, threadId));
    this.#threads.delete(threadId);
  }

  /** Runs work on a thread's directory while nobody else writes to it. */
  locked<T>(dir: string, work: () => Promise<T>): Promise<T> {
    return this.#locks.run(dir, work);
  }

  /** Writes what is still to be written and lets go of every file. */
  async close(): Promise<void> {
    this.#threads.clear();
    await Promise.all(this.#retiring);
    this.#locks.close();
  }

  async #listed(threadId: string): Promise<ListedThread> {
    const dir = join(threadsDir(this.root), threadId);
    try {
      await assertInside(this.root, dir);
      return { threadId, dir, envelope: (await readEnvelope(dir)).envelope };
    } catch (error) {
      return { threadId, dir, error };
    }
  }

  async #prepare(): Promise<void> {
    const dir = threadsDir(this.root);
    // Looked at before anything is made: a link would have it made elsewhere.
    await assertInside(this.root, agentDir(this.root));
    await makeDirectory(dir);
    await assertInside(this.root, dir);
    await ensureGitignore(this.root);
    if (Date.now() - this.#sweptAt < SWEEP_EVERY_MS) return;
    this.#sweptAt = Date.now();
    await sweep(dir, this.#sweptAt);
    await sweep(agentDir(this.root), this.#sweptAt);
  }

  async #putNew(dir: string, envelope: ThreadEnvelope): Promise<void> {
    const draft = draftIn(threadsDir(this.root));
    try {
      mkdirSync(draft, { mode: 0o700 });
      await hideFromGit(draft);
      const written = writeNew(join(draft, ENVELOPE), `${JSON.stringify(envelope, null, 2)}\n`);
      // The name is there at once: file and name are flushed side by side, and both before anyone sees them.
      await Promise.all([written, syncDirectory(draft)]);
      renameSync(draft, dir);
    } catch (error) {
      await rm(draft, { recursive: true, force: true });
      const { code } = error as NodeJS.ErrnoException;
      throw code === "ENOTEMPTY" || code === "EEXIST" ? exists(envelope.threadId) : error;
    } finally {
      letGo(draft);
    }
    await syncDirectory(threadsDir(this.root));
  }

  #remember(threadId: string, dir: string): Thread {
    const thread = new Thread(threadId, dir, {
      locks: this.#locks,
      now: this.#now,
      onUse: (used) => this.#use(used),
    });
    this.#threads.set(threadId, thread);
    return thread;
  }

  /** A thread that somebody kept while it was closed opens its files again: it counts as open again. */
  #use(thread: Thread): void {
    if (this.#threads.get(thread.id) !== thread) this.#threads.set(thread.id, thread);
  }

  #retire(thread: Thread): void {
    const done = thread.close().finally(() => this.#retiring.delete(done));
    this.#retiring.add(done);
  }
}

/** What stands among a project's threads. A directory that is not there has none; one that can't be read may have any. */
export async function threadNames(root: string): Promise<string[]> {
  const dir = threadsDir(root);
  return reading(dir, () =>
    readdir(dir).catch((error) => {
      if (error.code === "ENOENT") return [];
      throw error.code === "ENOTDIR" || error.code === "ELOOP" ? notADirectory(dir) : error;
    }),
  );
}

/** Something else in place of the directory `among` is no word on what would stand in it. */
async function isDirectory(dir: string, among?: string): Promise<boolean> {
  return reading(dir, async () => {
    try {
      return statSync(dir).isDirectory();
    } catch (error) {
      if (!isMissing(error)) throw error;
      if (among !== undefined && (error as NodeJS.ErrnoException).code === "ENOTDIR")
        throw notADirectory(among);
      return false;
    }
  });
}

function exists(thread_id: string) {
  return atsfError({ kind: "atsf.thread_exists", thread_id }, `There is a thread ${thread_id} already.`);
}
