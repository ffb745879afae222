import { unixSeconds } from "../../base/index.js";
import { type DelegationRow, delegations, type Unit } from "../../store/index.js";
import { beginningOf } from "../../threads/index.js";
import { startRun } from "../admit.js";
import { type ChosenThread, inChosenThread } from "../choose-thread.js";
import type { RunsDeps } from "../deps.js";
import { runsError } from "../errors.js";
import type { Origin } from "../fold/events.js";
import type { Caller } from "./caller.js";
import { whyNotDelegated } from "./lineage.js";

export interface Wanted {
  readonly agentId: string;
  readonly content: string;
  readonly session: string;
  readonly mode: "sync" | "async";
  /** Fires when nobody wants it any more. */
  readonly signal: AbortSignal;
}

export interface Asked {
  readonly delegation: DelegationRow;
  readonly sessionName: string;
  /** When, in unix milliseconds. */
  readonly at: number;
  /** The call does not wait for it any more. */
  over(): void;
}

const ASKED_CHARS = 500;

/** Hands work to another agent: durably, in its own thread, as a message from this one. Or says why not. */
export async function askAgent(
  deps: RunsDeps,
  caller: Caller,
  wanted: Wanted,
  id: string,
): Promise<Asked | { readonly refusal: string }> {
  const { key, set, agent, lineage, thread: beside } = caller;
  const { agentId: agent_id, session } = wanted;
  const refusal = whyNotDelegated(set, agent, agent_id, lineage);
  if (refusal !== undefined) return { refusal };
  // Before a thread is made for it, which others may choose.
  await assertFew(deps, caller);
  wanted.signal.throwIfAborted();
  const { workspace_id } = key;
  return inChosenThread(deps, { workspace_id, agent_id, session, beside }, {}, (chosen) =>
    askIn(deps, caller, wanted, { id, ...chosen }),
  );
}

interface Place extends ChosenThread {
  /** Of the call. */
  readonly id: string;
}

async function askIn(
  deps: RunsDeps,
  caller: Caller,
  wanted: Wanted,
  { id, thread, created }: Place,
): Promise<Asked | { readonly refusal: string }> {
  const { workspace_id, thread_id: caller_thread_id } = caller.key;
  const { mode, content, agentId } = wanted;
  const over = mode === "sync" ? deps.waits.begin(workspace_id, caller_thread_id, thread.id) : () => {};
  if (!over) return { refusal: waitsForYou(agentId, thread.id) };
  const at = deps.clock.now();
  const delegation = {
    id,
    workspace_id,
    caller_thread_id,
    caller_run_id: caller.run_id ?? null,
    thread_id: thread.id,
    mode,
    thread_created: Number(created),
    asked: beginningOf(content, ASKED_CHARS),
    created_at: unixSeconds(deps.clock),
    returned_at: null,
  };
  try {
    // One that is waited for is cancelled by whoever waits; one that is not would go on for nobody.
    if (mode === "async") wanted.signal.throwIfAborted();
    const { run } = await startRun(
      deps,
      { workspace_id, thread_id: thread.id, content, config: undefined, idempotency_key: id },
      {},
      {
        origin: originOf(caller, mode),
        parent_run_id: caller.run_id,
        alongside: (run_id) => begin({ ...delegation, run_id }),
      },
    );
    return { delegation: { ...delegation, run_id: run.id }, sessionName: thread.title, at, over };
  } catch (error) {
    over();
    throw error;
  }
}

/** More than anyone follows; a model that goes round in circles is told so. */
const MOST_DELEGATED = 64;

async function assertFew(deps: RunsDeps, { run_id }: Caller): Promise<void> {
  if (run_id === undefined) return;
  const sofar = await deps.store.read(() => delegations.countDelegated(run_id));
  if (sofar >= MOST_DELEGATED) throw tooMany();
}

/** In the commit that begins it: of many calls at once none is counted too late. */
function* begin(delegation: DelegationRow): Unit<void> {
  const { caller_run_id } = delegation;
  const sofar = caller_run_id === null ? 0 : yield* delegations.countDelegated(caller_run_id);
  if (sofar > MOST_DELEGATED) throw tooMany();
  yield* delegations.insertDelegation(delegation);
}

function tooMany() {
  return runsError(
    { kind: "run.too_many_delegations", limit: MOST_DELEGATED },
    `You have handed on ${MOST_DELEGATED} tasks in this run already. Work with what came back, or tell the user what is left to do.`,
  );
}

function originOf({ key, agent, run_id, lineage }: Caller, mode: "sync" | "async"): Origin {
  return {
    kind: "delegated",
    mode,
    ...(run_id !== undefined && { run_id }),
    thread_id: key.thread_id,
    agent_id: agent.agentId,
    depth: lineage.depth + 1,
    hops: lineage.hops,
    agents: [...lineage.agents, agent.agentId],
  };
}

function waitsForYou(agentId: string, thread_id: string): string {
  return `You can't wait for ${agentId} in ${thread_id}: that thread waits for this one, directly or through others, and both would wait for ever. Use mode "async", or another session.`;
}
