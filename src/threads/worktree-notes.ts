import { existsSync } from "node:fs";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { noteWorktree } from "../atsf/index.js";
import type { ThreadsDeps } from "./deps.js";

/** Notes of what is being done to worktrees, for the gateway that comes after one that was killed over it. */
export class WorktreeNotes<Note extends { readonly project: string }> {
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  /** Answers what takes the note back. */
  async add(deps: ThreadsDeps, thread_id: string, note: Note): Promise<() => Promise<void>> {
    const file = this.#file(deps, `${thread_id}.json`);
    await noteWorktree(file, note);
    return () => rm(file, { force: true });
  }

  names(deps: ThreadsDeps): Promise<string[]> {
    return readdir(this.#file(deps, "")).catch(() => []);
  }

  async remove(deps: ThreadsDeps, name: string): Promise<void> {
    await rm(this.#file(deps, name), { force: true });
  }

  /** Undefined, and gone: it was never written to its end, so that nothing had begun, or there is no such project any more. */
  async read(deps: ThreadsDeps, name: string): Promise<Note | undefined> {
    const text = await readFile(this.#file(deps, name), "utf8");
    const note = name.endsWith(".json") ? parsed<Note>(text) : undefined;
    if (note && existsSync(note.project)) return note;
    await this.remove(deps, name);
    return undefined;
  }

  #file(deps: ThreadsDeps, name: string): string {
    return join(deps.files.worktreesDir(this.#name), name);
  }
}

function parsed<T>(text: string): T | undefined {
  try {
    return JSON.parse(text) as T;
  } catch {
    return undefined;
  }
}
