import type { Client } from "../client/node.js";
import type { Workspace } from "../protocol/index.js";
import type { GatewayPlace } from "./connect/link.js";
import { reachGateway } from "./connect/reach.js";
import type { GatewayOptions, WorkspaceOptions } from "./options.js";
import { chooseWorkspace, findWorkspace, listWorkspaces } from "./workspace-choice.js";

/** A command's connection to its gateway. */
export interface Session {
  readonly client: Client;
  readonly place: GatewayPlace;
  /** Calls the gateway. */
  readonly call: Client["call"];
  /** The workspace the command works in. */
  workspace(): Promise<Workspace>;
  /** The one that `--workspace` names; undefined when a thread's id says it all. */
  namedWorkspace(): Promise<Workspace | undefined>;
}

/** For work that takes as long as it takes: a lost connection still ends it. */
export const NO_HURRY = { timeoutMs: 24 * 3600 * 1000 };

export interface SessionManner {
  /** The work goes on over a lost connection, and decides itself what a signal means. */
  readonly staying?: boolean;
}

/** Connects, does the work, and leaves: a private gateway is stopped whatever happens. */
export async function withSession<T>(
  options: GatewayOptions & WorkspaceOptions,
  work: (session: Session) => Promise<T>,
  { staying = false }: SessionManner = {},
): Promise<T> {
  const link = await reachGateway(options, { lasting: staying });
  const { client, place } = link;
  const leaving = place === "private" && !staying ? leaveOnSignal(() => link.close()) : undefined;
  const named = async () =>
    options.workspace === undefined
      ? undefined
      : findWorkspace(await listWorkspaces(client), options.workspace);
  try {
    return await work({
      client,
      place,
      call: client.call.bind(client) as Client["call"],
      workspace: async () => (await named()) ?? chooseWorkspace(await listWorkspaces(client)),
      namedWorkspace: named,
    });
  } finally {
    await (leaving ? leaving() : link.close());
  }
}

/**
 * A private gateway ends in order on Ctrl-C too: what it has started (git, a worktree's set-up) would outlive it. Answers
 * how to leave without a signal; after one, that waits for the end, so that nothing is said about the calls it cut short.
 */
function leaveOnSignal(close: () => Promise<void>): () => Promise<void> {
  let ending: Promise<void> | undefined;
  const listen = (signal: NodeJS.Signals) => {
    const end = () => {
      ending ??= close().then(
        () => endBy(signal),
        () => endBy(signal),
      );
    };
    process.once(signal, end);
    return () => process.off(signal, end);
  };
  const stops = [listen("SIGINT"), listen("SIGTERM")];
  const endBy = (signal: NodeJS.Signals) => {
    for (const stop of stops) stop();
    process.kill(process.pid, signal);
    return new Promise<void>(() => {});
  };
  return async () => {
    if (ending) return ending;
    for (const stop of stops) stop();
    await close();
  };
}
