import { type ReasoningEffort, reasoningEfforts } from "../providers/index.js";
import { whyUnavailable } from "./availability.js";
import { quoted } from "./config-text.js";
import { contextWindow } from "./context-window.js";
import type { AgentChat, AgentDefinition } from "./definition.js";
import { agentsError, unavailable } from "./errors.js";
import { EXTERNAL } from "./external.js";
import { lendersFor } from "./lenders.js";
import { knownProviders } from "./provider-facts.js";

/** What a run asks, decided once. It can be kept and shown: it holds no secret. */
export interface ModelChoice {
  readonly provider: string;
  readonly model: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly params: { readonly max_tokens?: number; readonly reasoning_effort?: ReasoningEffort };
  /** Tokens the model takes in all. */
  readonly window: number;
}

/** What a thread or a run says instead of the agent. */
export interface ModelOverrides {
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  readonly reasoning_effort?: string | undefined;
  readonly max_tokens?: number | undefined;
}

/** Throws `agent.unavailable` or `agent.invalid_param`. Another provider is used with what an agent that has it has. */
export function modelFor(agent: AgentDefinition, overrides: ModelOverrides): ModelChoice {
  if (agent.type === "external") return externalChoice(agent, overrides);
  const [lender] = lendersFor(agent, overrides);
  if (!lender) throw unavailable(agent.agentId, noLender(overrides.provider ?? ""));
  const { chat } = lender;
  const model = overrides.model ?? chat.model;
  const reason = whyUnavailable(lender, model);
  if (reason !== undefined) throw unavailable(agent.agentId, reason);
  return {
    provider: chat.provider,
    model: model as string,
    options: shownOptions(chat),
    params: paramsFor(agent.agentId, chat, overrides),
    window: contextWindow(model as string, chat),
  };
}

/** It is sent one message at a time, and no history: only what no message may be is too large. */
const ONLY_A_MESSAGE = 10_000_000;

/** What only a model of ours has can't be chosen for it. */
function externalChoice({ agentId: agent_id }: AgentDefinition, overrides: ModelOverrides): ModelChoice {
  for (const param of ["provider", "model"] as const) {
    if (overrides[param] === undefined || overrides[param] === EXTERNAL) continue;
    throw invalidParam(agent_id, param, "can't be chosen for an external agent: it answers with its own");
  }
  return { provider: EXTERNAL, model: EXTERNAL, options: {}, params: {}, window: ONLY_A_MESSAGE };
}

function noLender(provider: string): string {
  return knownProviders.includes(provider)
    ? `No agent here can use the provider ${provider}: configure one, or choose no other provider.`
    : `There is no provider ${quoted(provider)}. Known are: ${knownProviders.join(", ")}.`;
}

/** Only what is known to be no secret: an option that someone invents stays where it is. */
const SHOWN = [
  "baseURL",
  "timeouts",
  "retry",
  "reasoningSummary",
  "includeUsage",
  "returnThinking",
  "delayMs",
  "turns",
  // What a program is started with; what it needs of secrets belongs into its `env`, which is never shown.
  "command",
  "args",
];

function shownOptions({ config }: AgentChat): Record<string, unknown> {
  const entries = Object.entries(config.open()).filter(
    ([key, value]) => SHOWN.includes(key) && value !== undefined,
  );
  return structuredClone(Object.fromEntries(entries));
}

function paramsFor(agent_id: string, chat: AgentChat, overrides: ModelOverrides): ModelChoice["params"] {
  const max_tokens = overrides.max_tokens ?? chat.maxTokens;
  if (max_tokens !== undefined && (!Number.isSafeInteger(max_tokens) || max_tokens < 1)) {
    throw invalidParam(agent_id, "max_tokens", "must be a whole number of at least 1");
  }
  const effort = overrides.reasoning_effort ?? chat.reasoningEffort;
  const reasoning_effort = reasoningEfforts.find((known) => known === effort);
  if (effort !== undefined && reasoning_effort === undefined) {
    throw invalidParam(agent_id, "reasoning_effort", `must be one of ${reasoningEfforts.join(", ")}`);
  }
  return {
    ...(max_tokens !== undefined && { max_tokens }),
    ...(reasoning_effort !== undefined && { reasoning_effort }),
  };
}

function invalidParam(agent_id: string, param: string, problem: string) {
  return agentsError({ kind: "agent.invalid_param", agent_id, param, problem }, `${param} ${problem}.`);
}
