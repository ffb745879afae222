import { encodeMessage } from "../prompts/index.js";
import type { PromptMessage } from "../providers/index.js";
import type { RunRow } from "../store/index.js";
import type { RunsDeps } from "./deps.js";
import { eventsOfRun } from "./find.js";
import type { EffectReceipt, RunEvent } from "./fold/events.js";
import type { ActiveRun } from "./fold/state.js";
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
    else if (event.type === "prompt.compiled") {
      restoring.compiled();
      session.turn = event.history.turn;
      session.marker = event.marker
        ? encodeMessage((await messageAt(deps, event.marker)) as PromptMessage)
        : undefined;
    } else if (event.type === "effect.requested") restoring.requested(event.intent_id, event.kind);
    else if (event.type === "effect.receipt") {
      restoring.received(event, event.result ? await messageAt(deps, event.result) : undefined);
    }
  }
  return events;
}

async function messageAt(deps: RunsDeps, ref: string): Promise<PromptMessage | undefined> {
  return (await deps.texts.load([ref])).get(ref)?.messages[0];
}

class Restoring {
  readonly #session: ThreadSession;
  readonly #agent_message_id: string;
  #step = 0;
  #tools: string[] = [];
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
    this.#tools = [];
    if (this.steered) this.#session.transcript.clear();
    this.steered = false;
  }

  requested(intent_id: string, kind: string): void {
    this.#kinds.set(intent_id, kind);
    if (kind === "tool.call") this.#tools.push(intent_id);
  }

  received(receipt: EffectReceipt, message: PromptMessage | undefined): void {
    if (!message) return;
    const session = this.#session;
    const told = { encoded: encodeMessage(message), message_id: this.#agent_message_id };
    if (this.#kinds.get(receipt.intent_id) === "llm.generate") {
      session.transcript.answered(this.#step, message, receipt);
      session.answer = message;
      session.toTell.push(told);
      return;
    }
    session.transcript.toolAnswered(message.tool_call_id ?? "", message, receipt);
    session.toolAnswers.set(receipt.intent_id, told);
    // When the last tool has answered, all of them are told, in the order they were asked.
    if (!this.#tools.every((intent_id) => session.toolAnswers.has(intent_id))) return;
    for (const intent_id of this.#tools) {
      const answer = session.toolAnswers.get(intent_id);
      if (answer) session.toTell.push(answer);
    }
    session.toolAnswers.clear();
  }
}
