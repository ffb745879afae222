import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { noteWorktree, removeUnmadeWorktree, type WorktreeToCreate } from "../atsf/index.js";
import type { ThreadsDeps } from "./deps.js";

/** Notes that a worktree is being made for a thread that is not there yet. Answers what takes the note back. */
export async function noteMaking(deps: ThreadsDeps, given: WorktreeToCreate): Promise<() => Promise<void>> {
  const note = join(notesDir(deps), `${given.threadId}.json`);
  await noteWorktree(note, given);
  return () => rm(note, { force: true });
}

/** The notes that are there: when a gateway starts, of what the one before was killed over. */
export async function unmadeWorktrees(deps: ThreadsDeps): Promise<string[]> {
  return readdir(notesDir(deps)).catch(() => []);
}

/**
 * Takes back worktrees without the thread they were made for. Where there was something, git may still be at work and make
 * it anew: those notes stay, and are answered, to be looked at again.
 */
export async function removeUnmadeWorktrees(deps: ThreadsDeps, notes: readonly string[]): Promise<string[]> {
  const again: string[] = [];
  for (const name of notes) {
    const note = join(notesDir(deps), name);
    try {
      const given = JSON.parse(await readFile(note, "utf8")) as WorktreeToCreate;
      if (await removeUnmadeWorktree(given)) again.push(name);
      else await rm(note, { force: true });
    } catch (error) {
      deps.report(error, "what was made for a thread that was never started is still there");
    }
  }
  return again;
}

function notesDir(deps: ThreadsDeps): string {
  return deps.files.worktreesDir(".making");
}
