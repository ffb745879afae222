import type { Result, RunUsage } from "../../../src/protocol/index.js";

type Events = Result<"run/journal">["data"];

/** What the journal has of one step. */
export interface StepRecord {
  /** When it was put together, unix seconds. */
  readonly at: number;
  usage?: RunUsage;
  /** What hooks had to say to people. */
  readonly diagnostics: readonly Diagnostic[];
}

export interface Diagnostic {
  readonly hook_id: string;
  readonly level: string;
  readonly message: string;
}

export interface RunRecord {
  readonly steps: ReadonlyMap<number, StepRecord>;
  /** The number of its first event; events are counted per thread. */
  readonly first: number | undefined;
}

export function recordOf(events: Events): RunRecord {
  return { steps: stepsIn(events), first: events[0]?.seq };
}

/** By step. A provider's figures come with the receipt of the step's call of the model. */
function stepsIn(events: Events): ReadonlyMap<number, StepRecord> {
  const steps = new Map<number, StepRecord>();
  const asked = new Map<unknown, StepRecord>();
  let last: StepRecord | undefined;
  for (const event of events) {
    if (event.type === "prompt.compiled") {
      const diagnostics = (event.diagnostics ?? []) as readonly Diagnostic[];
      last = { at: Math.floor(event.at / 1000), diagnostics };
      steps.set(Number(event.step), last);
    }
    if (event.kind === "llm.generate" && last) asked.set(event.intent_id, last);
    const record = event.type === "effect.receipt" ? asked.get(event.intent_id) : undefined;
    if (record && event.usage) record.usage = event.usage as RunUsage;
  }
  return steps;
}
