import { HeddleError } from "../base/index.js";
import { createProvider } from "../providers/index.js";
import type { AgentDefinition } from "./definition.js";
import { isLater, keyVariable } from "./provider-facts.js";

/** Why an agent can't be asked, with its own model or with another; undefined when it can. */
export function whyUnavailable({ type, chat }: AgentDefinition, model = chat.model): string | undefined {
  if (type === "external") return "External agents can't be asked by this version of Heddle.";
  const { provider } = chat;
  if (isLater(provider)) return `The provider ${provider} is not in this version of Heddle.`;
  try {
    createProvider({ provider, config: chat.config.open() });
  } catch (error) {
    if (!(error instanceof HeddleError)) throw error;
    return error.kind === "provider.missing_key" ? missingKey(provider) : error.message;
  }
  return model === undefined ? "No model is named: set `chat.model` in the configuration." : undefined;
}

function missingKey(provider: string): string {
  const variable = keyVariable(provider);
  const inEnvironment = variable === undefined ? "" : `set ${variable} in the environment, or `;
  return `It needs an API key: ${inEnvironment}set \`chat.config.apiKey\` in the configuration.`;
}
