import { type Agents, providerConfig } from "../agents/index.js";
import { canonicalJson, HeddleError, Lru } from "../base/index.js";
import type { FrozenConfig } from "../prompts/index.js";
import { createProvider, type Provider } from "../providers/index.js";
import type { Providers } from "../runs/index.js";

const KEPT_PROVIDERS = 64;

export interface KeptProviders extends Providers {
  /** Keys and addresses are others now. A run under way whose agent is gone ends with what it began with. */
  forget(): void;
  /** What a workspace's project named is not trusted any more: no run may use it, not even one under way. */
  drop(workspace_id: string): void;
}

interface Kept {
  readonly key: string;
  readonly workspace_id: string;
  readonly provider: Provider;
}

/** One provider for each way a model is reached: they keep connections open. */
export function providersFor(agents: Agents): KeptProviders {
  const all = new Map<string, Kept>();
  const known = new Lru<string, Kept>(KEPT_PROVIDERS, ({ key }) => all.delete(key));
  let before = new Map<string, Kept>();
  const present = (config: FrozenConfig, workspace_id: string, key: string): Provider => {
    const agent = agents.in(workspace_id).require(config.agent_id);
    const found = known.get(key);
    if (found) return found.provider;
    const provider = createProvider({ provider: config.provider, config: providerConfig(agent, config) });
    const kept = { key, workspace_id, provider };
    known.set(key, kept);
    all.set(key, kept);
    return provider;
  };
  return {
    for(config, workspace_id) {
      const { agent_id, provider, options } = config;
      const key = canonicalJson({ workspace_id, agent_id, provider, options });
      try {
        return present(config, workspace_id, key);
      } catch (error) {
        const kept = error instanceof HeddleError ? before.get(key) : undefined;
        if (!kept) throw error;
        return kept.provider;
      }
    },
    forget() {
      before = new Map([...before, ...all].slice(-KEPT_PROVIDERS));
      known.clear();
    },
    drop(workspace_id) {
      for (const { key, workspace_id: whose } of [...all.values(), ...before.values()]) {
        if (whose !== workspace_id) continue;
        known.delete(key);
        before.delete(key);
      }
    },
    toRebuild: ({ provider, options }: FrozenConfig) =>
      createProvider({ provider, config: { ...options, apiKey: "not-sent" } }),
  };
}
