import type { Agents, HeddleConfig } from "../agents/index.js";
import { Bus } from "../base/index.js";
import { HookRuntime } from "../hooks/index.js";
import { Resolver } from "../instructions/index.js";
import {
  agentsDocPackage,
  agentsPackage,
  applyWaiting,
  artifactItemsPackage,
  artifactPanelsPackage,
  messageContextPackage,
  PackTurns,
  skillsPackage,
  toolsPackage,
} from "../prompts/index.js";
import {
  agentsPlugin,
  giveBackLeft,
  giveBackResults,
  PromptTexts,
  RecordedValues,
  type RunsDeps,
  recoverRuns,
  Sessions,
  stopRuns,
  takeUpSession,
  Waits,
} from "../runs/index.js";
import type { ThreadsDeps } from "../threads/index.js";
import {
  bashPlugin,
  builtInTools,
  filesPlugin,
  type Panels,
  type Plugin,
  type ToolDefinition,
  ToolRegistry,
} from "../tools/index.js";
import { composeArtifacts } from "./compose-artifacts.js";
import { composeMcp, type McpParts } from "./compose-mcp.js";
import { installPlugins } from "./compose-plugins.js";
import type { FoundConfig } from "./config-file.js";
import { type KeptProviders, providersFor } from "./providers-for.js";
import type { AgentCommands } from "./thread-access.js";
import { installUserHooks, UserHooks } from "./user-hooks.js";
import type { Withheld } from "./withheld.js";

type McpEntries = ReturnType<HeddleConfig["mcpServers"]["open"]>;

export interface RunParts {
  readonly deps: RunsDeps;
  readonly resolver: Resolver;
  /** What people's windows show. */
  readonly panels: Panels;
  /** The hooks that the configuration names. */
  readonly userHooks: UserHooks;
  readonly providers: KeptProviders;
  /** Brings everything but agents and hooks to another configuration. It can't fail. */
  useConfig(config: HeddleConfig | undefined, found: FoundConfig): void;
  /** The MCP servers that a trusted project names, for its workspace alone. */
  useServers(servers: McpEntries, of: { workspace_id: string; directory: string }): void;
  readonly mcp: McpParts["servers"];
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
  withheld: Withheld;
  /** How what an agent starts reaches the gateway. */
  commands: AgentCommands;
  /** Besides the built-in ones. */
  tools: readonly ToolDefinition[];
  /** The gateway's own files. */
  keptOut: readonly string[];
}): Promise<RunParts> {
  const { threads, agents, found, env, withheld } = given;
  const { store } = threads;
  const resolver = new Resolver(store);
  const tools = new ToolRegistry();
  tools.register(...builtInTools, ...given.tools);
  const { hooks, userHooks } = await openHooks(resolver, found, { env, withheld, report: threads.report });
  const providers = providersFor(agents, env, withheld);
  const artifacts = composeArtifacts(threads);
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
    surroundings: {
      artifacts: artifacts.artifacts,
      panels: artifacts.panels,
      servers: (workspace_id, wish) => mcp.of(workspace_id, wish),
      skills: (workspace_id, plugins) => given.commands.skills(workspace_id, plugins, tools),
    },
    providers,
    bridges: given.commands.bridges,
    ownUrl: given.commands.ownUrl,
    texts: new PromptTexts(store),
    values: new RecordedValues(store),
    ends: new Bus(),
    waits: new Waits(),
    leaving: new Set(),
    keptOut: given.keptOut,
  };
  const plugins: readonly Plugin[] = [
    agentsPlugin(() => deps),
    filesPlugin,
    bashPlugin({ environment: given.commands.environment }),
    ...artifacts.plugins,
  ];
  installPlugins(tools, plugins, found.config);
  const mcp = composeMcp({ tools, clock: threads.clock, env, withheld, found, report: threads.report });
  const stopGiving = giveBackResults(deps);
  sessions.takeUp = (session) => takeUpSession(deps, session);
  return {
    deps,
    resolver,
    panels: artifacts.open,
    userHooks,
    providers,
    mcp: mcp.servers,
    useConfig(config, now) {
      installPlugins(tools, plugins, config);
      providers.forget();
      mcp.use(now);
    },
    useServers: mcp.useServers,
    async recover() {
      mcp.begin();
      await recoverRuns(deps);
      await giveBackLeft(deps);
      await applyWaiting(deps);
    },
    async stop(withinMs) {
      await stopRuns(deps, withinMs);
      stopGiving();
      await Promise.all([hooks.close(), mcp.servers.close(), providers.close()]);
      sessions.close();
      packs.close();
      artifacts.close();
      resolver.close();
    },
  };
}

/** A hook that the configuration names and that can't be installed keeps the gateway from starting: it may be a limit. */
async function openHooks(
  resolver: Resolver,
  found: FoundConfig,
  { env, withheld, report }: Pick<ThreadsDeps, "report"> & { env: NodeJS.ProcessEnv; withheld: Withheld },
): Promise<{ hooks: HookRuntime; userHooks: UserHooks }> {
  const hooks = new HookRuntime();
  hooks.install(agentsDocPackage({ resolver }), toolsPackage(), skillsPackage(), agentsPackage());
  hooks.install(artifactItemsPackage(), messageContextPackage(), artifactPanelsPackage());
  const userHooks = new UserHooks({
    hooks,
    env,
    withheld,
    report: (error) => report(error, "a hook package could not be closed"),
  });
  try {
    await installUserHooks(userHooks, found);
  } catch (error) {
    await hooks.close();
    throw error;
  }
  return { hooks, userHooks };
}
