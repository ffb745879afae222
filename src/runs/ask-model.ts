import { sha256 } from "../base/index.js";
import { encodeMessage } from "../prompts/index.js";
import type { PromptMessage } from "../providers/index.js";
import { Answer, type Progress } from "./answer.js";
import { requestFor } from "./context.js";
import type { RunsDeps } from "./deps.js";
import type { AskedCall, EffectProgress, EffectReceipt } from "./fold/events.js";
import type { ActiveRun } from "./fold/state.js";
import { askedWith, grantedTools } from "./grants.js";
import { Live } from "./live.js";
import { logQuestion } from "./log-question.js";
import { restorePrepared } from "./prepare.js";
import { commitEvents } from "./session/commit.js";
import type { SessionHistory } from "./session/history.js";
import type { PreparedRun } from "./session/parts.js";
import type { ThreadSession } from "./session/session.js";
import { endRun } from "./settle.js";

/** At least this often what has come is journaled, so that a killed gateway has not lost it. */
export const PROGRESS_MS = 250;

/** Asks the model for the step that was compiled, and takes what it says. */
export async function askModel(deps: RunsDeps, session: ThreadSession): Promise<void> {
  const active = session.active as ActiveRun;
  const { intent_id } = active.intents[0] as { intent_id: string };
  session.prepared ??= await restorePrepared(deps, active.inputs as string);
  const { prepared } = session;
  const { config } = prepared;
  session.live ??= new Live(session.key, active.run_id, (note) => deps.live.tell(note));
  const { live } = session;
  live.begin(active.step);
  const request = requestFor(config, toSend(session, prepared), prepared.tools, session.key.thread_id);
  const answer = new Answer(live, session.callIds, () => deps.clock.now());
  const progress = setInterval(() => keepProgress(deps, session, intent_id, answer), PROGRESS_MS);
  try {
    const provider = deps.providers.for(config, session.key.workspace_id);
    const options = { signal: session.stop.signal, after: session.durable };
    for await (const event of provider.generate(request, options)) answer.take(event);
  } finally {
    clearInterval(progress);
  }
  // Who watches has the last words before they are written down: what is sent leaves when this turn is over.
  await new Promise<void>((resolve) => process.nextTick(resolve));
  await takeAnswer(deps, session, intent_id, answer);
}

/** In the order they are sent: what stands before the history, what stands for its lost beginning, the history. */
function toSend(
  { history, marker }: ThreadSession,
  { placed }: PreparedRun,
): readonly { message: PromptMessage }[] {
  const told = history as SessionHistory;
  return [...placed, ...(marker ? [marker] : []), ...told.sent()];
}

/** What has come of an answer so far survives a gateway that is killed. */
export function keepProgress(
  deps: RunsDeps,
  session: ThreadSession,
  intent_id: string,
  answer: { takeProgress(): Progress | undefined },
): void {
  session
    .change(async () => {
      const active = session.active;
      const open = active?.intents.some(
        (intent) => intent.intent_id === intent_id && intent.status === "open",
      );
      const progress = open ? answer.takeProgress() : undefined;
      if (!active || !progress) return;
      const { came, blobs = [] } = progress;
      const event: EffectProgress = {
        type: "effect.progress",
        at: deps.clock.now(),
        run_id: active.run_id,
        intent_id,
        ...came,
      };
      await commitEvents(deps, session, [event], { blobs }).catch((error) => {
        progress.giveBack();
        throw error;
      });
    })
    .catch((error) => deps.report(error, "what an agent has said so far could not be kept"));
}

/** An answer that leads on is journaled; the last one is written to the log first and ends the run. */
async function takeAnswer(
  deps: RunsDeps,
  session: ThreadSession,
  intent_id: string,
  answer: Answer,
): Promise<void> {
  const message = answer.message();
  const encoded = message && encodeMessage(message);
  const { finish, usage, error, sent } = answer;
  // A gateway that stops is not a person who cancels.
  const interrupted = answer.status === "cancelled" && session.stop.signal.reason === "interrupted";
  const status = interrupted ? "interrupted" : answer.status;
  const { run_id, step } = session.active as ActiveRun;
  const receipt: EffectReceipt = {
    type: "effect.receipt",
    at: deps.clock.now(),
    run_id,
    intent_id,
    status,
    ...(encoded && { result: encoded.ref }),
    ...(finish !== undefined && { finish }),
    ...(message?.tool_calls && { calls: await askedCalls(deps, session, message.tool_calls) }),
    ...(usage && { usage }),
    ...answer.thoughts(),
    ...(sent && { request_sha256: sha256(sent.body), url: sent.url }),
    ...(error && { error }),
  };
  await session.change(async () => {
    const active = session.active as ActiveRun;
    if (message && encoded) {
      session.transcript.answered(step, message, receipt);
      session.toTell.push({ encoded, message_id: active.agent_message_id });
      session.answer = message;
    }
    const leadsOn = status === "ok" && (message?.tool_calls !== undefined || active.steered.length > 0);
    const blobs = encoded ? [{ ...encoded, soonTold: true }] : [];
    if (leadsOn) {
      await logQuestion(deps, session);
      await commitEvents(deps, session, [receipt], { blobs });
    } else await endRun(deps, session, { receipt, blobs });
    showAsked(session, receipt);
  });
}

/** Those who watch see what waits for somebody. */
function showAsked({ live }: ThreadSession, { calls = [] }: EffectReceipt): void {
  for (const { call_id, name, approval } of calls)
    if (approval) live?.tool({ tool_call_id: call_id, name, status: "waiting" });
}

/** The calls of an answer, and which of them need somebody's word. */
async function askedCalls(
  deps: RunsDeps,
  session: ThreadSession,
  calls: NonNullable<PromptMessage["tool_calls"]>,
): Promise<AskedCall[]> {
  const listed = session.prepared?.inputs.tools ?? [];
  const asking = new Set(listed.filter(({ approval }) => approval === "ask").map(({ name }) => name));
  const granted = calls.some(({ name }) => asking.has(name)) ? await grantedTools(deps, session.key) : [];
  return calls.map(({ id, name, arguments: given }) => ({
    call_id: id,
    name,
    arguments_hash: sha256(given),
    ...(asking.has(name) && !granted.includes(name) && askedWith(given)),
  }));
}
