import { existsSync } from "node:fs";
import { removeWorktree } from "../atsf/index.js";
import type { ThreadsDeps } from "./deps.js";
import { WorktreeNotes } from "./worktree-notes.js";

interface Removal {
  readonly project: string;
  readonly path: string;
  readonly branch: string;
}

const notes = new WorktreeNotes<Removal>(".removing");

/** Notes that a worktree is being removed, and its branch after it. Answers what takes the note back. */
export function noteRemoving(
  deps: ThreadsDeps,
  thread_id: string,
  removal: Removal,
): Promise<() => Promise<void>> {
  return notes.add(deps, thread_id, removal);
}

/**
 * Ends what a killed gateway had begun: the branch of a worktree that is gone goes too. While the worktree is there its
 * note stays, because git may still be at work on it; nothing that stands on the disk is touched here.
 */
export async function finishRemovals(deps: ThreadsDeps): Promise<void> {
  for (const name of await notes.names(deps)) {
    try {
      const removal = await notes.read(deps, name);
      if (!removal || existsSync(removal.path)) continue;
      await removeWorktree(removal);
      await notes.remove(deps, name);
    } catch (error) {
      deps.report(error, "the branch of a worktree that was removed may still be there");
    }
  }
}
