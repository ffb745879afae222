import type { PackState } from "../../../protocol/index.js";
import type { WorkspaceOptions } from "../../options.js";
import { paint, print, printJson, visible } from "../../output.js";
import { withSession } from "../../session.js";
import { type PackTarget, packPlace, snapshotText } from "./of-pack.js";

type StatusOptions = WorkspaceOptions & PackTarget;

/** What is in use of each pack, what waits, and why the last reading failed. */
export async function status(pack: string | undefined, options: StatusOptions): Promise<void> {
  const result = await withSession(options, async (session) =>
    session.call("prompt/status", {
      ...(await packPlace(session, options)),
      ...(pack !== undefined && { pack }),
    }),
  );
  if (options.json) return printJson(result);
  if (result.data.length === 0)
    return print(paint.dim("No prompt pack was read yet: heddle prompts packs lists them, sync reads one."));
  for (const state of result.data) print(...stateLines(state));
}

function stateLines({ pack, active, pending, apply, error }: PackState): string[] {
  const waits =
    apply === "when_idle" ? paint.yellow("  will be applied when the run under way has ended") : "";
  return [
    paint.bold(visible(pack)),
    `  active   ${active ? snapshotText(active) : paint.dim("none")}`,
    ...(pending ? [`  pending  ${snapshotText(pending)}${waits}`] : []),
    ...(error ? [`  ${paint.red("failed")}   ${visible(error.stage)}: ${visible(error.reason)}`] : []),
  ];
}
