import { cliError } from "../../errors.js";
import type { WorkspaceOptions } from "../../options.js";
import { note, paint, paintErr, print, printJson, visible } from "../../output.js";
import { NO_HURRY, withSession } from "../../session.js";
import { type PackTarget, packPlace, snapshotText } from "./of-pack.js";

interface ApplyOptions extends WorkspaceOptions, PackTarget {
  readonly whenIdle?: boolean;
}

/** Puts what was read to use, from the next run on. */
export async function apply(pack: string | undefined, options: ApplyOptions): Promise<void> {
  const result = await withSession(options, async (session) =>
    session.call(
      "prompt/apply",
      {
        ...(await packPlace(session, options)),
        ...(pack !== undefined && { pack }),
        ...(options.whenIdle && { mode: "when_idle" as const }),
      },
      NO_HURRY,
    ),
  );
  const { applied, waiting, active, pack: name } = result;
  // Applying twice is no failure; applying what was never read is one.
  if (!applied && !waiting && !active) throw nothingPending(name);
  if (options.json) return printJson(result);
  const shown = paint.bold(visible(name));
  if (waiting) return print(`${shown} will be in use when the run under way has ended`);
  const what = applied ? "In use from the next run on" : "Nothing new to apply; in use";
  print(`${what}: ${shown}${active ? `  ${paint.dim(snapshotText(active))}` : ""}`);
  if (options.thread === undefined)
    note(
      paintErr.dim(
        `By the threads that have it: heddle prompts sync ${visible(name)} --thread ID gives it to one.`,
      ),
    );
}

function nothingPending(pack: string): Error {
  return cliError(
    { kind: "prompt.nothing_pending", pack },
    `The prompt pack ${visible(pack)} was not read yet: heddle prompts sync ${visible(pack)}`,
  );
}
