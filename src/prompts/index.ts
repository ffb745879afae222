export { collectUnused } from "./blobs/collect.js";
export { getBlob } from "./blobs/get.js";
export { putBlob } from "./blobs/put.js";
export { readBlob, readPrompt, verified } from "./blobs/read.js";
export {
  type CompileInputs,
  type EncodedMessage,
  type EncodedValue,
  encodeMessage,
  encodeValue,
  type FrozenConfig,
  type SectionInput,
} from "./compile/inputs.js";
export { COMPILER_VERSION, compilePrefix, type Prefix } from "./compile/prefix.js";
export { type CompiledStep, compileStep, type HistoryView } from "./compile/step.js";
export { type Size, sizeOf, sizeOfText } from "./compile/tokens.js";
export type { PromptsDeps } from "./deps.js";
export type { PromptsFailure } from "./errors.js";
export { endOf, type ListEnd, type Told, type ToTell, tell } from "./history/list.js";
export { promptMessagesOf } from "./history/of-log-message.js";
export { packsToLoad, type ResolvedPrompt, resolveLadder } from "./ladder.js";
export { applyPrompt } from "./packs/apply.js";
export { foldPacks } from "./packs/fold.js";
export { listPacks } from "./packs/list.js";
export { applyWaiting, runEnded } from "./packs/run-ended.js";
export { loadActivePacks } from "./packs/state.js";
export { promptStatus } from "./packs/status.js";
export { syncPrompt } from "./packs/sync.js";
export { syncWorkspace } from "./packs/sync-workspace.js";
export { PackTurns } from "./packs/turns.js";
export { agentsPackage } from "./sections/agents.js";
export { agentsDocPackage } from "./sections/agents-doc.js";
export { artifactItemsPackage } from "./sections/artifact-items.js";
export { artifactPanelsPackage } from "./sections/artifact-panels.js";
export { messageContextPackage } from "./sections/message-context.js";
export { skillsPackage } from "./sections/skills.js";
export { toolsPackage } from "./sections/tools.js";
