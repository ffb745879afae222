import { type Agents, knownProgram, providerConfig } from "../agents/index.js";
import { canonicalJson, HeddleError, Lru } from "../base/index.js";
import type { FrozenConfig } from "../prompts/index.js";
import { createProvider, isProgram, type Provider } from "../providers/index.js";
import type { Providers } from "../runs/index.js";
import { programEnv } from "./program-env.js";
import type { Withheld } from "./withheld.js";

const KEPT_PROVIDERS = 64;

export interface KeptProviders extends Providers {
  /** Keys and addresses are others now. A run under way whose agent is gone ends with what it began with. */
  forget(): void;
  /** What a workspace's project named is not trusted any more: no run may use it, not even one under way. */
  drop(workspace_id: string): void;
  /** Ends the processes that programs keep for a place; without one, all that are idle. A turn under way goes on. */
  release(place?: string): Promise<void>;
  /** Ends all that are kept, now and when turns under way have ended. */
  close(): Promise<void>;
}

interface Kept {
  readonly key: string;
  readonly workspace_id: string;
  readonly provider: Provider;
}

/** One provider for each way a model is reached: they keep connections open, and processes. */
export function providersFor(agents: Agents, env: NodeJS.ProcessEnv, withheld: Withheld): KeptProviders {
  const programs = new Programs();
  const all = new Map<string, Kept>();
  const known = new Lru<string, Kept>(KEPT_PROVIDERS, ({ key, provider }) => {
    all.delete(key);
    programs.retire(provider);
  });
  let before = new Map<string, Kept>();
  const made = (config: FrozenConfig, workspace_id: string): Provider => {
    const agent = agents.in(workspace_id).require(config.agent_id);
    const { provider } = config;
    const options = providerConfig(agent, config);
    if (!isProgram(provider)) return createProvider({ provider, config: options });
    const start = { known: knownProgram(provider, options), env: ownEnv(options) };
    const seen = programEnv(start, env, withheld.names());
    return programs.add(createProvider({ provider, config: options, env: seen }));
  };
  const present = (config: FrozenConfig, workspace_id: string, key: string): Provider => {
    agents.in(workspace_id).require(config.agent_id);
    const found = known.get(key);
    if (found) return found.provider;
    const kept = { key, workspace_id, provider: made(config, workspace_id) };
    known.set(key, kept);
    all.set(key, kept);
    return kept.provider;
  };
  return {
    for(config, workspace_id) {
      const key = `${workspace_id} ${keyOf(config)}`;
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
    release: (place) => programs.release(place),
    close: () => programs.close(),
  };
}

/** A frozen configuration is the same object from run to run, and never changed. */
const keys = new WeakMap<FrozenConfig, string>();

function keyOf(config: FrozenConfig): string {
  const { agent_id, provider, options } = config;
  const key = keys.get(config) ?? canonicalJson({ agent_id, provider, options });
  keys.set(config, key);
  return key;
}

function ownEnv({ env }: Record<string, unknown>): Record<string, string> {
  return (env ?? {}) as Record<string, string>;
}

/** The providers that keep processes. One that nobody will ask any more keeps none, as soon as its last turn has ended. */
class Programs {
  /** Those that may keep something, with the number of their turns under way. */
  readonly #turns = new Map<Provider, number>();
  readonly #retired = new WeakSet<Provider>();
  #isClosed = false;

  /** Answers it in a form that knows when its turns end. */
  add(provider: Provider): Provider {
    const counted: Provider = {
      ...provider,
      generate: (request, options) => this.#counting(counted, provider.generate(request, options)),
    };
    this.#turns.set(counted, 0);
    if (this.#isClosed) this.#retired.add(counted);
    return counted;
  }

  retire(provider: Provider): void {
    if (!this.#turns.has(provider)) return;
    this.#retired.add(provider);
    this.#letGo(provider).catch(() => {});
  }

  async release(place?: string): Promise<void> {
    await Promise.all([...this.#turns.keys()].map((provider) => provider.release?.(place)));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const all = [...this.#turns.keys()];
    for (const provider of all) this.#retired.add(provider);
    await Promise.all(all.map((provider) => this.#letGo(provider)));
  }

  async *#counting<E>(provider: Provider, events: AsyncIterable<E>): AsyncGenerator<E> {
    this.#turns.set(provider, (this.#turns.get(provider) ?? 0) + 1);
    try {
      yield* events;
    } finally {
      this.#turns.set(provider, (this.#turns.get(provider) ?? 1) - 1);
      // A turn that ended well has left its process for a next one, which will not come.
      if (this.#retired.has(provider)) await this.#letGo(provider);
    }
  }

  async #letGo(provider: Provider): Promise<void> {
    await provider.release?.();
    if (this.#turns.get(provider) === 0) this.#turns.delete(provider);
  }
}
