import type { Message } from "../atsf/index.js";
import { HeddleError } from "../base/index.js";
import { encodeMessage, type FrozenConfig } from "../prompts/index.js";
import type { PromptMessage } from "../providers/index.js";
import { recordMessages } from "../threads/index.js";
import { presentHistory } from "./compile-next.js";
import type { RunsDeps } from "./deps.js";
import type { EffectReceipt, RunEnd, RunEnded, RunError, RunEvent } from "./fold/events.js";
import { planEvents } from "./fold/plan.js";
import { type ActiveRun, asking } from "./fold/state.js";
import { inputOf, steeringOf } from "./input.js";
import { adoptPlan, commitEvents, writePlan } from "./session/commit.js";
import { addHistory, untold } from "./session/history.js";
import type { Ending, KeptBlob } from "./session/parts.js";
import type { ThreadSession } from "./session/session.js";

const ENDS: Record<EffectReceipt["status"], RunEnd> = {
  ok: "completed",
  failed: "failed",
  cancelled: "cancelled",
  interrupted: "interrupted",
};

const STOP_REASONS: Record<RunEnd, string | undefined> = {
  completed: undefined,
  failed: "error",
  cancelled: "cancelled",
  interrupted: "interrupted",
};

/** Ends the run under way: what it was asked and said goes to the log first, then its end is committed. */
export async function endRun(deps: RunsDeps, session: ThreadSession, given: Ending): Promise<void> {
  const active = session.active as ActiveRun;
  // However often it is tried, it ends as it was to end the first time.
  session.ending ??= session.unloggable
    ? { ...given, end: "failed", error: errorOf(deps, session.unloggable) }
    : given;
  const { ending } = session;
  const end = ending.end ?? ENDS[ending.receipt?.status ?? "ok"];
  const error = ending.error ?? ending.receipt?.error ?? active.error;
  const events: RunEvent[] = [
    ...(ending.receipt ? [ending.receipt] : []),
    endEvent(deps, active.run_id, end, error),
  ];
  const { blobs = [], thread } = ending;
  closeCalls(session, active);
  try {
    session.lastMessages ??= await lastMessages(deps, session, end);
    const messages = session.lastMessages;
    if (messages.length > 0 || session.toTell.length > 0)
      await recordEnd(deps, session, { events, blobs, messages, thread });
    else await commitEvents(deps, session, events, { blobs, thread });
  } catch (failure) {
    // Files that can't be written must not leave a run that never ends; what was said stays in the journal.
    const told = errorOf(deps, failure);
    const failed = endEvent(deps, active.run_id, end === "completed" ? "failed" : end, error ?? told);
    const kept = await heldByJournal(deps, session, blobs);
    await commitEvents(deps, session, [...(ending.receipt ? [ending.receipt] : []), failed], { blobs: kept });
  }
}

/** What was to be held by the history, which it does not get into now. */
async function heldByJournal(
  deps: RunsDeps,
  { active, toTell }: ThreadSession,
  blobs: readonly KeptBlob[],
): Promise<KeptBlob[]> {
  const { input } = active as ActiveRun;
  const asked = (await deps.texts.load([input]).catch(() => undefined))?.get(input);
  const all = [...blobs, ...toTell.map(({ encoded }) => encoded)].map(({ ref, text }) => ({ ref, text }));
  return asked ? [...all, { ref: input, text: asked.bytes }] : all;
}

/** A call that nobody answered would make the next request one that no API takes. */
function closeCalls(session: ThreadSession, active: ActiveRun): void {
  const { agent_message_id } = active;
  const unasked = new Set(asking(active).map(({ call }) => call?.call_id));
  const told = session.toTell.map(({ encoded }) => encoded.message);
  const calls = told.find(({ tool_calls }) => tool_calls)?.tool_calls ?? [];
  const answered = new Set(told.map(({ tool_call_id }) => tool_call_id));
  for (const { id: tool_call_id, name } of calls) {
    if (answered.has(tool_call_id)) continue;
    const message: PromptMessage = {
      role: "tool",
      tool_call_id,
      name,
      content: unasked.has(tool_call_id) ? UNALLOWED : UNANSWERED,
    };
    const answer = session.toolAnswers.get(tool_call_id);
    if (!answer) session.transcript.toolAnswered(tool_call_id, message, { status: "cancelled" });
    session.toTell.push(answer ?? { encoded: encodeMessage(message), message_id: agent_message_id });
  }
}

export const UNALLOWED = "The run ended before somebody allowed this call. It was not made.";
const UNANSWERED =
  "The run ended before this call was answered. It may or may not have had its effect. Find out before you call it again.";

function endEvent(deps: RunsDeps, run_id: string, end: RunEnd, error: RunError | undefined): RunEnded {
  const told = end === "completed" || end === "cancelled" ? undefined : error;
  return { type: `run.${end}`, at: deps.clock.now(), run_id, ...(told && { error: told }) };
}

/** What is still to be written: the question if it never got that far, the answer, and what was steered too late. */
async function lastMessages(deps: RunsDeps, session: ThreadSession, end: RunEnd): Promise<Message[]> {
  const active = session.active as ActiveRun;
  const asked = active.step === 0 || session.unlogged ? [(await inputOf(deps, session, active)).message] : [];
  const config = session.prepared?.config ?? (await deps.values.load<FrozenConfig>(active.config));
  const stopReason = STOP_REASONS[end];
  const said = session.transcript.message({
    id: active.agent_message_id,
    runId: active.run_id,
    at: deps.clock.now(),
    model: config.model,
    ...(stopReason !== undefined && { stopReason }),
  });
  const steered = await Promise.all(active.steered.map((one) => steeringOf(deps, session, one)));
  return [...asked, ...(said ? [said] : []), ...steered.map(({ message }) => message)];
}

async function recordEnd(
  deps: RunsDeps,
  session: ThreadSession,
  {
    events,
    blobs,
    messages,
    thread,
  }: { events: RunEvent[]; blobs: readonly KeptBlob[]; messages: readonly Message[] } & Pick<
    Ending,
    "thread"
  >,
): Promise<void> {
  const active = session.active as ActiveRun;
  const perhapsThere = session.perhapsWritten;
  session.perhapsWritten = true;
  let adopt = () => {};
  await recordMessages(deps, session.key, {
    messages,
    perhapsThere,
    after: session.durable,
    withIt: async ({ file, located }) => {
      const history = await presentHistory(deps, session, located.row);
      const own = new Map([[active.agent_message_id, []]]);
      const found = await untold(deps.store, session.key, { file, known: history, own });
      const told = addHistory(history, [...session.toTell, ...found.messages], found.covered);
      const plan = planEvents(session.position, session.key, events);
      const extras = { blobs, told, thread };
      return function* () {
        const withIt = yield* writePlan(deps, session, plan, extras);
        adopt = () => adoptPlan(deps, session, plan, extras);
        return withIt;
      };
    },
  });
  adopt();
  for (const { id } of messages) session.inputs.delete(id);
}

/** What a person is told of a failure. What nobody foresaw is logged, and only that it happened is told. */
export function errorOf(deps: RunsDeps, error: unknown): RunError {
  if (error instanceof HeddleError) return { code: error.kind, message: error.message };
  deps.report(error, "a run failed");
  return { code: "internal", message: "Something went wrong in the gateway. Its log says more." };
}
