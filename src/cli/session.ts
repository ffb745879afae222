import type { Client } from "../client/node.js";
import type { Workspace } from "../protocol/index.js";
import { reachGateway } from "./connect/reach.js";
import type { GatewayOptions, WorkspaceOptions } from "./options.js";
import { chooseWorkspace, findWorkspace, listWorkspaces } from "./workspace-choice.js";

/** A command's connection to its gateway. */
export interface Session {
  readonly client: Client;
  /** Calls the gateway. */
  readonly call: Client["call"];
  /** The workspace the command works in. */
  workspace(): Promise<Workspace>;
  /** The one that `--workspace` names; undefined when a thread's id says it all. */
  namedWorkspace(): Promise<Workspace | undefined>;
}

/** Connects, does the work, and leaves: a private gateway is stopped whatever happens. */
export async function withSession<T>(
  options: GatewayOptions & WorkspaceOptions,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const link = await reachGateway(options);
  const { client } = link;
  const named = async () =>
    options.workspace === undefined
      ? undefined
      : findWorkspace(await listWorkspaces(client), options.workspace);
  try {
    return await work({
      client,
      call: client.call.bind(client) as Client["call"],
      workspace: async () => (await named()) ?? chooseWorkspace(await listWorkspaces(client)),
      namedWorkspace: named,
    });
  } finally {
    await link.close();
  }
}
