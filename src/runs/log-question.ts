import type { RecordedFiles } from "../threads/index.js";
import type { RunsDeps } from "./deps.js";
import { planEvents } from "./fold/plan.js";
import type { ActiveRun } from "./fold/state.js";
import { inputOf } from "./input.js";
import { recordAhead } from "./record-ahead.js";
import { adoptPlan, writePlan } from "./session/commit.js";
import { type AddedHistory, addHistory, isPresent, untold } from "./session/history.js";
import type { ThreadSession } from "./session/session.js";

/** An answer that comes within this time is written to the log together with its question. */
const SOON_MS = 2;

/**
 * Writes a question that was told already to the log, beside the model at work. It is on disk in the journal: a gateway
 * that is killed in between writes it when it starts again.
 */
export function logSoon(deps: RunsDeps, session: ThreadSession): void {
  const { run_id } = session.active as ActiveRun;
  const log = () =>
    session.change(async () => {
      if (session.active?.run_id === run_id) await logQuestion(deps, session);
    });
  // Nothing more is asked for what could not be kept.
  const failed = (error: Error) => {
    if (session.active?.run_id !== run_id) return;
    session.unloggable = error;
    session.stop.abort("interrupted");
  };
  setTimeout(() => log().catch(failed), SOON_MS);
}

/** The same at once, where it is due. The caller has the session's turn. */
export async function logQuestion(deps: RunsDeps, session: ThreadSession): Promise<void> {
  if (!session.unlogged) return;
  const { message } = await inputOf(deps, session, session.active as ActiveRun);
  await recordAhead(deps, session, {
    messages: [message],
    withIt: async (files) => {
      const told = await coveredWith(deps, session, files);
      const plan = planEvents(session.position, session.key, []);
      const adopt = () => adoptPlan(deps, session, plan, { told });
      return { unit: () => writePlan(deps, session, plan, { told }), adopt };
    },
  });
  session.unlogged = false;
  session.inputs.delete(message.id);
}

/** What somebody else has written to the log meanwhile is told with the next message, or at the end. */
async function coveredWith(
  deps: RunsDeps,
  { key, history }: ThreadSession,
  { file, located: { row } }: RecordedFiles,
): Promise<AddedHistory | undefined> {
  if (!history || !isPresent(history, row)) return undefined;
  const found = await untold(deps.store, key, { file, known: history, own: new Map() });
  return found.messages.length === 0 ? addHistory(history, [], found.covered) : undefined;
}
