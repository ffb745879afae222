import { paint, print, printJson } from "../../output.js";
import { withSession } from "../../session.js";
import { chosenKinds, type TrustOptions } from "./kinds.js";

/** Takes back trust, also in what a file said once and may say again. It takes nothing away, so nobody is asked. */
export async function revokeTrust(options: TrustOptions): Promise<void> {
  const revoked = chosenKinds(options);
  const workspace = await withSession(options, async ({ workspace: chosen, call }) => {
    const found = await chosen();
    for (const kind of revoked) await call("workspace/trust", { workspace_id: found.id, kind, revoke: true });
    return found;
  });
  if (options.json) return printJson({ workspace_id: workspace.id, revoked });
  print(`Nothing of ${paint.bold(workspace.name)} is trusted any more${only(options)}.`);
}

function only({ kind }: TrustOptions): string {
  if (kind === undefined) return "";
  return { hooks: " of its worktree hooks", config: " of its heddle.config.json", mcp: " of its .mcp.json" }[
    kind
  ];
}
