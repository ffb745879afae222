import type { Message } from "../atsf/index.js";
import { HeddleError, unixSeconds } from "../base/index.js";
import { readHead } from "../journal/index.js";
import { encodeMessage } from "../prompts/index.js";
import type { PromptMessage } from "../providers/index.js";
import { notifications, runs, threadFiles, threads, workspaces } from "../store/index.js";
import { findLogged } from "../threads/index.js";
import { answerCall, callFor, UNKNOWN } from "./call-tools.js";
import { resumeWaits } from "./delegate/resume-waits.js";
import type { RunsDeps } from "./deps.js";
import { drive } from "./drive.js";
import type { EffectReceipt, RunEnd, RunEvent } from "./fold/events.js";
import { type ActiveRun, askedElsewhere } from "./fold/state.js";
import { lastSaid, partOf, type Said, withNotice } from "./heard.js";
import { logQuestion } from "./log-question.js";
import { openStretch } from "./program/open-stretch.js";
import { recordStretch } from "./program/work.js";
import { restoreRun } from "./restore.js";
import { loadHistory } from "./session/history.js";
import type { SessionKey } from "./session/parts.js";
import type { ThreadSession } from "./session/session.js";
import { endRun } from "./settle.js";
import { runToWire } from "./wire.js";

/** Takes up what a gateway that stopped left behind. Every run goes on or ends visibly. */
export async function recoverRuns(deps: RunsDeps): Promise<void> {
  await resumeWaits(deps);
  const keys = await deps.store.read(() => runs.threadsWithUnfinishedRuns());
  const taken = await Promise.allSettled(keys.map((key) => recoverThread(deps, key)));
  const left = taken.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
  for (const error of left) deps.report(error, "a run could not be taken up again");
  deps.sessions.complete = left.length === 0;
}

async function recoverThread(deps: RunsDeps, key: SessionKey): Promise<void> {
  const session = await deps.sessions.open(key).catch((error) => giveUp(deps, key, error));
  if (session) drive(deps, session);
}

/**
 * Brings a session that was read from the store to where its run had come. Nobody gets it before: whoever ended or steered
 * a run that was not brought back would lose what it had said.
 */
export async function takeUpSession(deps: RunsDeps, session: ThreadSession): Promise<void> {
  const { active } = session;
  if (!active) return;
  session.perhapsWritten = true;
  try {
    await takeUp(deps, session, active);
  } catch (error) {
    // What it needs is not there any more. Whoever carries it on ends it with this.
    session.failure = error as Error;
  }
}

/**
 * The journal can't be folded any more, so nothing can be added to what it says of its runs. They end where they are, and
 * the next message begins behind them.
 */
async function giveUp(deps: RunsDeps, key: SessionKey, error: unknown): Promise<void> {
  // A store that is away for a moment says nothing about what is in it.
  if (error instanceof HeddleError) throw error;
  deps.report(error, "the journal of a thread can't be read any more");
  const { workspace_id, thread_id } = key;
  const at = unixSeconds(deps.clock);
  const ended = await deps.store.write({ key: workspace_id }, function* () {
    yield* workspaces.lockWorkspace(workspace_id);
    const { seq: last_seq } = yield* readHead(key);
    const end = { status: "failed", error: JSON.stringify(BROKEN), last_seq, ended_at: at, updated_at: at };
    const ended = (yield* runs.unfinishedRuns(key)).map((row) => ({ ...row, ...end }));
    for (const row of ended) yield* runs.updateRun(row);
    yield* threads.updateThread(workspace_id, thread_id, { status: "idle" });
    const told = ended.map((row) => ({ method: "run/changed" as const, params: { run: runToWire(row) } }));
    yield* notifications.announce(workspace_id, at, told);
    return ended;
  });
  for (const row of ended) deps.ends.tell(row);
}

const BROKEN = {
  code: "run.journal_broken",
  message: "What was recorded of this run was changed and can't be read any more. Send the message again.",
};

async function takeUp(deps: RunsDeps, session: ThreadSession, active: ActiveRun): Promise<void> {
  const { key } = session;
  const events = await restoreRun(deps, session, active);
  const row = await deps.store.read(() => threadFiles.findIndexed(key.workspace_id, key.thread_id));
  if (row) session.history = await loadHistory(deps.store, key, row);
  session.unlogged = active.step > 0 && !(await isLogged(deps, key, active.user_message_id));
  // At once: the run may wait for somebody for days.
  await session.change(() => logQuestion(deps, session));
  const logged = await lastLogged(deps, session, active);
  if (active.phase === "model") await recoverAnswer(deps, session, active, { events, logged });
  else if (active.phase === "tools") await recoverTools(deps, session, active, logged);
  if (logged && session.active?.run_id === active.run_id) {
    const ending = { end: endInLog(logged, "interrupted"), error: UNRECORDED };
    await session.change(() => endRun(deps, session, ending));
  }
}

/** A question may be told before it stands in the log. */
async function isLogged(deps: RunsDeps, key: SessionKey, message_id: string): Promise<boolean> {
  const logged = await findLogged(deps, key, message_id).catch(() => undefined);
  return logged !== undefined;
}

/** The message that was to be the run's last and is in the log: only its end was not committed. */
async function lastLogged(
  deps: RunsDeps,
  { key }: ThreadSession,
  { step, agent_message_id }: ActiveRun,
): Promise<Message | undefined> {
  if (step === 0) return undefined;
  const logged = await findLogged(deps, key, agent_message_id).catch(() => undefined);
  // What was steered closes a message, and the run goes on.
  return logged?.stopReason === "steered" ? undefined : logged;
}

const LOGGED_ENDS: Readonly<Record<string, Exclude<RunEnd, "completed">>> = {
  cancelled: "cancelled",
  interrupted: "interrupted",
  error: "failed",
};

/** How a run ended, by the last message it has in the log. */
function endInLog<T>({ stopReason }: Message, otherwise: T): Exclude<RunEnd, "completed"> | T {
  return LOGGED_ENDS[stopReason ?? ""] ?? otherwise;
}

const UNRECORDED = {
  code: "run.interrupted",
  message: "The gateway stopped before it could record how the run had ended.",
};
const ANSWERING = { code: "run.interrupted", message: "The gateway stopped while the agent was answering." };

interface Left {
  readonly events: readonly RunEvent[];
  readonly logged: Message | undefined;
}

/**
 * Nothing had come: the model is asked again. Something had: that is the answer, and the run ends with it. A program may
 * have done something from the moment that it was handed the message.
 */
async function recoverAnswer(
  deps: RunsDeps,
  session: ThreadSession,
  active: ActiveRun,
  { events, logged }: Left,
): Promise<void> {
  const [{ intent_id } = { intent_id: "" }] = active.intents;
  const heard = logged ? lastSaid(logged) : partOf(events, intent_id);
  // An agent elsewhere answers in its own time; what it may not have got is posted again, under the same key.
  if (!heard && askedElsewhere(active)) return;
  const begun = events.some((event) => event.type === "program.handed" && event.intent_id === intent_id);
  const content = heard?.content ?? "";
  const open = logged ? undefined : await openStretch(deps, { active, events, intent_id, content });
  if (open) {
    await recordStretch({ deps, session, intent_id }, open);
    return endUnanswered(deps, session, active, intent_id);
  }
  const isUnheard = begun && !logged && session.toTell.length === 0;
  const said = isUnheard ? withNotice(heard) : heard;
  if (said) await endAnswered(deps, session, active, { intent_id, said, logged });
  else if (begun) await endUnanswered(deps, session, active, intent_id);
}

async function endAnswered(
  deps: RunsDeps,
  session: ThreadSession,
  active: ActiveRun,
  { intent_id, said, logged }: Pick<Left, "logged"> & { intent_id: string; said: Said },
): Promise<void> {
  const message: PromptMessage = { role: "assistant", content: said.content };
  session.transcript.answered(active.step, message, { finish: "stop" });
  const encoded = encodeMessage({ role: "assistant", content: said.text });
  if (said.text !== "") session.toTell.push({ encoded, message_id: active.agent_message_id });
  const receipt: EffectReceipt = {
    type: "effect.receipt",
    at: deps.clock.now(),
    run_id: active.run_id,
    intent_id,
    status: logged ? endInLog(logged, "ok") : "interrupted",
    result: encoded.ref,
    recovered: true,
  };
  const error = logged ? UNRECORDED : ANSWERING;
  await session.change(() => endRun(deps, session, { receipt, blobs: [encoded], error }));
}

async function endUnanswered(
  deps: RunsDeps,
  session: ThreadSession,
  { run_id }: ActiveRun,
  intent_id: string,
): Promise<void> {
  const at = deps.clock.now();
  const receipt: EffectReceipt = {
    type: "effect.receipt",
    at,
    run_id,
    intent_id,
    status: "interrupted",
    recovered: true,
  };
  await session.change(() => endRun(deps, session, { receipt, error: ANSWERING }));
}

/** A call that may have had its effect is not made again: the model is told that nobody knows. */
async function recoverTools(
  deps: RunsDeps,
  session: ThreadSession,
  active: ActiveRun,
  logged: Message | undefined,
): Promise<void> {
  const { workspace_id } = session.key;
  for (const intent of active.intents.filter(({ kind }) => kind === "tool.call")) {
    const call = callFor(session, intent);
    const again = !logged && deps.tools.get(call?.name ?? "", workspace_id)?.safeToRepeat;
    if (!call || intent.status !== "open" || again) continue;
    await answerCall(deps, session, { intent, call, output: UNKNOWN, status: "interrupted" });
  }
}
