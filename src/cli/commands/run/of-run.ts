import type { Run } from "../../../protocol/index.js";
import { cliError, UsageError } from "../../errors.js";
import type { Session } from "../../session.js";
import { onThread } from "../thread/of-thread.js";

export interface RunChoice {
  /** A run's or a thread's id, or with `--thread` a run's number. */
  readonly given?: string | undefined;
  readonly thread?: string | undefined;
}

/** The run that is meant: the one that was named, else the latest of its thread, else the latest of the workspace. */
export async function findRun(session: Session, { given, thread }: RunChoice): Promise<Run> {
  if (thread !== undefined) {
    const place = await placeOf(session, thread);
    if (given === undefined) return latestRun(session, place);
    return /^\d+$/.test(given) ? runByNumber(session, place, Number(given)) : runById(session, given);
  }
  if (given === undefined) return latestRun(session, { workspace_id: (await session.workspace()).id });
  if (/^\d+$/.test(given)) {
    throw new UsageError(`${given} is the number of a run in every thread: say which with --thread ID`);
  }
  const run = await runOrNone(session, given);
  return run ?? latestRun(session, await placeOf(session, given));
}

/** Which runs there are to look at. */
export interface Place {
  readonly workspace_id: string;
  readonly thread_id?: string;
}

/** The thread of an id, with its workspace. */
export async function placeOf(session: Session, thread_id: string): Promise<Place> {
  const { thread } = await onThread(session, thread_id, (named) => session.call("thread/get", named));
  return { workspace_id: thread.workspace_id, thread_id };
}

/** The run of an id; undefined for what looks like the id of a thread, or is one. */
export async function runOrNone(session: Session, id: string): Promise<Run | undefined> {
  if (!id.startsWith("run_")) return undefined;
  return runById(session, id);
}

export async function runById(session: Session, run_id: string): Promise<Run> {
  const workspace = await session.namedWorkspace();
  const named = workspace ? { run_id, workspace_id: workspace.id } : { run_id };
  return (await session.call("run/get", named)).run;
}

const PAGE = 500;

/** Runs, the newest first. */
export async function* walkRuns({ call }: Session, place: Place, page = PAGE): AsyncGenerator<Run> {
  let cursor: string | undefined;
  do {
    const { data, next_cursor } = await call("run/list", {
      ...place,
      order: "created",
      limit: page,
      ...(cursor !== undefined && { cursor }),
    });
    yield* data;
    cursor = next_cursor;
  } while (cursor !== undefined);
}

async function latestRun(session: Session, place: Place): Promise<Run> {
  for await (const run of walkRuns(session, place, 1)) return run;
  const { thread_id } = place;
  throw cliError(
    { kind: "run.none", ...(thread_id !== undefined && { thread_id }) },
    thread_id === undefined
      ? "Nothing was asked in this workspace yet: heddle send TEXT"
      : `Nothing was asked in this thread yet: heddle send --thread ${thread_id} TEXT`,
  );
}

async function runByNumber(session: Session, place: Place, number: number): Promise<Run> {
  for await (const run of walkRuns(session, place)) {
    if (run.number === number) return run;
  }
  const { thread_id } = place;
  throw cliError(
    { kind: "run.none", number, ...(thread_id !== undefined && { thread_id }) },
    `This thread has no run ${number}. \`heddle runs --thread ${thread_id}\` lists the ones it has.`,
  );
}
