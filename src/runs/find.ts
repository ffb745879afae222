import { type JournalEvent, parseEvent, readEvents, readHead } from "../journal/index.js";
import { type RunRow, runs, type Unit } from "../store/index.js";
import type { RunsDeps } from "./deps.js";
import { runNotFound, runsError } from "./errors.js";
import type { EffectReceipt, ProgramHanded, PromptCompiled, RunEvent, RunRequested } from "./fold/events.js";

export interface RunRef {
  readonly run_id: string;
  readonly workspace_id?: string | undefined;
}

/** A run by its id; one of another workspace than was named is not there. */
export function* requireRun({ run_id, workspace_id }: RunRef): Unit<RunRow> {
  const row = yield* runs.findRun(run_id);
  if (!row || (workspace_id !== undefined && row.workspace_id !== workspace_id)) throw runNotFound(run_id);
  return row;
}

export async function findRun(deps: Pick<RunsDeps, "store">, ref: RunRef): Promise<RunRow> {
  return deps.store.read(() => requireRun(ref));
}

/** Its part of the thread's journal, without what others did meanwhile. */
export function* eventsOfRun(row: RunRow): Unit<JournalEvent[]> {
  const to = row.last_seq ?? (yield* readHead(row)).seq;
  const events = (yield* readEvents(row, row.first_seq, to)).map(parseEvent);
  return events.filter(({ run_id }) => run_id === row.id);
}

/** How it was asked for; one that was edited while it waited, as it was edited last. */
export function* requestOf(row: RunRow): Unit<RunRequested> {
  return (yield* eventsOfRun(row)).findLast(
    ({ type }) => type === "run.requested",
  ) as unknown as RunRequested;
}

/** One step of a run: how it was compiled, and what came of it so far. */
export interface RecordedStep {
  readonly compiled: PromptCompiled;
  readonly receipt?: EffectReceipt;
  /** What a program was handed over for it. */
  readonly handed?: ProgramHanded;
}

/** The step with a number; by default the last. */
export function* requireStep(row: RunRow, step: number | undefined): Unit<RecordedStep> {
  const steps = stepsIn((yield* eventsOfRun(row)) as unknown as RunEvent[]);
  const found = step === undefined ? steps.at(-1) : steps[step - 1];
  if (found) return found;
  throw runsError(
    { kind: "run.no_step", run_id: row.id, step: step ?? 1, steps: steps.length },
    steps.length === 0
      ? `Run ${row.number} has not asked a model anything yet.`
      : `Run ${row.number} has ${steps.length} steps; there is no step ${step}.`,
  );
}

export function stepsIn(events: readonly RunEvent[]): RecordedStep[] {
  const steps: {
    compiled: PromptCompiled;
    intent?: string;
    receipt?: EffectReceipt;
    handed?: ProgramHanded;
  }[] = [];
  for (const event of events) {
    const last = steps.at(-1);
    if (event.type === "prompt.compiled") steps.push({ compiled: event });
    else if (event.type === "effect.requested" && event.kind === "llm.generate" && last)
      last.intent = event.intent_id;
    else if (event.type === "program.handed" && last) last.handed = event;
    else if (event.type === "effect.receipt" && last && event.intent_id === last.intent) last.receipt = event;
  }
  return steps;
}
