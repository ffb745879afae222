import { readGitHead } from "../atsf/index.js";
import type { Thread } from "../protocol/index.js";
import { type Call, threadToWire } from "../tree/index.js";
import type { ThreadsDeps } from "./deps.js";
import { threadsError } from "./errors.js";
import { locateThread, type ThreadRef } from "./locate.js";
import { startSetup } from "./setup.js";
import { readHashedConfig } from "./trust.js";

/** Sets a worktree up whose hooks were not run, because nobody had trusted them. One that was set up stays as it is. */
export async function setUpAgain(deps: ThreadsDeps, ref: ThreadRef, call: Call): Promise<Thread> {
  const { workspace, thread_id, row, root } = await locateThread(deps, ref);
  const main = await deps.files.ensureDirectory(workspace);
  if (root === main) {
    throw threadsError({ kind: "thread.no_worktree", thread_id }, "This thread has no worktree.");
  }
  const thread = threadToWire(row);
  if (thread.setup?.status !== "untrusted") return thread;
  const { config, configSha256 } = await readHashedConfig(main);
  const repository = readGitHead(main)?.top ?? main;
  return startSetup(deps, { workspace, thread_id, root, repository, config, configSha256, call });
}
