import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { openProject, type Project, type Thread } from "../../atsf/index.js";
import { type Clock, isKind, Lru, Turns } from "../../base/index.js";
import type { WorkspaceRow } from "../../store/index.js";
import { threadsError } from "../errors.js";

export interface ThreadFilesOptions {
  readonly dataDir: string;
  readonly clock: Clock;
  /** Told when another program has kept a thread locked for two seconds. */
  readonly onWaiting?: (dir: string) => void;
}

const SEEN = 10_000;
/** Each holds files and locks open; one that is let go of while it is used opens them again. */
const OPEN_PROJECTS = 128;

/** The directories threads stand in, each opened once, and whose turn it is to write to which thread. */
export class ThreadFiles {
  readonly #options: ThreadFilesOptions;
  readonly #projects = new Lru<string, Promise<Project>>(OPEN_PROJECTS, (opening) => this.#letGo(opening));
  readonly #closing = new Set<Promise<void>>();
  readonly #turns = new Turns();
  readonly #seen = new Lru<string, string>(SEEN);

  constructor(options: ThreadFilesOptions) {
    this.#options = options;
  }

  /** The workspace's own directory, or one under the data directory: one way of storing threads, not two. */
  directoryOf({ id, root_path }: Pick<WorkspaceRow, "id" | "root_path">): string {
    return root_path ?? join(this.#options.dataDir, "workspaces", id);
  }

  /** Where worktrees of a workspace are made. */
  worktreesDir(name: string): string {
    return join(this.#options.dataDir, "worktrees", name);
  }

  trashOf(workspace_id: string): string {
    return join(this.#options.dataDir, "trash", workspace_id);
  }

  /** Makes the directory of a workspace that has no project; a project's own must be there. */
  async ensureDirectory(workspace: Pick<WorkspaceRow, "id" | "root_path">): Promise<string> {
    const root = this.directoryOf(workspace);
    if (workspace.root_path === null) mkdirSync(root, { recursive: true, mode: 0o700 });
    else if (!(await isDirectory(root))) {
      throw threadsError(
        { kind: "workspace.directory_missing", workspace_id: workspace.id, path: root },
        `The directory of this workspace is not there: ${root}. Bring it back, or bind the workspace to where it is now: \`heddle workspaces bind ${workspace.id} DIR\`.`,
      );
    }
    return root;
  }

  async project(root: string): Promise<Project> {
    const known = this.#projects.get(root);
    if (known) return known;
    const { onWaiting, clock } = this.#options;
    const opening = openProject(root, { now: () => clock.now(), ...(onWaiting && { onWaiting }) });
    this.#projects.set(root, opening);
    opening.catch(() => this.#projects.delete(root));
    return opening;
  }

  pathOf(root: string, thread_id: string): string {
    return join(root, ".agent", "threads", thread_id);
  }

  /** The files of a thread the index knows. */
  async thread(root: string, thread_id: string): Promise<Thread> {
    try {
      return await (await this.project(root)).thread(thread_id);
    } catch (error) {
      if (!tellsGone(error, root)) throw error;
      const path = this.pathOf(root, thread_id);
      throw threadsError(
        { kind: "thread.files_missing", thread_id, path },
        `The files of this thread are gone: ${path}. Bring them back from a backup, or delete the thread.`,
      );
    }
  }

  /** One at a time per thread: what is read, written and then told of belongs together. */
  turn<T>(workspace_id: string, thread_id: string, work: () => Promise<T>): Promise<T> {
    return this.#turns.run(`${workspace_id}/${thread_id}`, work);
  }

  /** Somebody here is at work on a thread's files: what changes in them is most likely theirs. */
  isTaken(workspace_id: string, thread_id: string): boolean {
    return this.#turns.taken(`${workspace_id}/${thread_id}`);
  }

  /** A turn for several threads at once. */
  turns<T>(workspace_id: string, thread_ids: readonly string[], work: () => Promise<T>): Promise<T> {
    return this.#turns.run(
      thread_ids.map((thread_id) => `${workspace_id}/${thread_id}`),
      work,
    );
  }

  /** Keeps in mind in which state a thread's files were read, so that our own writes are not taken for another's. */
  remember(workspace_id: string, thread_id: string, stamps: string): void {
    this.#seen.set(`${workspace_id}/${thread_id}`, stamps);
  }

  wasRead(workspace_id: string, thread_id: string, stamps: string): boolean {
    return this.#seen.get(`${workspace_id}/${thread_id}`) === stamps;
  }

  /** Whether that state of `thread.json` was read: the index says what it says, though it may name an older one. */
  envelopeWasRead(workspace_id: string, thread_id: string, stamp: string): boolean {
    return this.#seen.get(`${workspace_id}/${thread_id}`)?.startsWith(`${stamp} `) ?? false;
  }

  /** Lets go of a directory that is about to move or go. */
  async forget(root: string): Promise<void> {
    this.#projects.delete(root);
    await Promise.all(this.#closing);
  }

  async close(): Promise<void> {
    this.#projects.clear();
    await Promise.all(this.#closing);
  }

  #letGo(opening: Promise<Project>): void {
    const closing: Promise<void> = opening
      .then((project) => project.close())
      .catch(() => {})
      .finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }
}

/** That a thread's files, or the whole directory above `.agent`, are not there. What can't be read may be. */
export function tellsGone(error: unknown, root: string): boolean {
  if (isKind(error, "atsf.not_a_directory")) return error.data.dir === root;
  return isKind(error, "atsf.thread_not_found");
}

/** Nobody can tell what stands under a path: a directory above it can't be read, or is something else. */
export function isOutOfSight(path: string): boolean {
  try {
    statSync(path);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ENOENT";
  }
}

export async function isDirectory(path: string): Promise<boolean> {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch (error) {
    if (["EACCES", "ENOTDIR", "ELOOP"].includes((error as NodeJS.ErrnoException).code ?? "")) return false;
    throw error;
  }
}
