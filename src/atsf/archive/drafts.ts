import { lstat, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { HeddleError } from "../../base/index.js";
import { writing } from "../disk.js";
import { readEnvelope } from "../envelope.js";
import { isThere, syncDirectory, writeAtomic } from "../files.js";
import { ENVELOPE, isThreadId, threadsDir } from "../layout.js";
import type { Project } from "../project.js";
import { type DraftsPlace, makeDraftsPlace } from "./drafts-place.js";
import { shown } from "./entry-place.js";
import { tooLarge } from "./read-archive.js";

export interface ImportedThread {
  readonly threadId: string;
  readonly status: "imported" | "exists" | "invalid";
  /** Why it is invalid, for people. */
  readonly reason?: string;
}

/** Changes the text of an incoming `thread.json` before it is checked. */
export type Rewrite = (envelope: string) => string;

type State = "open" | "exists" | { readonly refused: string };

/** An envelope is read whole; nobody's is this large. */
const LARGEST_ENVELOPE = 16 * 1024 * 1024;

/**
 * Threads on their way into a project. They are written beside its threads under a name that nobody lists, and get their
 * own names only when all of them are there, flushed and checked: a crash or a refusal leaves no half of a thread.
 */
export class Drafts {
  readonly #root: string;
  readonly #maxDirectories: number;
  readonly #threads = new Map<string, State>();
  #place: DraftsPlace | undefined;
  #directories = 0;

  constructor(into: Project, maxDirectories = Number.POSITIVE_INFINITY) {
    this.#root = into.root;
    this.#maxDirectories = maxDirectories;
  }

  /** Whether files of this thread are wanted: not when its id is taken, or it was refused. */
  async wants(threadId: string): Promise<boolean> {
    const state = this.#threads.get(threadId) ?? (await this.#firstState(threadId));
    this.#threads.set(threadId, state);
    return state === "open";
  }

  async refuse(threadId: string, reason: string): Promise<void> {
    if (!(await this.wants(threadId))) return;
    this.#threads.set(threadId, { refused: reason });
    if (this.#place) await rm(join(this.#place.dir, threadId), { recursive: true, force: true });
  }

  /** Writes a file, durably. A path that is there already makes the thread invalid: which of the two counts is anyone's guess. */
  async write(threadId: string, path: string, body: AsyncIterable<Uint8Array>): Promise<void> {
    if (!(await this.wants(threadId))) return;
    const file = await this.#create(threadId, path);
    if (!file) return;
    const told = join(threadsDir(this.#root), threadId, path);
    try {
      for await (const chunk of body) await writing(told, () => file.writeFile(chunk));
      await writing(told, () => file.sync());
    } finally {
      await file.close();
    }
  }

  /** Where the files of a thread are being written; there is such a place once one of them is. */
  directoryOf(threadId: string): string {
    return join(this.#dir, threadId);
  }

  /** As if nothing had come so far. */
  async forget(): Promise<void> {
    for (const threadId of this.#threads.keys()) await this.refuse(threadId, "forgotten");
    this.#threads.clear();
  }

  /** Checks every thread, then puts those that are sound in their places. */
  async settle(rewrite?: Rewrite): Promise<ImportedThread[]> {
    for (const [threadId, state] of this.#threads) {
      if (state !== "open") continue;
      const problem = await this.#check(threadId, rewrite);
      if (problem === undefined) await syncTree(join(this.#dir, threadId));
      else await this.refuse(threadId, problem);
    }
    const results: ImportedThread[] = [];
    for (const [threadId, state] of this.#threads) {
      if (typeof state === "object") results.push({ threadId, status: "invalid", reason: state.refused });
      else results.push({ threadId, status: state === "open" ? await this.#enter(threadId) : "exists" });
    }
    if (results.some(({ status }) => status === "imported")) await syncDirectory(threadsDir(this.#root));
    return results;
  }

  /** Removes what did not get a place. */
  async close(): Promise<void> {
    await this.#place?.remove();
    this.#place = undefined;
  }

  get #dir(): string {
    return (this.#place as DraftsPlace).dir;
  }

  async #firstState(threadId: string): Promise<State> {
    if (!isThreadId(threadId)) return { refused: `${shown(threadId)} can't be a thread's id` };
    return (await isThere(join(threadsDir(this.#root), threadId))) ? "exists" : "open";
  }

  /** Undefined, and the thread refused, when no such file can be made. */
  async #create(threadId: string, path: string) {
    this.#place ??= await writing(threadsDir(this.#root), () => makeDraftsPlace(this.#root));
    const whole = join(this.#dir, threadId, ...path.split("/"));
    try {
      return await writing(whole, async () => {
        this.#count(await mkdir(dirname(whole), { recursive: true }), dirname(whole));
        return open(whole, "wx");
      });
    } catch (error) {
      const why = UNFIT[(error as NodeJS.ErrnoException).code ?? ""];
      if (why === undefined) throw error;
      await this.refuse(threadId, `${shown(path)} ${why}`);
      return undefined;
    }
  }

  /** A short archive can name a great many directories. */
  #count(first: string | undefined, last: string): void {
    if (first === undefined) return;
    this.#directories += last.slice(first.length).split(sep).length;
    if (this.#directories > this.#maxDirectories) throw tooLarge("entries", this.#maxDirectories);
  }

  async #check(threadId: string, rewrite: Rewrite | undefined): Promise<string | undefined> {
    const dir = this.#place && join(this.#dir, threadId);
    const file = dir && join(dir, ENVELOPE);
    const found = file && (await lstat(file).catch(() => undefined));
    if (!found) return "it has no thread.json";
    if (!found.isFile()) return "its thread.json is a directory";
    if (found.size > LARGEST_ENVELOPE) return "its thread.json is too large";
    try {
      const { text, readOnly } = await readEnvelope(dir);
      const next = rewrite?.(text) ?? text;
      if (next === text) return readOnly;
      await writeAtomic(file, next);
      return (await readEnvelope(dir)).readOnly;
    } catch (error) {
      if (!(error instanceof HeddleError) || !UNSOUND.has(error.kind)) throw error;
      return error.message.replaceAll(file, ENVELOPE);
    }
  }

  async #enter(threadId: string): Promise<"imported" | "exists"> {
    const place = join(threadsDir(this.#root), threadId);
    // An empty directory would be replaced by a rename, a full one not: neither may be.
    if (await isThere(place)) return "exists";
    try {
      await rename(join(this.#dir, threadId), place);
      return "imported";
    } catch (error) {
      if (await isThere(place)) return "exists";
      throw error;
    }
  }
}

/** Anything else that goes wrong with an envelope is the disk's fault, not the thread's. */
const UNSOUND = new Set(["atsf.invalid_file", "atsf.version_unsupported"]);

const UNFIT: Readonly<Record<string, string>> = {
  EEXIST: "stands in it twice",
  ENOTDIR: "has a file where a directory should be",
  ENAMETOOLONG: "is too long a name for this system",
  EINVAL: "can't be a file's name on this system",
  EILSEQ: "can't be a file's name on this system",
};

/** The files are flushed already; their names are when the directories are. */
async function syncTree(dir: string): Promise<void> {
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    if (entry.isDirectory()) await syncTree(join(dir, entry.name));
  }
  await syncDirectory(dir);
}
