import { encodeMessage } from "../../prompts/index.js";
import type { PromptMessage } from "../../providers/index.js";
import type { RunsDeps } from "../deps.js";
import { afterRun, drive } from "../drive.js";
import type { EffectReceipt } from "../fold/events.js";
import { type ActiveRun, askedElsewhere } from "../fold/state.js";
import { commitEvents } from "../session/commit.js";
import type { SessionKey } from "../session/parts.js";
import type { ThreadSession } from "../session/session.js";
import { endRun } from "../settle.js";
import { postKey } from "./hand-over.js";
import { recordLate } from "./late.js";
import type { ExternalAnswer, TakenAnswer } from "./taken.js";

/**
 * Takes an answer of an agent elsewhere: the first one ends the run that waits, what comes besides is a message of the
 * thread. It is durable when this resolves. Whoever calls has checked the secret.
 */
export async function takeAnswer(
  deps: RunsDeps,
  key: SessionKey,
  answer: ExternalAnswer,
): Promise<TakenAnswer> {
  const session = await deps.sessions.open(key);
  const taken = await session.change(async () => {
    await endAgain(deps, session);
    const active = waitingFor(session, answer);
    if (active) return endWith(deps, session, active, answer);
    return recordLate(deps, session.key, answer);
  });
  drive(deps, session);
  return taken;
}

/** The run that an answer is for; one that is about to end otherwise takes none. */
function waitingFor(
  { active, stop, failure }: ThreadSession,
  { inReplyTo }: ExternalAnswer,
): ActiveRun | undefined {
  // A gateway that stops only leaves it: what comes in the last moment is an answer all the same.
  const isStopped = stop.signal.aborted && stop.signal.reason !== "left";
  if (!active || !askedElsewhere(active) || isStopped || failure) return undefined;
  const named = inReplyTo === undefined || inReplyTo === postKey(active.run_id, active.step);
  return named ? active : undefined;
}

/** An answer was taken whose end could not be committed: the agent sends it again, and it ends as it was to. */
async function endAgain(deps: RunsDeps, session: ThreadSession): Promise<void> {
  const { active, ending } = session;
  if (!active || !ending || !askedElsewhere(active)) return;
  await endRun(deps, session, ending);
  follow(deps, session, active);
}

async function endWith(
  deps: RunsDeps,
  session: ThreadSession,
  active: ActiveRun,
  { text, failed }: ExternalAnswer,
): Promise<TakenAnswer> {
  const { run_id, step, agent_message_id } = active;
  const { intent_id } = askedElsewhere(active) as { intent_id: string };
  const message: PromptMessage = { role: "assistant", content: text };
  const encoded = encodeMessage(message);
  const facts = { type: "effect.receipt", at: deps.clock.now(), run_id, intent_id } as const;
  const receipt: EffectReceipt = failed
    ? { ...facts, status: "failed", error: { code: "external.failed", message: text } }
    : { ...facts, status: "ok", result: encoded.ref, finish: "stop" };
  if (!failed) {
    session.transcript.answered(step, message, receipt);
    session.toTell.push({ encoded, message_id: agent_message_id });
    session.answer = message;
  }
  const blobs = failed ? [] : [encoded];
  if (!failed && active.steered.length > 0) await commitEvents(deps, session, [receipt], { blobs });
  else {
    await endRun(deps, session, { receipt, blobs });
    follow(deps, session, active);
  }
  return { run_id };
}

/** Whoever is posting at this moment finds the run ended, and does what follows. */
function follow(deps: RunsDeps, session: ThreadSession, { run_id }: ActiveRun): void {
  if (!session.posting) afterRun(deps, session, run_id);
}
