import type { Agents, HeddleConfig } from "../agents/index.js";
import { systemClock } from "../base/index.js";
import type { Log } from "../gateway/index.js";
import { type Store, workspaces } from "../store/index.js";
import type { ThreadsDeps } from "../threads/index.js";
import { applyConfig } from "./apply-config.js";
import { childEnv } from "./child-env.js";
import type { RunParts } from "./compose-runs.js";
import type { LiveConfig } from "./live-config.js";
import type { Around } from "./look-around.js";
import { Lookout } from "./lookout.js";
import type { MachinePrograms } from "./programs-here.js";
import { ProjectConfigs } from "./project-files.js";
import { installUserHooks } from "./user-hooks.js";
import type { Withheld } from "./withheld.js";

/** What the rest of the gateway is told of: it is made after the agents, which are made first. */
interface Told {
  readonly config: LiveConfig;
  readonly threads: ThreadsDeps;
  readonly runs: RunParts;
}

/** What agents are made of, as it is now: the configuration, what projects add to it, and what this machine has. */
export function composeAround(given: {
  store: Store;
  agents: Agents;
  log: Log;
  around: Around;
  programs: MachinePrograms;
  withheld: Withheld;
}) {
  const { store, agents, log, around, programs, withheld } = given;
  let told: Told | undefined;
  let inEffect: HeddleConfig | undefined;
  const announce = (workspace_id: string) => {
    const { problem } = agents;
    const params = { workspace_id, ...(problem !== undefined && { problem }) };
    told?.threads.live.tell({ workspace_id, method: "agent/changed", params });
  };
  const announceAll = async () => {
    const rows = await store.read(() => workspaces.listWorkspaces(MOST_WORKSPACES));
    for (const { id } of rows) announce(id);
  };
  const tellAll = () => void announceAll().catch((error) => log.warn({ err: error }, NOT_TOLD));
  const projects = new ProjectConfigs({
    store,
    clock: systemClock,
    env: process.env,
    agents,
    log,
    useServers: (workspace_id, servers, directory) =>
      told?.runs.useServers(servers, { workspace_id, directory }),
    changed(workspace_id) {
      told?.runs.providers.drop(workspace_id);
      if (told && withheld.areOthers()) startAnew(told, withheld, log);
      announce(workspace_id);
    },
  });
  withheld.ofProjects = () => projects.variables;
  const lookout = new Lookout({
    agents,
    around,
    needed: () => (inEffect?.agents ?? []).length === 0,
    changed: tellAll,
  });
  programs.changed = tellAll;
  return {
    projects,
    /** Before anyone is let in, what is trusted counts; what has to be looked for is found later. */
    async begin(parts: Told): Promise<void> {
      told = parts;
      const { config, threads, runs } = parts;
      inEffect = config.found.config;
      await projects.begin();
      // What projects were filled with was not known when hooks were opened.
      await config.withFound(async () => {});
      lookout.begin();
      const users = [
        (next: HeddleConfig | undefined) => withheld.use(next),
        runs.useConfig,
        (next: HeddleConfig | undefined) => {
          threads.setups.env = childEnv(process.env, withheld.names());
          inEffect = next;
          lookout.look();
        },
      ];
      config.follow({
        agents,
        apply: (found) => applyConfig({ agents, hooks: runs.userHooks, users }, found),
        announce: announceAll,
        alsoLook: () => projects.look(),
      });
    },
    async stop(): Promise<void> {
      lookout.stop();
      await Promise.all([programs.stop(), told?.config.stop()]);
    },
  };
}

/** What is started from now on sees less of the environment than before, or more; what is kept is started anew. */
function startAnew({ config, threads, runs }: Told, withheld: Withheld, log: Log): void {
  threads.setups.env = childEnv(process.env, withheld.names());
  runs.providers.forget();
  config
    .withFound((found) => installUserHooks(runs.userHooks, found))
    .catch((err) => log.warn({ err }, "hooks still see of the environment what they saw before"));
}

const MOST_WORKSPACES = 10_000;
const NOT_TOLD = "not everyone was told of new agents";
