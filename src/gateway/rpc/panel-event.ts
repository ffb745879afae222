import type { ParsedParams, Result } from "../../protocol/index.js";
import { type Store, workspaces } from "../../store/index.js";
import type { Panels } from "../../tools/index.js";
import { workspaceNotFound } from "../../tree/index.js";
import { gatewayError } from "./errors.js";
import type { Peer } from "./peer.js";

/** Takes what a window shows. Without a connection nobody would know when it is gone. */
export async function panelEvent(
  { panels, store }: { readonly panels: Panels; readonly store: Store },
  params: ParsedParams<"panel/event">,
  peer: Peer,
): Promise<Result<"panel/event">> {
  if (!peer.subscriptions) {
    throw gatewayError(
      { kind: "request.needs_connection", method: "panel/event" },
      "Panels are forgotten when their connection ends, so they need one that stays open: use the WebSocket at /rpc, or stdio.",
    );
  }
  const { workspace_id } = params;
  if (workspace_id !== undefined && !(await store.read(() => workspaces.findWorkspace(workspace_id)))) {
    throw workspaceNotFound(workspace_id);
  }
  panels.update(peer, params);
  return { accepted: true };
}
