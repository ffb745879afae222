import { whyUnavailable } from "./availability.js";
import type { AgentDefinition } from "./definition.js";
import { unavailable } from "./errors.js";
import { lendersFor } from "./lenders.js";
import type { ModelChoice } from "./model-for.js";

/**
 * What `createProvider` needs for a choice, secrets included. They are those of today's configuration, and they go only to
 * the address that the choice was made with: where that has changed since, this throws `agent.unavailable`.
 */
export function providerConfig(
  agent: AgentDefinition,
  choice: Pick<ModelChoice, "provider" | "model" | "options">,
): Record<string, unknown> {
  const lender = lendersFor(agent, choice).find(
    ({ chat }) => chat.provider === choice.provider && chat.config.open().baseURL === choice.options.baseURL,
  );
  const reason = lender
    ? whyUnavailable(lender, choice.model)
    : `The provider ${choice.provider} is not configured any more as it was when this was asked for. Ask again.`;
  if (!lender || reason !== undefined) throw unavailable(agent.agentId, reason ?? "");
  return { ...lender.chat.config.open(), ...choice.options };
}
