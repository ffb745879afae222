export type { ImportedThread, Rewrite } from "./archive/drafts.js";
export { importDirectory } from "./archive/import-directory.js";
export { importMessages } from "./archive/import-messages.js";
export { packThread } from "./archive/pack.js";
export { threadDirectories } from "./archive/thread-directories.js";
export { type UnpackOptions, unpackThreads } from "./archive/unpack.js";
export { purgeAside } from "./aside.js";
export { type ConfigFile, changeConfig, readConfig, readConfigFile } from "./config.js";
export type { EnvelopeChanges } from "./envelope.js";
export type { AtsfFailure } from "./errors.js";
export { type GitHead, readGitHead } from "./git-head.js";
export { GITIGNORE } from "./gitignore.js";
export { jsonSchemas } from "./json-schemas.js";
export type { JsonChange } from "./json-text.js";
export { isThreadId } from "./layout.js";
export { linesForward } from "./log/lines.js";
export type { ForwardLogPage, LogPage, PageOptions } from "./log/pager.js";
export type { LogEntry } from "./log/parse.js";
export { readLogBytes } from "./log/piece.js";
export type { FollowedEntry, LogState, WholeLog } from "./log/read.js";
export { moveDirectory } from "./move-directory.js";
export type { NewThread } from "./new-envelope.js";
export type { Problem } from "./problems.js";
export {
  type ListedThread,
  openProject,
  type Project,
  type ProjectOptions,
  threadNames,
} from "./project.js";
export { type Repair, repair } from "./repair.js";
export {
  type Message,
  message,
  type ProjectConfig,
  projectConfig,
  type ThreadEnvelope,
  threadEnvelope,
} from "./schemas.js";
export { findSecret } from "./secrets.js";
export type { Thread } from "./thread.js";
export { validate } from "./validate.js";
export { SPEC_VERSION } from "./version.js";
export { type HooksContent, hooksContent } from "./worktree-hooks/content.js";
export { leadsOut } from "./worktree-hooks/make-symlink.js";
export {
  type HookProgress,
  type HookStep,
  type HooksEnd,
  type HooksToRun,
  runHooks,
} from "./worktree-hooks/run.js";
export { type Checkout, describeCheckout } from "./worktrees/checkout.js";
export { type CreatedWorktree, createWorktree, type WorktreeToCreate } from "./worktrees/create.js";
export { belongsTo, ownerOf, type ThreadCopy, threadPlaces } from "./worktrees/find-threads.js";
export { listWorktrees, type Worktree } from "./worktrees/list.js";
export { type RemovedWorktree, removeWorktree, type WorktreeToRemove } from "./worktrees/remove.js";
export { noteWorktree, removeUnmadeWorktree } from "./worktrees/unmade.js";
