import { removeUnmadeWorktree, type WorktreeToCreate } from "../atsf/index.js";
import type { ThreadsDeps } from "./deps.js";
import { WorktreeNotes } from "./worktree-notes.js";

const notes = new WorktreeNotes<WorktreeToCreate>(".making");

/** Notes that a worktree is being made for a thread that is not there yet. Answers what takes the note back. */
export function noteMaking(deps: ThreadsDeps, given: WorktreeToCreate): Promise<() => Promise<void>> {
  return notes.add(deps, given.threadId, given);
}

/** The notes that are there: when a gateway starts, of what the one before was killed over. */
export function unmadeWorktrees(deps: ThreadsDeps): Promise<string[]> {
  return notes.names(deps);
}

/**
 * Takes back worktrees without the thread they were made for. Where there was something, git may still be at work and make
 * it anew: those notes stay, and are answered, to be looked at again.
 */
export async function removeUnmadeWorktrees(deps: ThreadsDeps, names: readonly string[]): Promise<string[]> {
  const again: string[] = [];
  for (const name of names) {
    try {
      const given = await notes.read(deps, name);
      if (!given) continue;
      if (await removeUnmadeWorktree(given)) again.push(name);
      else await notes.remove(deps, name);
    } catch (error) {
      deps.report(error, "what was made for a thread that was never started is still there");
    }
  }
  return again;
}
