import { randomUUID } from "node:crypto";
import {
  ID_PREFIXES,
  type ParsedParams,
  type Result,
  type RunConfig,
  type ThreadConfig,
} from "../protocol/index.js";
import { type RunRow, runs, type Store, threadFiles, type Unit } from "../store/index.js";
import { messageToWire } from "../threads/index.js";
import { type Call, threadNotFound, workspaceNotFound } from "../tree/index.js";
import type { RunsDeps } from "./deps.js";
import { drive } from "./drive.js";
import { runsError, stopping } from "./errors.js";
import { requestOf } from "./find.js";
import { compileFirst, prepareFirst } from "./first-step.js";
import type { Origin, RunRequested } from "./fold/events.js";
import { freezeFor } from "./freeze.js";
import { readInput, restoreInput } from "./input.js";
import { commitAhead } from "./session/commit.js";
import type { Frozen, Input } from "./session/parts.js";
import type { ThreadSession } from "./session/session.js";
import { runToWire } from "./wire.js";

/** More than anyone waits for; a client that sends in a circle is told so. */
const MAX_QUEUED = 100;

type StartParams = ParsedParams<"run/start"> & { workspace_id: string };

/** What a run has that no person asked for. */
export interface OnBehalf {
  readonly origin: Origin;
  readonly parent_run_id?: string | undefined;
  /** Committed with the run, or not at all. */
  readonly alongside: (run_id: string) => Unit<void>;
}

/** Admits a run: once this resolves it is durable, and will be carried out whatever happens to the gateway. */
export async function startRun(
  deps: RunsDeps,
  params: StartParams,
  call: Call,
  onBehalf?: OnBehalf,
): Promise<Result<"run/start">> {
  const key = { workspace_id: params.workspace_id, thread_id: params.thread_id };
  if (deps.sessions.closing) throw stopping();
  if (deps.leaving.has(key.workspace_id)) throw workspaceNotFound(key.workspace_id);
  const session = await deps.sessions.open(key);
  const before = await findByKey(deps, params);
  if (before) return answerAgain(deps, session, before);
  const thread = await readThread(deps.store.readAhead, key);
  const run_id = deps.makeId(ID_PREFIXES.run);
  const frozen = await freezeFor(deps, session, {
    ...key,
    agent_id: thread.agent_id,
    thread: thread.config,
    run: params.config ?? {},
  });
  // After that: a run that is refused leaves no image behind.
  const input = await readInput(deps, key, {
    content: params.content,
    run_id,
    at: deps.clock.now(),
    from: onBehalf?.origin,
  });
  const first = await prepareFirst(deps, session, { run_id, frozen, input, thread: thread.row });
  let durable: Promise<void> | undefined;
  const row = await session.change(async () => {
    // Another call with this key may have come meanwhile.
    const twin = await findByKey(deps, params);
    if (twin) return twin;
    if (session.position.state.queue.length >= MAX_QUEUED) throw queueFull();
    const event = requested(session, {
      run_id,
      frozen,
      input,
      key: params.idempotency_key,
      overrides: params.config,
      onBehalf,
    });
    const step = first && compileFirst(deps, session, first);
    ({ durable } = await commitAhead(deps, session, [event, ...(step ? [step.event] : [])], {
      blobs: [
        ...frozen.blobs,
        { ...input.encoded, soonTold: session.active === undefined },
        ...(step?.blobs ?? []),
      ],
      told: step?.told,
      origin: call.origin,
      ...(onBehalf && { alongside: () => onBehalf.alongside(run_id) }),
    }));
    session.inputs.set(input.message.id, input);
    step?.adopt();
    return session.position.rows.get(run_id) as RunRow;
  });
  if (row.id !== run_id) return answerAgain(deps, session, row);
  deps.texts.remember(input.encoded.ref, [input.encoded.message], input.encoded.text);
  drive(deps, session);
  await durable;
  // The agent is asked first: what its caller is told leaves when this turn is over.
  await new Promise<void>((resolve) => process.nextTick(resolve));
  return { run: runToWire(row), message: messageToWire(input.message) };
}

export interface Requested {
  readonly run_id: string;
  readonly frozen: Frozen;
  readonly input: Input;
  readonly key?: string | undefined;
  readonly overrides?: RunConfig | undefined;
  readonly onBehalf?: Pick<OnBehalf, "origin" | "parent_run_id"> | undefined;
  /** The one it takes the place of. */
  readonly number?: number;
  readonly agent_message_id?: string;
}

export function requested(session: ThreadSession, given: Requested): RunRequested {
  const { run_id, frozen, input, key, overrides, onBehalf } = given;
  return {
    type: "run.requested",
    // The message's own time: it is written with this one when the gateway that took it is gone.
    at: Date.parse(input.message.timestamp),
    run_id,
    number: given.number ?? session.lastNumber + 1,
    config: frozen.encoded.ref,
    input: input.encoded.ref,
    user_message_id: input.message.id,
    agent_message_id: given.agent_message_id ?? randomUUID(),
    agent_id: frozen.config.agent_id,
    model: frozen.config.model,
    content: input.preview,
    ...(key !== undefined && { idempotency_key: key }),
    ...(overrides && Object.keys(overrides).length > 0 && { overrides }),
    ...(onBehalf && { origin: onBehalf.origin }),
    ...(onBehalf?.parent_run_id !== undefined && { parent_run_id: onBehalf.parent_run_id }),
  };
}

/** The thread as it is now; one that was deleted meanwhile, also with its workspace, takes no more runs. */
export async function readThread(read: Store["read"], key: { workspace_id: string; thread_id: string }) {
  const row = await read(() => threadFiles.findSettings(key.workspace_id, key.thread_id));
  // One whose workspace is gone is not gone for good: what is meant for it waits.
  if (row && row.workspace_deleted_at !== null) throw workspaceNotFound(key.workspace_id);
  if (!row || row.deleted_at !== null) throw threadNotFound(key.thread_id);
  if (row.read_only !== null) {
    throw runsError(
      { kind: "thread.read_only", thread_id: key.thread_id, reason: row.read_only },
      `Nothing can be written to this thread: ${row.read_only}.`,
    );
  }
  const config: ThreadConfig = row.config === null ? {} : JSON.parse(row.config);
  return { agent_id: row.agent_id, config, row };
}

async function findByKey(
  deps: RunsDeps,
  { workspace_id, thread_id, idempotency_key }: StartParams,
): Promise<RunRow | undefined> {
  if (idempotency_key === undefined) return undefined;
  return deps.store.read(() => runs.findRunByKey({ workspace_id, thread_id }, idempotency_key));
}

/** A client that did not get its answer asks again: the first run is the answer. */
async function answerAgain(
  deps: RunsDeps,
  session: ThreadSession,
  row: RunRow,
): Promise<Result<"run/start">> {
  const request = await deps.store.read(() => requestOf(row));
  const { input, at, run_id, user_message_id: message_id, origin: from } = request;
  const asked = await restoreInput(deps, session.key, { input, at, run_id, message_id, from });
  return { run: runToWire(session.position.rows.get(row.id) ?? row), message: messageToWire(asked.message) };
}

function queueFull() {
  return runsError(
    { kind: "run.queue_full", limit: MAX_QUEUED },
    `${MAX_QUEUED} messages wait in this thread already. Let some of them be answered, or cancel them.`,
  );
}
