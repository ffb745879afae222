import type { Run } from "../../../protocol/index.js";
import { UsageError } from "../../errors.js";
import type { WorkspaceOptions } from "../../options.js";
import { count, paint, print, printJson } from "../../output.js";
import { progressLine } from "../../progress.js";
import { EXIT_FAILED } from "../../report.js";
import { NO_HURRY, type Session, withSession } from "../../session.js";
import { findRun, type Place, placeOf, runOrNone, walkRuns } from "./of-run.js";
import { differenceLines, type Replayed, replayLine, replayLines } from "./replay-text.js";

interface ReplayOptions extends WorkspaceOptions {
  readonly thread?: string;
  readonly all?: boolean;
}

/** Proves one run, or every run of a thread or of the workspace. */
export async function replay(given: string | undefined, options: ReplayOptions): Promise<void> {
  if (options.all && given !== undefined && options.thread !== undefined)
    throw new UsageError("--all with --thread takes every run of that thread: name no run");
  const replayed = await withSession(options, async (session) => {
    const place = await several(session, given, options);
    if (place) return replayAll(session, place, options);
    return replayOne(session, await findRun(session, { given, thread: options.thread }));
  });
  const all = Array.isArray(replayed) ? replayed : [replayed];
  const verified = all.every((each) => each.replay?.verified === true);
  if (!verified) process.exitCode = EXIT_FAILED;
  if (options.json) return printJson(Array.isArray(replayed) ? { data: replayed, verified } : replayed);
  if (!Array.isArray(replayed)) return print(...replayLines(replayed));
  tellAll(all);
}

/** Where every run is meant: in a thread that was named, or with `--all`. */
async function several(
  session: Session,
  given: string | undefined,
  { thread, all }: ReplayOptions,
): Promise<Place | undefined> {
  if (thread !== undefined) return all ? placeOf(session, thread) : undefined;
  if (given === undefined) return all ? { workspace_id: (await session.workspace()).id } : undefined;
  const run = /^\d+$/.test(given) ? undefined : await runOrNone(session, given);
  if (run) return all ? { workspace_id: run.workspace_id, thread_id: run.thread_id } : undefined;
  return /^\d+$/.test(given) ? undefined : placeOf(session, given);
}

async function replayOne({ call }: Session, run: Run): Promise<Replayed> {
  const { id: run_id, workspace_id } = run;
  return { run, replay: await call("run/replay", { run_id, workspace_id }, NO_HURRY) };
}

/** One that can't be read keeps no other from being proved. */
async function replayAll(session: Session, place: Place, options: ReplayOptions): Promise<Replayed[]> {
  const runs: Run[] = [];
  for await (const run of walkRuns(session, place)) runs.push(run);
  const progress = progressLine({ json: options.json === true });
  const replayed: Replayed[] = [];
  try {
    for (const run of runs.reverse()) {
      progress.show(`replaying run ${replayed.length + 1} of ${runs.length}`);
      replayed.push(await replayOne(session, run).catch((error) => refused(run, error)));
    }
  } finally {
    progress.end();
  }
  return replayed;
}

function refused(run: Run, error: Error & { kind?: string }): Replayed {
  if (error.name !== "CallError") throw error;
  return { run, error: { kind: error.kind ?? "internal", message: error.message } };
}

function tellAll(all: readonly Replayed[]): void {
  for (const each of all) print(replayLine(each), ...differenceLines(each));
  const proved = all.filter(({ replay }) => replay?.verified).length;
  if (all.length === 0) print(paint.dim("There are no runs yet."));
  else print(`${count(all.length, "run")}, ${proved} verified, ${all.length - proved} not`);
}
