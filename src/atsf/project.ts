import { mkdir, mkdtemp, readdir, realpath, rename, rm, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { assertInside } from "./confined.js";
import { readEnvelope } from "./envelope.js";
import { atsfError } from "./errors.js";
import { isMissing, syncDirectory, writeAtomic } from "./files.js";
import { ensureGitignore } from "./gitignore.js";
import { ENVELOPE, isThreadId, threadDir, threadsDir } from "./layout.js";
import { type OnWaiting, ThreadLocks } from "./lock.js";
import type { ThreadEnvelope } from "./schemas.js";
import { emptyStats } from "./stats.js";
import { Thread } from "./thread.js";
import { SPEC_VERSION } from "./version.js";

export interface ProjectOptions {
  /** Told when a writer has waited two seconds for another program. */
  readonly onWaiting?: OnWaiting;
  readonly now?: () => number;
}

export interface NewThread {
  readonly threadId: string;
  readonly title: string;
  readonly agent: ThreadEnvelope["agent"];
  /** Where the agent works; default: the project's root. */
  readonly workingDir?: string;
  readonly context?: Partial<ThreadEnvelope["context"]>;
  readonly metadata?: Record<string, unknown>;
}

/** A thread as a list shows it: what its envelope says, or why that can't be read. */
export type ListedThread =
  | { readonly threadId: string; readonly dir: string; readonly envelope: ThreadEnvelope }
  | { readonly threadId: string; readonly dir: string; readonly error: unknown };

/** Opens the threads of a project directory (or of a worktree). Nothing is written until a thread is made. */
export async function openProject(root: string, options: ProjectOptions = {}): Promise<Project> {
  const real = await realpath(root).catch(() => root);
  const isDirectory = await stat(real).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isDirectory) {
    throw atsfError({ kind: "atsf.not_a_directory", dir: root }, `${root} is not a directory.`);
  }
  return new Project(real, options);
}

export class Project {
  readonly root: string;
  readonly #now: () => number;
  readonly #locks: ThreadLocks;
  readonly #threads = new Map<string, Thread>();

  constructor(root: string, { onWaiting, now = Date.now }: ProjectOptions) {
    this.root = root;
    this.#now = now;
    this.#locks = new ThreadLocks(onWaiting);
  }

  /** Every thread, those that can't be read with the reason. In no particular order. */
  async list(): Promise<ListedThread[]> {
    const names = await readdir(threadsDir(this.root), { withFileTypes: true }).catch((error) => {
      if (isMissing(error)) return [];
      throw error;
    });
    const ids = names
      .filter((entry) => isThreadId(entry.name) && !entry.name.startsWith("."))
      .map(({ name }) => name);
    return Promise.all(ids.map((threadId) => this.#listed(threadId)));
  }

  /** A thread that is there. */
  async thread(threadId: string): Promise<Thread> {
    const known = this.#threads.get(threadId);
    if (known) return known;
    const dir = threadDir(this.root, threadId);
    const there = await stat(dir).then(
      (found) => found.isDirectory(),
      () => false,
    );
    if (!there) {
      throw atsfError(
        { kind: "atsf.thread_not_found", thread_id: threadId },
        `There is no thread ${threadId}.`,
      );
    }
    await assertInside(this.root, dir);
    return this.#remember(threadId, dir);
  }

  /** Makes a thread. Its directory appears whole, or not at all. */
  async create(given: NewThread): Promise<Thread> {
    const dir = threadDir(this.root, given.threadId);
    await mkdir(threadsDir(this.root), { recursive: true });
    await assertInside(this.root, threadsDir(this.root));
    await ensureGitignore(this.root);
    if (
      await stat(dir).then(
        () => true,
        () => false,
      )
    )
      throw exists(given.threadId);
    const draft = await mkdtemp(join(threadsDir(this.root), ".new-"));
    try {
      await writeAtomic(join(draft, ENVELOPE), `${JSON.stringify(this.#envelope(given), null, 2)}\n`);
      await rename(draft, dir);
    } catch (error) {
      await rm(draft, { recursive: true, force: true });
      const { code } = error as NodeJS.ErrnoException;
      throw code === "ENOTEMPTY" || code === "EEXIST" ? exists(given.threadId) : error;
    }
    await syncDirectory(threadsDir(this.root));
    return this.#remember(given.threadId, dir);
  }

  /** Takes a thread's directory out of the project, to a place on the same disk or, without one, for good. */
  async remove(threadId: string, to?: string): Promise<void> {
    const thread = await this.thread(threadId);
    await thread.close();
    await this.#locks.run(thread.dir, async () => {
      if (to === undefined) await rm(thread.dir, { recursive: true });
      else await rename(thread.dir, to);
    });
    this.#locks.forget(thread.dir);
    this.#threads.delete(threadId);
    await syncDirectory(threadsDir(this.root));
  }

  /** Runs work on a thread's directory while nobody else writes to it. */
  locked<T>(dir: string, work: () => Promise<T>): Promise<T> {
    return this.#locks.run(dir, work);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#threads.values()].map((thread) => thread.close()));
    this.#threads.clear();
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

  #envelope({
    threadId,
    title,
    agent,
    workingDir = this.root,
    context,
    metadata,
  }: NewThread): ThreadEnvelope {
    const now = new Date(this.#now()).toISOString();
    return {
      specVersion: SPEC_VERSION,
      threadId,
      title,
      createdAt: now,
      updatedAt: now,
      agent,
      context: { workingDir, relativeDir: relative(this.root, workingDir) || ".", ...context },
      stats: emptyStats(),
      metadata: metadata ?? {},
    };
  }

  #remember(threadId: string, dir: string): Thread {
    const thread = new Thread(threadId, dir, { locks: this.#locks, now: this.#now });
    this.#threads.set(threadId, thread);
    return thread;
  }
}

function exists(thread_id: string) {
  return atsfError({ kind: "atsf.thread_exists", thread_id }, `There is a thread ${thread_id} already.`);
}
