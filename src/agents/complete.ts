import type { AgentDefinition } from "./definition.js";
import { defaultModel, findAccess } from "./provider-facts.js";
import { Sealed } from "./sealed.js";
import type { Env } from "./substitute.js";

/**
 * An agent of the configuration that names neither key nor address uses those of the environment, as detected agents do. A
 * key of the environment never goes to an address that the configuration names.
 */
export function completeFrom(env: Env, agent: AgentDefinition): AgentDefinition {
  const { chat } = agent;
  const config = chat.config.open();
  if (config.baseURL !== undefined) return agent;
  const access = config.apiKey === undefined ? findAccess(chat.provider, env) : undefined;
  const model = chat.model ?? defaultModel(chat.provider, env);
  return {
    ...agent,
    chat: {
      ...chat,
      ...(model !== undefined && { model }),
      ...(access && { config: new Sealed({ ...config, ...access }) }),
    },
  };
}
