import type { AgentEntry } from "./config-schema.js";
import type { ConfigText } from "./config-text.js";
import { DEFAULT_PROVIDER } from "./definition.js";

/** Fills in each entry from the one it `extends`, which may extend another. */
export function extendEntries(entries: readonly AgentEntry[], config: ConfigText): AgentEntry[] {
  const byId = new Map(entries.map((entry, index) => [entry.agentId, { entry, index }]));
  const done = new Map<string, AgentEntry>();
  const extended = (agentId: string, below: readonly string[]): AgentEntry => {
    const ready = done.get(agentId);
    if (ready) return ready;
    const { entry, index } = byId.get(agentId) as { entry: AgentEntry; index: number };
    const base = entry.extends;
    if (base === undefined) return entry;
    const chain = [...below, agentId];
    const fault = (problem: string) => config.fault(["agents", index, "extends"], problem);
    if (!byId.has(base)) throw fault("names an agent that is not in this file");
    if (chain.includes(base)) throw fault(`leads in a circle: ${[...chain, base].join(" → ")}`);
    if (chain.length > MOST_STEPS) throw fault(`leads through more than ${MOST_STEPS} agents`);
    const made = withDefaults(entry, extended(base, chain));
    done.set(agentId, made);
    return made;
  };
  return entries.map(({ agentId }) => extended(agentId, []));
}

const MOST_STEPS = 32;

/** `null` is a value: it lifts a limit that the other has. */
function withDefaults(own: AgentEntry, base: AgentEntry): AgentEntry {
  const given = Object.entries(own).filter(([, value]) => value !== undefined);
  const chat = own.chat && mergedChat(own.chat, base.chat);
  return { ...base, ...(Object.fromEntries(given) as AgentEntry), ...(chat && { chat }) };
}

type Chat = NonNullable<AgentEntry["chat"]>;

/** A key must not reach another provider, nor another address: `config` is taken whole, and only with its provider. */
function mergedChat(own: Chat, base: Chat = {}): Chat {
  const sameProvider = own.provider === undefined || own.provider === (base.provider ?? DEFAULT_PROVIDER);
  return sameProvider ? { ...base, ...own } : own;
}
