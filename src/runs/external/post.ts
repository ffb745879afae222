import type { RunsDeps } from "../deps.js";
import type { EffectReceipt, RunError } from "../fold/events.js";
import type { ActiveRun } from "../fold/state.js";
import { commitEvents } from "../session/commit.js";
import type { ThreadSession } from "../session/session.js";
import { endRun } from "../settle.js";
import { handOver } from "./hand-over.js";
import { type SendOutcome, sendPost } from "./send.js";

/** An agent that has answered may still be busy saying that it took the message. */
const GRACE_MS = 2_000;

/** Posts the step's message to an agent elsewhere. Once it is taken the run waits, and nobody works for it. */
export async function postMessage(deps: RunsDeps, session: ThreadSession): Promise<void> {
  const { run_id, intents } = session.active as ActiveRun;
  const { intent_id } = intents[0] as { intent_id: string };
  const step: Step = { run_id, intent_id };
  session.posting = true;
  try {
    const post = await handOver(deps, session, intent_id);
    if ("error" in post) return await fail(deps, session, step, post.error);
    const outcome = await send(session, step, (options) => sendPost(post, options));
    if (outcome.status === "failed") await fail(deps, session, step, outcome.error);
    else if (outcome.status === "accepted") await accept(deps, session, step);
  } finally {
    session.posting = false;
  }
}

interface Step {
  readonly run_id: string;
  readonly intent_id: string;
}

/** Nobody else has ended or answered it meanwhile. */
function isOpen({ active }: ThreadSession, { run_id, intent_id }: Step): boolean {
  if (active?.run_id !== run_id || active.phase !== "model") return false;
  return active.intents.some((one) => one.intent_id === intent_id && one.status === "open");
}

/** Until the message is taken, or its answer is there: some agents answer before they have said that they took it. */
async function send(
  session: ThreadSession,
  step: Step,
  sending: (options: { signal: AbortSignal; isWanted: () => boolean }) => Promise<SendOutcome>,
): Promise<SendOutcome> {
  const late = new AbortController();
  const signal = AbortSignal.any([session.stop.signal, late.signal]);
  let over = false;
  const answered = async (): Promise<SendOutcome> => {
    while (!over && isOpen(session, step)) await session.changed();
    setTimeout(() => late.abort(), GRACE_MS).unref();
    return { status: "stopped" };
  };
  const isWanted = () => isOpen(session, step);
  try {
    return await Promise.race([sending({ signal, isWanted }), answered()]);
  } finally {
    over = true;
  }
}

async function accept(deps: RunsDeps, session: ThreadSession, step: Step): Promise<void> {
  await session.change(async () => {
    if (!isOpen(session, step) || session.stop.signal.aborted) return;
    await commitEvents(deps, session, [{ type: "external.posted", at: deps.clock.now(), ...step }]);
    // From here on whoever takes the answer carries the run on.
    session.posting = false;
  });
}

async function fail(deps: RunsDeps, session: ThreadSession, step: Step, error: RunError): Promise<void> {
  await session.change(async () => {
    if (!isOpen(session, step)) return;
    const at = deps.clock.now();
    const receipt: EffectReceipt = { type: "effect.receipt", at, ...step, status: "failed", error };
    await endRun(deps, session, { receipt });
  });
}
