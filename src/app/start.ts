import { join } from "node:path";
import { Agents } from "../agents/index.js";
import { idMaker, systemClock, VERSION } from "../base/index.js";
import { Gateway, type Limits, type Log } from "../gateway/index.js";
import { sessionPlaces } from "../imports/index.js";
import { collectUnused } from "../prompts/index.js";
import { forgetGone } from "../runs/index.js";
import { openStore, type Store } from "../store/index.js";
import { purgeArtifacts, type ToolDefinition } from "../tools/index.js";
import { ensureHome } from "../tree/index.js";
import { childEnv } from "./child-env.js";
import { composeAround } from "./compose-around.js";
import { composeRuns } from "./compose-runs.js";
import { composeThreads } from "./compose-threads.js";
import { placeOf } from "./config-file.js";
import { lockDataDirectory, makePrivate, persistentToken, removeAddress, writeAddress } from "./data-dir.js";
import { LiveConfig } from "./live-config.js";
import { createLogger } from "./logger.js";
import { type Around, aroundHere } from "./look-around.js";
import { ownFiles } from "./own-files.js";
import { pageFiles } from "./page-files.js";
import { MachinePrograms } from "./programs-here.js";
import { AgentCommands } from "./thread-access.js";
import { Withheld } from "./withheld.js";

export interface AppOptions {
  readonly dataDir: string;
  /** `sqlite`, or a `postgres://` address. */
  readonly store?: string | undefined;
  readonly logLevel?: string | undefined;
  /** `--config`; default: `heddle.config.json` in the data directory, if it is there. */
  readonly configFile?: string | undefined;
  readonly limits?: Partial<Limits>;
  /** Where servers and programs are looked for when the configuration names no agents; default: on this machine. */
  readonly around?: Around;
  /**
   * How long a request waits for the first look at its workspace's files; default: 2 seconds. A command that runs once
   * waits until it is done.
   */
  readonly firstLookMs?: number;
  /**
   * Whether runs that a gateway left behind are taken up; default: yes. A command that only looks at something must not ask
   * a model.
   */
  readonly takeUpRuns?: boolean;
  /**
   * Whether a port on loopback is opened when an agent's command needs one and the gateway has none; default: yes. Without
   * it, agents have no skills.
   */
  readonly commandsPort?: boolean;
  /** The variables that say where other tools keep their sessions; default: those of this process. */
  readonly sessionEnv?: Readonly<Record<string, string | undefined>>;
  /** Where the built page is; default: in this package. */
  readonly pageDir?: string;
  /** Tools besides the built-in ones. */
  readonly tools?: readonly ToolDefinition[];
}

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly token?: string | undefined;
}

export interface App {
  readonly gateway: Gateway;
  /** Resolves when everything that agents are made for was looked for once. */
  looked(): Promise<void>;
  readonly log: Log;
  listen(options: ListenOptions): Promise<Listening>;
  /** Ends what can be ended within 5 seconds, and lets go of the data directory. */
  stop(): Promise<void>;
}

export interface Listening {
  readonly url: string;
  readonly port: number;
  readonly token: string;
  /** An address for a browser: its code lets it in, once. */
  pageUrl(): string;
}

const STOP_MS = 5_000;
const STOP_RUNS_MS = 3_000;
const FIRST_LOOK_MS = 2_000;
const DAY_MS = 24 * 3600 * 1000;

/** Wires the modules together over one data directory. */
export async function startApp(options: AppOptions): Promise<App> {
  const { dataDir } = options;
  const log = createLogger(options.logLevel ?? "info");
  const lock = lockDataDirectory(dataDir);
  let store: Store | undefined;
  try {
    store = await openStore(storeLocation(options));
    return await compose(options, store, log, () => lock.release());
  } catch (error) {
    await store?.close();
    lock.release();
    throw error;
  }
}

function storeLocation({ store, dataDir }: AppOptions): string {
  if (store !== undefined && store !== "sqlite") return store;
  const file = join(dataDir, "heddle.db");
  makePrivate(file);
  return file;
}

async function compose(options: AppOptions, store: Store, log: Log, release: () => void): Promise<App> {
  const { dataDir, configFile: file } = options;
  const config = new LiveConfig({ file, dataDir, env: process.env, log });
  const { found } = config;
  const withheld = new Withheld(found.config);
  const { agents, ...here } = agentsHere(options, config, withheld);
  const around = composeAround({ store, agents, log, withheld, ...here });
  const threads = composeThreads({
    store,
    agents,
    project: around.projects,
    childEnv: childEnv(process.env, withheld.names()),
    clock: systemClock,
    makeId: idMaker(systemClock),
    dataDir,
    log,
    firstLookMs: options.firstLookMs ?? FIRST_LOOK_MS,
  });
  await ensureHome(threads.deps);
  await threads.begin();
  const mayListen = options.commandsPort !== false;
  const commands = new AgentCommands({ dataDir, env: process.env, withheld, mayListen });
  const runs = await composeRuns({
    threads: threads.deps,
    agents,
    found,
    env: process.env,
    withheld,
    commands,
    tools: options.tools ?? [],
    keptOut: ownFiles({ dataDir, configFile: placeOf({ file, dataDir }) }),
  });
  await around.begin({ config, threads: threads.deps, runs });
  const gateway = new Gateway({
    ...runs.deps,
    resolver: runs.resolver,
    panels: runs.panels,
    watching: threads.watching,
    sessionPlaces: sessionPlaces(options.sessionEnv ?? process.env),
    log,
    version: VERSION,
    page: pageFiles(options.pageDir === undefined ? undefined : [options.pageDir]),
    ...(options.limits && { limits: options.limits }),
  });
  commands.over(gateway);
  const purge = () =>
    threads
      .purge()
      .then(() => forgetGone(runs.deps))
      .then(() => purgeArtifacts(runs.deps))
      .then(() => collectUnused(runs.deps))
      .catch((error) => log.warn({ err: error }, "what was deleted long ago could not be removed"));
  const purging = setInterval(purge, DAY_MS).unref();
  // Before anyone is let in: whoever asks must not find a run that nobody carries on.
  if (options.takeUpRuns !== false) await runs.recover();
  let settled: Promise<unknown> = Promise.resolve();
  let addressed = false;
  return {
    gateway,
    log,
    async listen({ host, port, token = persistentToken(options.dataDir) }) {
      const listening = await gateway.listen({ host, port, token });
      const url = `http://${reachable(host)}:${listening.port}`;
      writeAddress(options.dataDir, { url, token, pid: process.pid });
      commands.listening(url);
      addressed = true;
      log.info({ url, store: store.name }, "ready");
      settled = threads
        .settle()
        .then(purge)
        .catch((error) => log.warn({ err: error }, "not every workspace could be looked at"));
      return { url, port: listening.port, token, pageUrl: () => `${url}/?code=${listening.newCode()}` };
    },
    async looked() {
      await Promise.all([agents.looked, runs.mcp.tried()]);
    },
    async stop() {
      clearInterval(purging);
      await around.stop();
      if (addressed) removeAddress(options.dataDir);
      await runs.stop(STOP_RUNS_MS);
      await gateway.stop(STOP_MS - STOP_RUNS_MS);
      await threads.close();
      await settled;
      await store.close();
      release();
      if (addressed) log.info({}, "stopped");
    },
  };
}

/** The agents, and where they come from besides the configuration. */
function agentsHere(
  { around = aroundHere(process.env) }: AppOptions,
  config: LiveConfig,
  withheld: Withheld,
) {
  const programs = new MachinePrograms({
    env: around.env ?? process.env,
    withheld,
    curious: around.env !== undefined,
  });
  const agents = new Agents({ config: config.found.config, env: process.env, programs });
  return { agents, around, programs };
}

/** A host that a program on this machine can connect to. */
function reachable(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}
