import { HeddleError } from "../base/index.js";
import { createProvider } from "../providers/index.js";
import { isSafeAddress } from "./config-schema.js";
import type { AgentDefinition } from "./definition.js";
import { hasLimits } from "./effective-tools.js";
import { programStart, whyNotThere } from "./programs.js";
import { keyVariable } from "./provider-facts.js";

/** Why an agent can't be asked, with its own model or with another; undefined when it can. */
export function whyUnavailable(agent: AgentDefinition, model = agent.chat.model): string | undefined {
  const { type, chat } = agent;
  if (type === "external") return whyUnreachable(agent);
  const { provider } = chat;
  try {
    createProvider({ provider, config: chat.config.open() });
  } catch (error) {
    if (!(error instanceof HeddleError)) throw error;
    return error.kind === "provider.missing_key" ? missingKey(provider) : error.message;
  }
  if (model === undefined) return "No model is named: set `chat.model` in the configuration.";
  return whyNotThere(agent) ?? whyUnlimited(agent);
}

/** Nothing is asked there: whether it is up shows when a message is posted. */
function whyUnreachable({ external }: AgentDefinition): string | undefined {
  if (external && isSafeAddress(external.open().inputUrl)) return undefined;
  return "It needs `external.inputUrl`: an https address, or an http address of this machine.";
}

/** Only where it is certain before anything is started: of a program that nobody knows, no option is known that limits it. */
function whyUnlimited(agent: AgentDefinition): string | undefined {
  const start = programStart(agent);
  if (!start || start.known !== undefined || agent.ownTools || !hasLimits(agent)) return undefined;
  return 'It has tool or capability lists, but its program may use tools of its own that Heddle can\'t limit: set `"ownTools": true` to let it, or take the lists away.';
}

function missingKey(provider: string): string {
  const variable = keyVariable(provider);
  const inEnvironment = variable === undefined ? "" : `set ${variable} in the environment, or `;
  return `It needs an API key: ${inEnvironment}set \`chat.config.apiKey\` in the configuration.`;
}
