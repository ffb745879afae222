import { dirname } from "node:path";
import { type Agents, providerConfig } from "../agents/index.js";
import { canonicalJson, Lru } from "../base/index.js";
import { HookRuntime, openUserPackage } from "../hooks/index.js";
import { Resolver } from "../instructions/index.js";
import {
  agentsDocPackage,
  applyWaiting,
  type FrozenConfig,
  PackTurns,
  toolsPackage,
} from "../prompts/index.js";
import { createProvider, type Provider } from "../providers/index.js";
import {
  PromptTexts,
  type Providers,
  RecordedValues,
  type RunsDeps,
  recoverRuns,
  Sessions,
  stopRuns,
  takeUpSession,
} from "../runs/index.js";
import type { ThreadsDeps } from "../threads/index.js";
import { builtInTools, type ToolDefinition, ToolRegistry } from "../tools/index.js";
import { hookEnv } from "./child-env.js";
import type { FoundConfig } from "./config-file.js";

export interface RunParts {
  readonly deps: RunsDeps;
  readonly resolver: Resolver;
  /** Takes up what a gateway before this one left behind. */
  recover(): Promise<void>;
  /** Lets runs end within a time, and interrupts the rest. */
  stop(withinMs: number): Promise<void>;
}

/** Agents, tools, hooks and what runs are made of. */
export async function composeRuns(given: {
  threads: Omit<ThreadsDeps, "agents">;
  agents: Agents;
  found: FoundConfig;
  env: NodeJS.ProcessEnv;
  /** Besides the built-in ones. */
  tools: readonly ToolDefinition[];
}): Promise<RunParts> {
  const { threads, agents, found, env } = given;
  const { store } = threads;
  const resolver = new Resolver(store);
  const tools = new ToolRegistry();
  tools.register(...builtInTools, ...given.tools);
  const hooks = await openHooks(resolver, found, env);
  const packs = new PackTurns(store);
  const sessions = new Sessions(store);
  const deps: RunsDeps = {
    ...threads,
    agents,
    hooks,
    tools,
    packs,
    sessions,
    listTools: (workspace_id) => tools.list(workspace_id),
    surroundings: { artifacts: async () => [], panels: () => [], skills: async () => [] },
    providers: providersFor(agents),
    texts: new PromptTexts(store),
    values: new RecordedValues(store),
  };
  sessions.takeUp = (session) => takeUpSession(deps, session);
  return {
    deps,
    resolver,
    async recover() {
      await recoverRuns(deps);
      await applyWaiting(deps);
    },
    async stop(withinMs) {
      await stopRuns(deps, withinMs);
      await hooks.close();
      sessions.close();
      packs.close();
      resolver.close();
    },
  };
}

/** A hook that the configuration names and that can't be installed keeps the gateway from starting: it may be a limit. */
async function openHooks(
  resolver: Resolver,
  { config, file }: FoundConfig,
  env: NodeJS.ProcessEnv,
): Promise<HookRuntime> {
  const hooks = new HookRuntime();
  hooks.install(agentsDocPackage({ resolver }), toolsPackage());
  try {
    for (const entry of config?.hooks ?? []) {
      hooks.install(await openUserPackage(entry, { env: hookEnv(env, config), cwd: dirname(file ?? ".") }));
    }
  } catch (error) {
    await hooks.close();
    throw error;
  }
  return hooks;
}

const KEPT_PROVIDERS = 64;

/** One provider for each way a model is reached: they keep connections open. */
function providersFor(agents: Agents): Providers {
  const known = new Lru<string, Provider>(KEPT_PROVIDERS);
  return {
    for(config: FrozenConfig, workspace_id: string) {
      const { agent_id, provider, options } = config;
      const agent = agents.in(workspace_id).require(agent_id);
      const key = canonicalJson({ workspace_id, agent_id, provider, options });
      const found = known.get(key);
      if (found) return found;
      const made = createProvider({ provider, config: providerConfig(agent, config) });
      known.set(key, made);
      return made;
    },
    toRebuild: ({ provider, options }: FrozenConfig) =>
      createProvider({ provider, config: { ...options, apiKey: "not-sent" } }),
  };
}
