import { join } from "node:path";
import { idMaker, systemClock, VERSION } from "../base/index.js";
import { Gateway, type Limits, type Log } from "../gateway/index.js";
import { followFolders } from "../instructions/index.js";
import { openStore, type Store } from "../store/index.js";
import { ensureHome, purgeDeleted } from "../tree/index.js";
import { lockDataDirectory, makePrivate, persistentToken, removeAddress, writeAddress } from "./data-dir.js";
import { createLogger } from "./logger.js";

export interface AppOptions {
  readonly dataDir: string;
  /** `sqlite`, or a `postgres://` address. */
  readonly store?: string | undefined;
  readonly logLevel?: string | undefined;
  readonly limits?: Partial<Limits>;
}

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly token?: string | undefined;
}

export interface App {
  readonly gateway: Gateway;
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
  const deps = { store, clock: systemClock, makeId: idMaker(systemClock) };
  await ensureHome({ ...deps, follower: followFolders(deps) });
  await purgeDeleted(deps);
  const gateway = new Gateway({
    ...deps,
    log,
    version: VERSION,
    ...(options.limits && { limits: options.limits }),
  });
  const purging = setInterval(() => {
    purgeDeleted(deps).catch((error) =>
      log.warn({ err: error }, "what was deleted long ago could not be removed"),
    );
  }, DAY_MS).unref();
  let addressed = false;
  return {
    gateway,
    log,
    async listen({ host, port, token = persistentToken(options.dataDir) }) {
      const listening = await gateway.listen({ host, port, token });
      const url = `http://${reachable(host)}:${listening.port}`;
      writeAddress(options.dataDir, { url, token, pid: process.pid });
      addressed = true;
      log.info({ url, store: store.name }, "ready");
      return { url, port: listening.port, token, pageUrl: () => `${url}/?code=${listening.newCode()}` };
    },
    async stop() {
      clearInterval(purging);
      if (addressed) removeAddress(options.dataDir);
      await gateway.stop(STOP_MS);
      await store.close();
      release();
      if (addressed) log.info({}, "stopped");
    },
  };
}

/** A host that a program on this machine can connect to. */
function reachable(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}
