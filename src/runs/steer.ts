import { randomUUID } from "node:crypto";
import type { ParsedParams, Result, Run } from "../protocol/index.js";
import type { RunRow } from "../store/index.js";
import { messageToWire } from "../threads/index.js";
import type { Call } from "../tree/index.js";
import type { RunsDeps } from "./deps.js";
import { drive } from "./drive.js";
import { runsError, stopping } from "./errors.js";
import { findRun } from "./find.js";
import type { RunSteered } from "./fold/events.js";
import { readInput } from "./input.js";
import { commitEvents } from "./session/commit.js";
import { runsToWire } from "./wire.js";

/** Gives a run that is under way another message. It is durable when this resolves, and told with the next step. */
export async function steerRun(
  deps: RunsDeps,
  params: ParsedParams<"run/steer">,
  { origin }: Call,
): Promise<Result<"run/steer">> {
  // What is answered now could not be carried on here.
  if (deps.sessions.closing) throw stopping();
  const row = await findRun(deps, params);
  const session = await deps.sessions.open(row);
  if (session.active?.run_id !== row.id) throw notRunning(row);
  const at = deps.clock.now();
  const input = await readInput(deps, session.key, { content: params.content, run_id: row.id, at });
  await session.change(async () => {
    const { active } = session;
    const ending = active?.phase === "ending" || session.stop.signal.aborted;
    // An end that could not be committed yet is one all the same.
    if (active?.run_id !== row.id || ending || session.ending || session.failure) throw notRunning(row);
    const event: RunSteered = {
      type: "run.steered",
      at,
      run_id: row.id,
      input: input.encoded.ref,
      user_message_id: input.message.id,
      agent_message_id: randomUUID(),
      content: input.preview,
    };
    await commitEvents(deps, session, [event], { blobs: [input.encoded], origin });
    session.inputs.set(input.message.id, input);
  });
  drive(deps, session);
  const now = session.position.rows.get(row.id) ?? row;
  const [run] = await deps.store.read(() => runsToWire([now]));
  return { run: run as Run, message: messageToWire(input.message) };
}

function notRunning({ id, number, status }: RunRow) {
  return runsError(
    { kind: "run.not_running", run_id: id, status },
    `Run ${number} is not under way (${status}). Send the message as a new run.`,
  );
}
