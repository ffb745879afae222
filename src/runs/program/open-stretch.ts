import type { FileDiff, PromptMessage } from "../../providers/index.js";
import { UNKNOWN } from "../call-tools.js";
import type { RunsDeps } from "../deps.js";
import type { EndedCall, RunEvent } from "../fold/events.js";
import { type ActiveRun, asking } from "../fold/state.js";
import { messageAt } from "../restore.js";
import { UNALLOWED } from "../settle.js";
import { type Call, resultOf, type Stretch, type WorkedResult } from "./stretch.js";

interface Left {
  readonly active: ActiveRun;
  readonly events: readonly RunEvent[];
  readonly intent_id: string;
  /** What it had said meanwhile. */
  readonly content: PromptMessage["content"];
}

/** The stretch in which a program was when its gateway was killed; undefined when no call of it is known. */
export async function openStretch(
  deps: RunsDeps,
  { active, events, intent_id, content }: Left,
): Promise<Stretch | undefined> {
  const since = events.slice(events.findLastIndex(({ type }) => type === "program.worked") + 1);
  const came = since.filter((event) => event.type === "effect.progress" && event.intent_id === intent_id);
  const refs = came.flatMap((event) => (event.type === "effect.progress" ? (event.begun ?? []) : []));
  if (refs.length === 0) return undefined;
  const ended = new Map(
    came
      .flatMap((event) => (event.type === "effect.progress" ? (event.ended ?? []) : []))
      .map((one) => [one.call_id, one]),
  );
  const begun = await Promise.all(refs.map((ref) => messageAt(deps, ref)));
  const calls = begun.flatMap((message) => message?.tool_calls ?? []);
  const results = calls.map((call) => {
    const known = ended.get(call.id);
    return known ? endedResult(deps, known) : leftResult(active, call);
  });
  return { answer: { role: "assistant", content, tool_calls: calls }, results: await Promise.all(results) };
}

async function endedResult(deps: RunsDeps, { message: ref, ...call }: EndedCall): Promise<WorkedResult> {
  const message = (await messageAt(deps, ref)) as PromptMessage;
  const diffs = call.diffs ? await deps.values.load<FileDiff[]>(call.diffs) : undefined;
  return { message, call, ...(diffs && { diffs }) };
}

function leftResult(active: ActiveRun, call: Call): WorkedResult {
  const isAsked = asking(active).some((one) => one.call?.call_id === call.id);
  const output = isAsked ? UNALLOWED : UNKNOWN;
  return resultOf(call, { type: "tool_result", id: call.id, output, failed: true });
}
