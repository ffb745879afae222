import { sha256 } from "../base/index.js";
import type { ReasoningEffort } from "../providers/index.js";
import type { AgentEntry } from "./config-schema.js";
import { Sealed } from "./sealed.js";

const lists = [
  "toolAllowlist",
  "toolDenylist",
  "skillAllowlist",
  "skillDenylist",
  "capabilityAllowlist",
  "capabilityDenylist",
  "agentAllowlist",
  "agentDenylist",
] as const;

/** Globs; null: no limit. An empty list allows nothing, or denies nothing. */
type Scope = { readonly [List in (typeof lists)[number]]: readonly string[] | null };

/** An agent, with a value for everything its entry leaves open. It can be written down: what may be secret is sealed. */
export interface AgentDefinition extends Scope {
  readonly agentId: string;
  readonly displayName: string;
  readonly description: string;
  readonly origin: "config" | "detected" | "built_in";
  readonly type: "chat" | "external";
  readonly chat: AgentChat;
  readonly external?: Sealed<NonNullable<AgentEntry["external"]>>;
  readonly extends?: string;
  readonly systemPrompt?: string;
  readonly toolExposure: "tools" | "skills" | "mixed";
  readonly toolApprovals: Readonly<Record<"allow" | "ask" | "deny", readonly string[]>>;
  readonly ownTools: boolean;
  readonly uiVisible: boolean;
  readonly apiExposed?: boolean;
  readonly color: string;
}

export interface AgentChat {
  readonly provider: string;
  readonly model?: string | undefined;
  readonly contextWindow?: number | undefined;
  readonly maxTokens?: number | undefined;
  readonly reasoningEffort?: ReasoningEffort | undefined;
  readonly config: Sealed<Readonly<Record<string, unknown>>>;
}

export function defineAgent(entry: AgentEntry, origin: AgentDefinition["origin"]): AgentDefinition {
  const { agentId, external, systemPrompt, apiExposed, toolApprovals } = entry;
  return {
    agentId,
    displayName: entry.displayName ?? agentId,
    description: entry.description ?? "",
    origin,
    type: entry.type ?? "chat",
    chat: chatOf(entry.chat),
    ...(external && { external: new Sealed(external) }),
    ...(entry.extends !== undefined && { extends: entry.extends }),
    ...(systemPrompt !== undefined && { systemPrompt }),
    ...scopeOf(entry),
    toolExposure: entry.toolExposure ?? "tools",
    toolApprovals: toolApprovals ?? NO_APPROVALS,
    ownTools: entry.ownTools ?? false,
    uiVisible: entry.uiVisible ?? true,
    ...(apiExposed !== undefined && { apiExposed }),
    color: entry.color ?? colorOf(agentId),
  };
}

function scopeOf(entry: AgentEntry): Scope {
  return Object.fromEntries(lists.map((list) => [list, entry[list] ?? null])) as unknown as Scope;
}

const NO_APPROVALS = { allow: [], ask: [], deny: [] } as const;

export const DEFAULT_PROVIDER = "openai";

function chatOf(entry: AgentEntry["chat"]): AgentChat {
  const { provider = DEFAULT_PROVIDER, config = {}, ...rest } = entry ?? {};
  return { ...rest, provider, config: new Sealed(config) };
}

/** Told apart on light and on dark ground. */
const palette = ["walnut", "woad", "verdigris", "orchil", "nettle", "cochineal", "weld", "iris"] as const;

/** By the id alone, so that an agent keeps its colour whatever others come and go. */
function colorOf(agentId: string): string {
  return palette[Number.parseInt(sha256(agentId).slice(0, 8), 16) % palette.length] as string;
}
