export { isStoreFailure, type StoreFailure, storeError } from "./errors.js";
export { Generations } from "./generations.js";
export { inspectStore } from "./inspect.js";
export type { Inspection } from "./inspection.js";
export { SCHEMA_VERSION } from "./migrations/index.js";
export { openStore } from "./open.js";
export * as agentsDocs from "./repositories/agents-docs.js";
export * as artifactItems from "./repositories/artifact-items.js";
export * as artifacts from "./repositories/artifacts.js";
export * as blobs from "./repositories/blobs.js";
export * as delegations from "./repositories/delegations.js";
export * as folders from "./repositories/folders.js";
export * as history from "./repositories/history.js";
export * as journal from "./repositories/journal.js";
export * as messages from "./repositories/messages.js";
export * as notifications from "./repositories/notifications.js";
export * as promptPacks from "./repositories/prompt-packs.js";
export * as runs from "./repositories/runs.js";
export * as siblings from "./repositories/siblings.js";
export * as threadFiles from "./repositories/thread-files.js";
export * as threads from "./repositories/threads.js";
export * as trust from "./repositories/trust.js";
export * as workspaces from "./repositories/workspaces.js";
export type {
  AgentsDocRevisionRow,
  AgentsDocRow,
  ArtifactItemRow,
  ArtifactRow,
  DelegationRow,
  FolderRow,
  HistoryRow,
  RunRow,
  ThreadRow,
  TrustRow,
  WorkspaceRow,
} from "./schema.js";
export { type ForeignDatabase, openForeign } from "./sqlite/foreign.js";
export { sqliteEngine } from "./sqlite/inspect.js";
export type { Commit, Store } from "./store.js";
export type { Note, Unit } from "./unit.js";
export { searchTerms, wordsOf } from "./words.js";
