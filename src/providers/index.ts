export { createProvider } from "./create.js";
export type { ProviderError } from "./errors.js";
export { type Redact, redactor } from "./http/redact.js";
export { askedWait } from "./http/retry.js";
export {
  isOfSystem,
  type PromptMessage,
  promptMessageSchema,
  promptMessagesSchema,
} from "./prompt-message.js";
export {
  type AskedPermission,
  type Bridge,
  type Delivery,
  type FileDiff,
  type GenerateRequest,
  isProgram,
  OWN_MODEL,
  type PermissionAnswer,
  type Provider,
  type ProviderEvent,
  providerIds,
  type ReasoningEffort,
  reasoningEfforts,
  type SentRequest,
  type ToolSpec,
  type WorkPlace,
  type WorkSession,
} from "./provider.js";
export { answerStepSchema, fragments, Script, turnSchema } from "./script.js";
