import { cliError } from "../../errors.js";
import type { WorkspaceOptions } from "../../options.js";
import { note, paint, paintErr, print, printJson, visible } from "../../output.js";
import { NO_HURRY, withSession } from "../../session.js";
import { type PackTarget, packPlace, snapshotText } from "./of-pack.js";

interface SyncOptions extends WorkspaceOptions, PackTarget {
  readonly version?: string;
}

/** Reads a pack. Nothing uses it until it is applied. */
export async function sync(pack: string | undefined, options: SyncOptions): Promise<void> {
  const { version } = options;
  const result = await withSession(options, async (session) =>
    session.call(
      "prompt/sync",
      {
        ...(await packPlace(session, options)),
        ...(pack !== undefined && { pack }),
        ...(version !== undefined && { version }),
      },
      NO_HURRY,
    ),
  );
  if (result.status === "failed") throw failed(result);
  if (options.json) return printJson(result);
  const { pending, active } = result;
  const taken = pending ?? active;
  const what = result.status === "unchanged" ? "Unchanged" : "Read";
  print(`${what}: ${paint.bold(visible(result.pack))}${taken ? `  ${paint.dim(snapshotText(taken))}` : ""}`);
  if (pending) note(paintErr.dim(`Put it to use: heddle prompts apply ${result.pack}`));
}

function failed({
  pack,
  error,
}: {
  pack: string;
  error?: { stage: string; reason: string } | undefined;
}): Error {
  const { stage = "unknown", reason = "It did not say why." } = error ?? {};
  return cliError(
    { kind: "prompt.sync_failed", pack, stage, reason },
    `The prompt pack ${visible(pack)} can't be used (${visible(stage)}): ${visible(reason)} What was in use stays in use.`,
  );
}
