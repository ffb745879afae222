import type { ParsedParams, Result } from "../protocol/index.js";
import type { RunRow } from "../store/index.js";
import { messageToWire } from "../threads/index.js";
import type { Call } from "../tree/index.js";
import { readThread, requested } from "./admit.js";
import type { RunsDeps } from "./deps.js";
import { runsError } from "./errors.js";
import { findRun } from "./find.js";
import { freeze } from "./freeze.js";
import { readInput, restoreInput } from "./input.js";
import { commitEvents } from "./session/commit.js";
import type { ThreadSession } from "./session/session.js";
import { runToWire } from "./wire.js";

/** Edits a run that waits: it is admitted anew, with today's configuration, and keeps its place and its ids. */
export async function updateRun(
  deps: RunsDeps,
  params: ParsedParams<"run/update">,
  { origin }: Call,
): Promise<Result<"run/update">> {
  const row = await findRun(deps, params);
  const session = await deps.sessions.open(row);
  for (;;) {
    const updated = await edit(deps, session, row, { params, origin });
    if (updated) return updated;
  }
}

/** Undefined when somebody else has edited it meanwhile: what they changed must not be lost. */
async function edit(
  deps: RunsDeps,
  session: ThreadSession,
  row: RunRow,
  { params, origin }: { params: ParsedParams<"run/update">; origin: unknown },
): Promise<Result<"run/update"> | undefined> {
  const queued = () => session.position.state.queue.find(({ run_id }) => run_id === row.id) ?? notQueued(row);
  const waiting = queued();
  const thread = await readThread(deps.store.readAhead, session.key);
  const at = deps.clock.now();
  const { user_message_id: message_id, input: ref } = waiting;
  const overrides = { ...waiting.overrides, ...params.config };
  const frozen = await freeze(deps, {
    ...session.key,
    agent_id: thread.agent_id,
    thread: thread.config,
    run: overrides,
  });
  const input =
    params.content === undefined
      ? await restoreInput(deps, session.key, {
          input: ref,
          message_id,
          run_id: row.id,
          at,
          from: waiting.origin,
        })
      : await readInput(deps, session.key, {
          content: params.content,
          run_id: row.id,
          at,
          from: waiting.origin,
        });
  const kept = { ...input, message: { ...input.message, id: message_id } };
  const event = requested(session, {
    run_id: row.id,
    frozen,
    overrides,
    input: kept,
    number: row.number,
    agent_message_id: row.agent_message_id,
    ...(waiting.origin && {
      onBehalf: { origin: waiting.origin, parent_run_id: row.parent_run_id ?? undefined },
    }),
  });
  const written = await session.change(async () => {
    if (queued() !== waiting) return false;
    await commitEvents(deps, session, [event], { blobs: [...frozen.blobs, kept.encoded], origin });
    session.inputs.set(message_id, kept);
    return true;
  });
  if (!written) return undefined;
  return {
    run: runToWire(session.position.rows.get(row.id) ?? row),
    message: messageToWire(kept.message),
  };
}

function notQueued({ id, number, status }: RunRow): never {
  throw runsError(
    { kind: "run.not_queued", run_id: id, status },
    `Run ${number} does not wait any more (${status}): it can't be edited. Steer it, or send another message.`,
  );
}
