export { AGENTS_DOC_TITLE } from "./agents-doc.js";
export { ID_PREFIXES } from "./ids.js";
export { type MethodName, methods, type Params, type ParsedParams, type Result } from "./methods.js";
export { type NotificationName, type NotificationParams, notifications } from "./notifications.js";
export { countChars, isStorableText, MAX_DOCUMENT_CHARS, MAX_NAME_CHARS, normaliseText } from "./plain.js";
export { RPC_CODES, type RpcError, type RpcId } from "./rpc.js";
export { jsonSchemas, schemaName } from "./schemas.js";
export { threadConfig } from "./tree.js";
export type {
  Agent,
  AgentDetails,
  AgentsDoc,
  AgentsDocResolved,
  AgentsDocRevision,
  AgentsDocSummary,
  Folder,
  Manifest,
  Message,
  PackState,
  Placement,
  PromptSnapshot,
  ReplayResult,
  Run,
  RunApproval,
  RunConfig,
  RunContent,
  RunDecision,
  RunOrigin,
  RunStatus,
  RunSteering,
  RunUsage,
  Thread,
  ThreadConfig,
  ThreadSetup,
  TrustState,
  Workspace,
} from "./types.js";
