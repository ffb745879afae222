import { encodeMessage } from "../prompts/index.js";
import type { FileDiff, PromptMessage } from "../providers/index.js";
import type { RunRow } from "../store/index.js";
import type { ToolDiff } from "./call-tools.js";
import type { RunsDeps } from "./deps.js";
import { eventsOfRun } from "./find.js";
import type { EffectReceipt, ProgramWorked, PromptCompiled, RunEvent } from "./fold/events.js";
import type { ActiveRun } from "./fold/state.js";
import { encodeStretch, type Stretch } from "./program/stretch.js";
import type { ThreadSession } from "./session/session.js";

/** Brings back from the journal what a run under way has said and done. Answers its events. */
export async function restoreRun(
  deps: RunsDeps,
  session: ThreadSession,
  active: ActiveRun,
): Promise<readonly RunEvent[]> {
  const row = session.position.rows.get(active.run_id) as RunRow;
  const events = (await deps.store.read(() => eventsOfRun(row))) as unknown as RunEvent[];
  const restoring = new Restoring(session, active.agent_message_id);
  for (const event of events) {
    if (event.type === "run.steered") restoring.steered = true;
    else if (event.type === "prompt.compiled") await restoreCompiled(deps, session, restoring, event);
    else if (event.type === "effect.requested") restoring.requested(event.intent_id, event.kind);
    else if (event.type === "effect.receipt") await restoreReceipt(deps, restoring, event);
    else if (event.type === "program.worked") restoring.worked(await stretchOf(deps, event));
  }
  return events;
}

async function restoreCompiled(
  deps: RunsDeps,
  session: ThreadSession,
  restoring: Restoring,
  { history, marker }: PromptCompiled,
): Promise<void> {
  restoring.compiled();
  session.turn = history.turn;
  session.marker = marker ? encodeMessage((await messageAt(deps, marker)) as PromptMessage) : undefined;
}

async function restoreReceipt(deps: RunsDeps, restoring: Restoring, receipt: EffectReceipt): Promise<void> {
  const { result, diff } = receipt;
  const changed = diff ? await deps.values.load<ToolDiff>(diff) : undefined;
  restoring.received(receipt, result ? await messageAt(deps, result) : undefined, changed);
}

export async function messageAt(deps: RunsDeps, ref: string): Promise<PromptMessage | undefined> {
  return (await deps.texts.load([ref])).get(ref)?.messages[0];
}

/** What a program did, as it was recorded. */
async function stretchOf(deps: RunsDeps, { messages, calls, thoughts_ms }: ProgramWorked): Promise<Stretch> {
  const [answer, ...results] = (await Promise.all(messages.map((ref) => messageAt(deps, ref)))) as [
    PromptMessage,
    ...PromptMessage[],
  ];
  const diffs = await Promise.all(
    calls.map(({ diffs: ref }) => (ref ? deps.values.load<FileDiff[]>(ref) : undefined)),
  );
  return {
    answer,
    ...(thoughts_ms && { thoughts_ms }),
    results: calls.map((call, at) => ({
      call,
      message: results[at] as PromptMessage,
      ...(diffs[at] && { diffs: diffs[at] }),
    })),
  };
}

class Restoring {
  readonly #session: ThreadSession;
  readonly #agent_message_id: string;
  #step = 0;
  #kinds = new Map<string, string>();
  steered = false;

  constructor(session: ThreadSession, agent_message_id: string) {
    this.#session = session;
    this.#agent_message_id = agent_message_id;
  }

  /** What came before was told with this prompt; what was steered closed the message before it. */
  compiled(): void {
    this.#step += 1;
    this.#session.toTell = [];
    this.#session.toolAnswers.clear();
    if (this.steered) this.#session.transcript.clear();
    this.steered = false;
  }

  worked(stretch: Stretch): void {
    const { transcript, toTell, callIds } = this.#session;
    transcript.worked(this.#step, stretch);
    for (const { call } of stretch.results) callIds.add(call.call_id);
    const message_id = this.#agent_message_id;
    toTell.push(...encodeStretch(stretch).messages.map((encoded) => ({ encoded, message_id })));
  }

  requested(intent_id: string, kind: string): void {
    this.#kinds.set(intent_id, kind);
  }

  received(receipt: EffectReceipt, message: PromptMessage | undefined, diff: ToolDiff | undefined): void {
    if (!message) return;
    const session = this.#session;
    const told = { encoded: encodeMessage(message), message_id: this.#agent_message_id };
    if (this.#kinds.get(receipt.intent_id) === "llm.generate") {
      session.transcript.answered(this.#step, message, receipt);
      for (const { id } of message.tool_calls ?? []) session.callIds.add(id);
      session.answer = message;
      session.toTell.push(told);
      return;
    }
    const call_id = message.tool_call_id ?? "";
    const { duration_ms } = receipt;
    const status = receipt.decision === "deny" ? "failed" : receipt.status;
    session.transcript.toolAnswered(call_id, message, { status, duration_ms, diff });
    session.toolAnswers.set(call_id, told);
  }
}
