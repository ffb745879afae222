import type { ParsedParams, Result, Run } from "../protocol/index.js";
import { type RunRow, runs } from "../store/index.js";
import type { Call } from "../tree/index.js";
import { callFor, recordAnswer } from "./call-tools.js";
import type { RunsDeps } from "./deps.js";
import { drive } from "./drive.js";
import { runsError, stopping } from "./errors.js";
import { findRun } from "./find.js";
import type { Decision, EffectReceipt } from "./fold/events.js";
import { type ActiveRun, asking, type Intent } from "./fold/state.js";
import { grantTool } from "./grants.js";
import { grantName } from "./program/ask-somebody.js";
import { commitEvents } from "./session/commit.js";
import type { ThreadSession } from "./session/session.js";
import { runsToWire } from "./wire.js";

/** Answers a call that waits. Whoever is first decides; it is durable when this resolves. */
export async function approveCall(
  deps: RunsDeps,
  params: ParsedParams<"run/approve">,
  { origin, actor }: Call,
): Promise<Result<"run/approve">> {
  // What is answered now could not be carried on here.
  if (deps.sessions.closing) throw stopping();
  const row = await findRun(deps, params);
  const { tool_call_id, decision } = params;
  if (row.last_seq !== null) throw notAsked(row, tool_call_id);
  const session = await deps.sessions.open(row);
  await session.change(async () => {
    const intent = pendingIn(session, row, tool_call_id);
    const decided = { decision, ...(actor !== undefined && { by: actor }) };
    const isProgram = session.active?.phase === "model";
    if (decision === "deny" && !isProgram) await deny(deps, session, intent, decided);
    else await decide(deps, session, intent, { decided, origin });
  });
  drive(deps, session);
  const now = session.position.rows.get(row.id) ?? (await deps.store.read(() => runs.findRun(row.id)));
  const [run] = await deps.store.read(() => runsToWire([now ?? row]));
  return { run: run as Run };
}

function pendingIn(session: ThreadSession, row: RunRow, tool_call_id: string): Intent {
  const { active, stop, ending, failure } = session;
  const open = active?.run_id === row.id && !stop.signal.aborted && !ending && !failure ? asking(active) : [];
  const intent = open.find(({ call }) => call?.call_id === tool_call_id);
  if (!intent) throw notAsked(row, tool_call_id);
  return intent;
}

const NO_CALL = { name: "" };

/** "Always" is an answer to every call of the tool that waits here, too. */
async function decide(
  deps: RunsDeps,
  session: ThreadSession,
  intent: Intent,
  { decided, origin }: { decided: { decision: Decision; by?: string }; origin: unknown },
): Promise<void> {
  const active = session.active as ActiveRun;
  const granted = decided.decision === "always" ? grantName(intent.call ?? NO_CALL) : undefined;
  const allowed =
    granted !== undefined
      ? asking(active).filter(({ call }) => grantName(call ?? NO_CALL) === granted)
      : [intent];
  const receipts = allowed.map(
    ({ intent_id }): EffectReceipt => ({
      type: "effect.receipt",
      at: deps.clock.now(),
      run_id: active.run_id,
      intent_id,
      status: "ok",
      ...decided,
    }),
  );
  await commitEvents(deps, session, receipts, {
    origin,
    ...(granted !== undefined && { alongside: () => grantTool(session.key, granted), changesThread: true }),
  });
}

async function deny(
  deps: RunsDeps,
  session: ThreadSession,
  intent: Intent,
  decided: { decision: Decision; by?: string },
): Promise<void> {
  const call = callFor(session, intent) ?? {
    id: intent.call?.call_id ?? "",
    name: intent.call?.name ?? "",
    arguments: "",
  };
  await recordAnswer(deps, session, { intent, call, output: DENIED, status: "ok", decided });
}

const DENIED =
  "The user did not allow this call. It was not made. Go on without it, or ask what to do instead.";

function notAsked({ id, number, status }: RunRow, tool_call_id: string) {
  return runsError(
    { kind: "run.not_asking", run_id: id, tool_call_id, status },
    `Run ${number} does not wait for an answer about this call (${status}): it was answered already, or never asked.`,
  );
}
