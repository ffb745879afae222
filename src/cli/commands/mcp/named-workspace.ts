import type { GatewayAddress } from "../../../app/index.js";
import type { Workspace } from "../../../protocol/index.js";
import { connectTo } from "../../connect/reach.js";
import { findWorkspace, listWorkspaces } from "../../workspace-choice.js";

/**
 * The id of the workspace that was named, or the refusal that other commands give. Undefined where the gateway can't be asked:
 * it does not answer now, or the token is a thread's, which knows its own.
 */
export async function namedWorkspace(
  place: Omit<GatewayAddress, "pid">,
  given: string,
): Promise<string | undefined> {
  const all = await askFor(place).catch(() => undefined);
  return all && findWorkspace(all, given).id;
}

async function askFor(place: Omit<GatewayAddress, "pid">): Promise<Workspace[]> {
  const link = await connectTo(place);
  try {
    return await listWorkspaces(link.client);
  } finally {
    await link.close();
  }
}
