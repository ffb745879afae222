import { createWorktree, openProject } from "../../src/atsf/index.js";
import { freshRepository, repositoryAt } from "./repository.js";
import { newThread, textMessage } from "./support.js";

export const THREAD = "thr_01J9ABCDEFGH";

/** A repository with a worktree that holds a thread of one message. */
export async function withWorktree() {
  const repository = freshRepository();
  const { dir, worktrees } = repository;
  const made = await createWorktree({ project: dir, directory: worktrees, threadId: THREAD });
  const place = await openProject(made.path);
  const thread = await place.create(newThread(THREAD));
  await thread.append(textMessage("a"));
  await thread.saveAsset(Buffer.from("x"), "image/png");
  await place.close();
  const given = { project: dir, path: made.path };
  return { repository, dir, made, worktree: repositoryAt(made.path), given };
}
