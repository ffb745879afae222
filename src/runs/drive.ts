import { EXTERNAL } from "../agents/index.js";
import { readHead } from "../journal/index.js";
import { runEnded } from "../prompts/index.js";
import { isProgram } from "../providers/index.js";
import { type RunRow, runs, type Unit } from "../store/index.js";
import { askModel } from "./ask-model.js";
import { callTools } from "./call-tools.js";
import { compileNext } from "./compile-next.js";
import type { RunsDeps } from "./deps.js";
import { postMessage } from "./external/post.js";
import type { RunEnd } from "./fold/events.js";
import { type ActiveRun, isWaiting } from "./fold/state.js";
import { logSoon } from "./log-question.js";
import { restorePrepared } from "./prepare.js";
import { workProgram } from "./program/work.js";
import type { ThreadSession } from "./session/session.js";
import { endRun, errorOf } from "./settle.js";
import { showManifest } from "./show-manifest.js";
import { runToWire } from "./wire.js";

/** Carries out what is under way in a thread, run after run, until it is at rest. Nobody waits for it. */
export function drive(deps: RunsDeps, session: ThreadSession): void {
  if (session.driving) return;
  session.driven = true;
  session.driving = carryOn(deps, session).then(
    () => {
      rest(deps, session);
      // Somebody may have asked in the moment between the last look and now.
      const { active } = session;
      if (active && !deps.sessions.closing && !needsSomebody(session, active)) drive(deps, session);
    },
    (error) => {
      rest(deps, session);
      deps.report(error, "a run could neither go on nor be ended; it is tried again");
      if (!deps.sessions.closing) driveAgain(deps, session);
    },
  );
  deps.sessions.settle(session);
}

/** The store may be away for a moment. What is under way must not stay so for ever. */
const AGAIN_MS = 5_000;

/** A commit that was believed to have failed may have taken place: then the session is behind its own journal. */
function driveAgain(deps: RunsDeps, session: ThreadSession): void {
  let ended: readonly RunRow[] | undefined;
  const again = async () => {
    // Once only: as soon as it is dropped, another may be opened, and tells of what ends there itself.
    if (!ended) {
      const found = await deps.store.read(() => wentOn(session));
      if (found.hash === session.position.head.hash) return drive(deps, session);
      deps.sessions.drop(session);
      ended = found.ended;
    }
    const reopened = await deps.sessions.open(session.key);
    tellEnds(deps, session, ended);
    drive(deps, reopened);
  };
  const later = () => {
    again().catch(() => {
      if (!deps.sessions.closing) setTimeout(later, AGAIN_MS).unref();
    });
  };
  setTimeout(later, AGAIN_MS).unref();
}

/** Where a session's journal stands, and which runs have ended that the session takes for unfinished. */
function* wentOn({ key, position }: ThreadSession): Unit<{ hash: string; ended: RunRow[] }> {
  const { hash } = yield* readHead(key);
  return { hash, ended: yield* runs.endedAmong([...position.rows.keys()]) };
}

/** Whoever committed an end and was told that it had failed has told nobody of it: who waits would wait in vain. */
function tellEnds(deps: RunsDeps, session: ThreadSession, ended: readonly RunRow[]): void {
  for (const row of ended) {
    deps.ends.tell(row);
    // One that only waited in the queue had no turn that something could follow.
    if (row.id === session.active?.run_id) afterRun(deps, session, row.id);
  }
}

function rest(deps: RunsDeps, session: ThreadSession): void {
  session.driving = undefined;
  deps.sessions.settle(session);
}

async function carryOn(deps: RunsDeps, session: ThreadSession): Promise<void> {
  for (let run = session.active; run && !isLeftForLater(deps, session, run); run = session.active) {
    const { run_id } = run;
    await carryOutRun(deps, session, run_id);
    if (session.active?.run_id === run_id) return;
    afterRun(deps, session, run_id);
  }
}

/** Somebody has to answer first, and then drives it on. One that is to end does not wait. */
function needsSomebody({ stop, failure }: ThreadSession, run: ActiveRun): boolean {
  return isWaiting(run) && !stop.signal.aborted && !failure;
}

/** A gateway that stops begins no run: one that waited is taken up when it starts again, unless it was cancelled meanwhile. */
function isLeftForLater(
  { sessions }: RunsDeps,
  { stop }: ThreadSession,
  { step, phase }: ActiveRun,
): boolean {
  return sessions.closing && step === 0 && phase === "prompt" && stop.signal.reason !== "cancelled";
}

async function carryOutRun(deps: RunsDeps, session: ThreadSession, run_id: string): Promise<void> {
  try {
    // What could not even be recorded is not done again: a tool may have had its effect.
    if (session.failure) throw session.failure;
    for (let run = session.active; run?.run_id === run_id; run = session.active) {
      if (needsSomebody(session, run)) return;
      if (isLeft(session)) return;
      if (session.stop.signal.aborted) await stopRun(deps, session, run_id);
      else await nextOf(deps, session, run);
    }
  } catch (error) {
    if (session.active?.run_id !== run_id || isLeft(session)) throw error;
    session.failure = error as Error;
    await failRun(deps, session, run_id, error);
  }
}

/** The phase says what is due, whether this gateway began the run or another one did. */
async function nextOf(deps: RunsDeps, session: ThreadSession, run: ActiveRun): Promise<void> {
  if (run.phase === "prompt") await compileNext(deps, session);
  else if (run.phase === "model") {
    await showManifest(deps, session, run);
    session.prepared ??= await restorePrepared(deps, run.inputs as string);
    const answer = whoAnswers(session.prepared.config.provider);
    if (session.unlogged) logSoon(deps, session);
    // Models and programs are asked when it is on disk; what they are told is put together before.
    if (answer === postMessage) await session.durable;
    await answer(deps, session);
  } else if (run.phase === "tools") await callTools(deps, session);
  else await session.change(() => endRun(deps, session, { end: run.error ? "failed" : "completed" }));
}

function whoAnswers(provider: string): typeof askModel {
  if (provider === EXTERNAL) return postMessage;
  return isProgram(provider) ? workProgram : askModel;
}

/** Nothing more is done for it here; another gateway takes it up as it is. */
function isLeft({ stop }: ThreadSession): boolean {
  return stop.signal.reason === "left";
}

async function stopRun(deps: RunsDeps, session: ThreadSession, run_id: string): Promise<void> {
  await session.change(async () => {
    if (session.active?.run_id === run_id) await endRun(deps, session, { end: stopEnd(session) });
  });
}

/** How a run ends that was told to stop. */
function stopEnd({ stop }: ThreadSession): RunEnd {
  return stop.signal.reason === "interrupted" ? "interrupted" : "cancelled";
}

async function failRun(
  deps: RunsDeps,
  session: ThreadSession,
  run_id: string,
  error: unknown,
): Promise<void> {
  await session.change(async () => {
    if (session.active?.run_id !== run_id) return;
    const stopped = session.stop.signal.aborted;
    await endRun(
      deps,
      session,
      stopped ? { end: stopEnd(session) } : { end: "failed", error: errorOf(deps, error) },
    );
  });
}

/** What follows a run's end and is nobody's to wait for. */
export function afterRun(deps: RunsDeps, session: ThreadSession, run_id: string): void {
  const { key } = session;
  runEnded(deps, key).catch((error) => deps.report(error, "a prompt pack that waited could not be applied"));
  if (!deps.hooks.listens("turn.post_turn")) return;
  deps.store
    .read(() => runs.findRun(run_id))
    .then((row) => deps.hooks.run("turn.post_turn", { ...key, run_id, outcome: row && runToWire(row) }))
    .catch((error) => deps.report(error, "hooks after a run failed"));
}
