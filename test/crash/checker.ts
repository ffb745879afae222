import { setTimeout as sleep } from "node:timers/promises";
import { checkDocs } from "./check-docs.js";
import { checkFiles } from "./check-files.js";
import { checkDatabase, checkFormat, checkLeftOver, checkProcesses } from "./check-left.js";
import { checkThreads, couldNotBeWritten } from "./check-threads.js";
import { checkTree } from "./check-tree.js";
import { checkWork } from "./check-work.js";
import type { Ledger } from "./ledger.js";
import type { Line } from "./line.js";
import type { Listener } from "./listener.js";
import { sendRun } from "./operations/runs.js";
import { State } from "./state.js";
import type { World } from "./world.js";

/** Longer than anything that a client asks for takes, on a machine that is busy. */
const REST_WITHIN_MS = 60_000;
const SETTLE_WITHIN_MS = 8_000;
const LOOK_EVERY_MS = 200;
/** Drafts and temporary files are removed by whoever finds them older than five seconds. */
const SWEEP_AFTER_MS = 5_500;

export class Broken extends Error {
  constructor(readonly problems: readonly string[]) {
    super(problems.join("\n"));
  }
}

/** What was sent about something, for a report. */
function historyOf(ledger: Ledger, problems: readonly string[]): string[] {
  const ids = problems
    .slice(0, 3)
    .flatMap((problem) => problem.match(/\b(thr|run|fld)_\w+|"c\d+\.\d+/g) ?? []);
  const calls = ledger.history.filter(({ call }) => ids.some((id) => call.includes(id)));
  return calls.slice(-30).map(({ at, client, call, became }) => `  ${at} ${client} ${call}: ${became}`);
}

export interface Checked {
  readonly world: World;
  readonly ledger: Ledger;
  readonly listener: Listener;
  /** How long what is under way may take. */
  readonly restWithinMs?: number;
}

/** What must hold the moment a gateway has started: everything that is not under way. */
export async function checkStarted({ world, ledger, listener }: Checked): Promise<void> {
  const line = await world.line();
  const state = await adopt(line, world, ledger);
  report(ledger, [
    ...listener.problems.splice(0),
    ...checkTree(ledger, state),
    ...(await checkDocs(ledger, state)),
  ]);
  line.close();
}

/** What must hold when everything has come to its end. */
export async function checkAtRest({ world, ledger, listener, restWithinMs }: Checked): Promise<void> {
  const line = await world.line();
  await adopt(line, world, ledger);
  const acting = { workspace_id: world.workspace_id, ledger, line };
  for (const known of ledger.clients) await sendRun({ ...acting, known });
  // A result that comes back begins a run where there was none: what is missing for a moment is looked at again.
  for (const until = performance.now() + (restWithinMs ?? SETTLE_WITHIN_MS); ; await sleep(LOOK_EVERY_MS)) {
    report(ledger, await untilRest(line, world.workspace_id, restWithinMs ?? REST_WITHIN_MS));
    await listener.settled();
    const problems = await problemsAtRest(await State.read(line, world.workspace_id), {
      world,
      ledger,
      listener,
    });
    if (problems.length === 0) break;
    if (performance.now() > until) report(ledger, problems);
  }
  report(ledger, await checkProcesses(world, restWithinMs));
  line.close();
}

async function problemsAtRest(state: State, { world, ledger, listener }: Checked): Promise<string[]> {
  const busy = state.tree.threads.filter(({ status }) => status !== "idle");
  return [
    ...busy.map(({ id, status }) => `stuck: thread ${id} says ${status}, and nothing is under way in it`),
    ...checkTree(ledger, state),
    ...(await checkDocs(ledger, state)),
    ...(await checkThreads(ledger, state)),
    ...(await checkWork(world, ledger, state)),
    ...(await checkFiles(world, ledger, state)),
    ...listener.check(ledger, await unwrittenRuns(state, ledger)),
  ];
}

/** What must hold in the end: after one more restart all of it is proven once more, and what is on disk is whole. */
export async function checkFinally(given: Checked): Promise<void> {
  const { world, ledger, listener } = given;
  await world.kill();
  world.control({ shift_ms: 0 });
  await world.start();
  await listener.follow(world);
  ledger.proven.clear();
  await checkAtRest(given);
  await world.kill();
  report(ledger, [
    ...(await checkProcesses(world)),
    ...checkDatabase(world),
    ...checkFormat(world, "validate"),
  ]);
}

/** Nothing is left over once it was repaired; no gateway runs any more. */
export async function checkRepaired({ world, ledger }: Checked): Promise<void> {
  await sleep(SWEEP_AFTER_MS);
  report(ledger, [...checkFormat(world, "repair"), ...checkLeftOver(world, ledger)]);
}

/** What nobody knew after the kill is known now. */
async function adopt(line: Line, world: World, ledger: Ledger): Promise<State> {
  const { workspace_id } = world;
  // A gateway that has just started may still be reading what stands in files and not in the store.
  if (ledger.clients.some(({ doubts }) => doubts.length > 0))
    await line.call("workspace/reindex", { workspace_id });
  const state = await State.read(line, world.workspace_id);
  for (const known of ledger.clients) {
    for (const doubt of known.doubts.splice(0)) await doubt(state);
  }
  return state;
}

async function unwrittenRuns(state: State, ledger: Ledger): Promise<Set<string>> {
  const runs = [...(await state.runs()).values()];
  return new Set(runs.filter((run) => couldNotBeWritten(run, ledger.mayFail)).map(({ id }) => id));
}

/** Waits until nothing is under way. Whoever waits for somebody's word gets one. */
async function untilRest(line: Line, workspace_id: string, withinMs: number): Promise<string[]> {
  const status = ["queued" as const, "running" as const, "waiting" as const];
  for (const until = performance.now() + withinMs; ; ) {
    const { data } = await line.call("run/list", { workspace_id, status });
    if (data.length === 0) return [];
    for (const { run_id, tool_call_id } of data.flatMap(({ approvals = [] }) => approvals))
      await line.call("run/approve", { run_id, tool_call_id, decision: "allow" }).catch(() => {});
    if (performance.now() > until)
      return data.map(
        ({ id, status: is, thread_id }) => `stuck: run ${id} of thread ${thread_id} is ${is}, and never ends`,
      );
    await sleep(50);
  }
}

function report(ledger: Ledger, found: readonly string[]): void {
  const problems = [...ledger.problems.splice(0), ...found];
  if (problems.length > 0) throw new Broken([...problems.slice(0, 20), ...historyOf(ledger, problems)]);
}
