import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { GatewayAddress } from "../../app/index.js";
import { isKind, takeLock } from "../../base/index.js";
import { cliError, UsageError } from "../errors.js";
import type { GatewayOptions } from "../options.js";
import { dataDirectory, readAddress } from "./data-dir.js";
import { heldByCommand, readHolder } from "./holder.js";
import type { Link, Reached } from "./link.js";
import { PATIENCE_MS, RETRY_MS } from "./patience.js";

const HELLO_MS = 2_000;

export interface ConnectManner {
  /** Connects again by itself after a loss. */
  readonly lasting?: boolean;
}

/** The gateway that was named, else the one that runs on the data directory, else a private one for this command alone. */
export async function reachGateway(options: GatewayOptions, manner: ConnectManner = {}): Promise<Reached> {
  const named = namedGateway(options);
  if (!named) return reachDataDirectory(dataDirectory(options.data, process.env), manner);
  const link = await connectTo(named, manner).catch((error: Error) => {
    const why = error.message.replace(/^Can't reach the gateway: /, "").replace(/\.$/, "");
    throw cliError(
      { kind: "gateway.unreachable", url: named.url },
      `The gateway at ${named.url} can't be used: ${explain(why)}.`,
      error,
    );
  });
  return { ...link, place: "elsewhere" };
}

/** A flag comes before the environment, and `--data` before an address from the environment. */
export function namedGateway({
  url: flag,
  token: given,
  data,
}: GatewayOptions): Omit<GatewayAddress, "pid"> | undefined {
  const { HEDDLE_URL, HEDDLE_TOKEN } = process.env;
  const url = flag ?? (data === undefined && HEDDLE_URL ? HEDDLE_URL : undefined);
  if (url === undefined) {
    if (given === undefined) return undefined;
    throw new UsageError("--token goes with --url: it is the token of the gateway at that address");
  }
  if (!/^(http|ws)s?:\/\/[^/]/.test(url) || !URL.canParse(url)) {
    throw new UsageError(`${url} is no address of a gateway: it must be like http://127.0.0.1:4170`);
  }
  const token = given ?? HEDDLE_TOKEN;
  if (!token) throw new UsageError(`The gateway at ${url} needs a token: --token, or HEDDLE_TOKEN`);
  return { url, token };
}

function explain(why: string): string {
  if (why.includes("401")) return "it does not accept the token";
  return why.includes("ECONNREFUSED") ? "nothing listens there" : why;
}

/** The first connection is made without patience, so that an address where nothing listens is told of at once. */
export async function connectTo(
  { url, token }: Omit<GatewayAddress, "pid">,
  { lasting = false }: ConnectManner = {},
): Promise<Link> {
  const { connect } = await import("../../client/node.js");
  const first = connect(url, { token, name: "cli", reconnect: false });
  try {
    const { server } = await first.call("ping", {}, { timeoutMs: HELLO_MS });
    if (!lasting) return { client: first, version: server.version, close: async () => first.close() };
    first.close();
    const client = connect(url, { token, name: "cli" });
    return { client, version: server.version, close: async () => client.close() };
  } catch (error) {
    first.close();
    throw error;
  }
}

/**
 * The kernel lock on the directory is the truth: `gateway.json` may be left over from a gateway that was killed, and its
 * port may be another's by now. Whoever gets the lock is alone; whoever does not waits for an answer, or for its turn.
 */
async function reachDataDirectory(dataDir: string, manner: ConnectManner): Promise<Reached> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const running = runningOn(dataDir);
    const failure = running ? await connectTo(running, manner).catch((error: Error) => error) : undefined;
    if (failure && !(failure instanceof Error)) return { ...failure, place: "here" };
    try {
      const { startPrivate } = await import("./private-gateway.js");
      return { ...(await startPrivate(dataDir, manner.lasting === true)), place: "private" };
    } catch (error) {
      if (!isKind(error, "store.taken")) throw error;
      if (Date.now() > deadline) throw silent(dataDir, running, failure);
    }
    await delay(RETRY_MS);
  }
}

/** The gateway that has this directory, if one does. */
export function runningOn(dataDir: string): GatewayAddress | undefined {
  return isFree(dataDir) ? undefined : readAddress(dataDir);
}

/** Looked at before anything is sent: whoever has a dead gateway's port now must not be given its token. */
export function isFree(dataDir: string): boolean {
  const file = join(dataDir, "gateway.lock");
  if (!existsSync(file)) return true;
  const lock = takeLock(file);
  lock?.release();
  return lock !== undefined;
}

function silent(dataDir: string, running: GatewayAddress | undefined, failure: Error | undefined) {
  if (!running || readHolder(dataDir)) return heldByCommand(dataDir);
  const { pid, url } = running;
  return cliError(
    { kind: "gateway.silent", data_dir: dataDir, pid },
    `The gateway of ${dataDir} (process ${pid}, ${url}) does not answer. ${failure?.message ?? ""} Stop that process, then try again.`,
  );
}
