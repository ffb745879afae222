import { canonicalJson } from "../base/index.js";
import { whyUnavailable } from "./availability.js";
import type { AgentDefinition } from "./definition.js";
import { unavailable } from "./errors.js";
import { lendersFor } from "./lenders.js";
import type { ModelChoice } from "./model-for.js";

/**
 * What `createProvider` needs for a choice, secrets included. They are those of today's configuration, and they go only to
 * the address, or the program, that the choice was made with: where that has changed since, this throws `agent.unavailable`.
 */
export function providerConfig(
  agent: AgentDefinition,
  choice: Pick<ModelChoice, "provider" | "model" | "options">,
): Record<string, unknown> {
  const lender = lendersFor(agent, choice).find(
    ({ chat }) =>
      chat.provider === choice.provider && whereTo(chat.config.open()) === whereTo(choice.options),
  );
  const reason = lender
    ? whyUnavailable(lender, choice.model)
    : `The provider ${choice.provider} is not configured any more as it was when this was asked for. Ask again.`;
  if (!lender || reason !== undefined) throw unavailable(agent.agentId, reason ?? "");
  return { ...lender.chat.config.open(), ...choice.options };
}

/** What secrets go to. */
function whereTo({ baseURL, command, args }: Readonly<Record<string, unknown>>): string {
  return canonicalJson({ baseURL, command, args });
}
