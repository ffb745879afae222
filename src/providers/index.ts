export { createProvider } from "./create.js";
export type { ProviderError } from "./errors.js";
export { type PromptMessage, promptMessageSchema, promptMessagesSchema } from "./prompt-message.js";
export {
  type GenerateRequest,
  type Provider,
  type ProviderEvent,
  providerIds,
  type ReasoningEffort,
  reasoningEfforts,
  type ToolSpec,
} from "./provider.js";
export { answerStepSchema, fragments, Script, turnSchema } from "./script.js";
