import { randomUUID } from "node:crypto";
import { isKind, unixSeconds } from "../../base/index.js";
import {
  type DelegationRow,
  delegations,
  type RunRow,
  runs,
  type Unit,
  workspaces,
} from "../../store/index.js";
import { startRun } from "../admit.js";
import type { RunsDeps } from "../deps.js";
import { drive } from "../drive.js";
import type { Origin, RunSteered } from "../fold/events.js";
import { readInput } from "../input.js";
import { commitEvents } from "../session/commit.js";
import type { SessionKey } from "../session/parts.js";
import { lineageOfCaller } from "./lineage.js";
import { type DelegationResult, readResult } from "./result.js";

const AGAIN_MS = 5_000;
/** What keeps a result from being given back may last: an agent without a key, a full queue. */
const LONGEST_MS = 600_000;

/** Results of what nobody waits for come back by themselves, from now on. Answers what ends that. */
export function giveBackResults(deps: RunsDeps): () => void {
  return deps.ends.on((row) => {
    if (row.origin !== null && (JSON.parse(row.origin) as Origin).kind === "delegated")
      tryToGiveBack(deps, row.id);
  });
}

/** What ended while no gateway was there to give it back, or its workspace was not; of one workspace, or of all. */
export async function giveBackLeft(deps: RunsDeps, workspace_id?: string): Promise<void> {
  const left = await deps.store.read(() => delegations.unreturned(workspace_id));
  for (const { run_id } of left) tryToGiveBack(deps, run_id);
}

/** Gives a result back that nobody waits for; does nothing where that was done, or is not due yet. */
export function tryToGiveBack(deps: RunsDeps, run_id: string, againMs = AGAIN_MS): void {
  giveBack(deps, run_id).catch((error) => {
    // Of a workspace that is gone, or about to go, it comes back when that is there again.
    if (deps.sessions.closing || isKind(error, "workspace.not_found")) return;
    deps.report(error, "the result of a delegated run could not be given back; it is tried again");
    later(deps, againMs, (pauseMs) => tryToGiveBack(deps, run_id, pauseMs));
  });
}

function later({ sessions }: RunsDeps, afterMs: number, again: (pauseMs: number) => void): void {
  const due = () => {
    if (!sessions.closing) again(Math.min(2 * afterMs, LONGEST_MS));
  };
  setTimeout(due, afterMs).unref();
}

/**
 * Nobody waits for it any more; it may have ended just before. Where the store does not take that it is tried again: the
 * one who waited was told that the result comes back. Resolves after the first attempt.
 */
export async function letComeBack(
  deps: RunsDeps,
  delegation: DelegationRow,
  againMs = AGAIN_MS,
): Promise<void> {
  const { id, run_id, workspace_id } = delegation;
  // A gateway that is killed before the next attempt must not leave a run that has ended and that nobody hears of.
  deps.waits.left.add(run_id);
  try {
    await deps.store.write({ key: workspace_id }, function* () {
      yield* workspaces.lockWorkspace(workspace_id);
      yield* delegations.leaveDelegation(id);
    });
  } catch (error) {
    if (deps.sessions.closing) return;
    deps.report(error, "that nobody waits for a delegated run could not be written; it is tried again");
    return later(deps, againMs, (pauseMs) => void letComeBack(deps, delegation, pauseMs));
  }
  deps.waits.left.delete(run_id);
  tryToGiveBack(deps, run_id);
}

async function giveBack(deps: RunsDeps, run_id: string): Promise<void> {
  const { delegation, row } = await deps.store.read(function* () {
    return { delegation: yield* delegations.findDelegationOfRun(run_id), row: yield* runs.findRun(run_id) };
  });
  if (delegation?.mode !== "async" || delegation.returned_at !== null) return;
  if (!row || row.last_seq === null) return;
  const key = { workspace_id: delegation.workspace_id, thread_id: delegation.caller_thread_id };
  const given: Given = {
    delegation,
    content: wordsFor(delegation, await readResult(deps, delegation, row)),
    origin: returnedFrom(row),
  };
  try {
    if (!(await steer(deps, key, given))) await send(deps, key, given);
  } catch (error) {
    if (isTaken(error)) return;
    if (!isKind(error, "thread.not_found")) throw error;
    // The thread that asked is not there any more: there is nobody to tell.
    await deps.store.write({ key: key.workspace_id }, () => claim(deps, delegation));
  }
}

interface Given {
  readonly delegation: DelegationRow;
  readonly content: string;
  readonly origin: Origin;
}

function returnedFrom(row: RunRow): Origin {
  const asked = JSON.parse(row.origin ?? "{}") as Origin;
  return {
    kind: "returned",
    mode: "async",
    run_id: row.id,
    thread_id: row.thread_id,
    agent_id: row.agent_id,
    ...lineageOfCaller(asked),
  };
}

/** A thread that is at work gets it with its next step. False when nothing is under way there, or it is about to end. */
async function steer(
  deps: RunsDeps,
  key: SessionKey,
  { content, origin, delegation }: Given,
): Promise<boolean> {
  const session = await deps.sessions.open(key);
  const run_id = session.active?.run_id;
  if (run_id === undefined) return false;
  const at = deps.clock.now();
  const input = await readInput(deps, key, { content, run_id, at, from: origin });
  const steered = await session.change(async () => {
    const { active, stop, ending, failure } = session;
    const over = active?.phase === "ending" || stop.signal.aborted || ending || failure;
    if (active?.run_id !== run_id || over) return false;
    const event: RunSteered = {
      type: "run.steered",
      at,
      run_id,
      input: input.encoded.ref,
      user_message_id: input.message.id,
      agent_message_id: randomUUID(),
      origin,
    };
    const alongside = () => claimOrStop(deps, delegation);
    await commitEvents(deps, session, [event], { blobs: [input.encoded], alongside });
    session.inputs.set(input.message.id, input);
    return true;
  });
  if (steered) drive(deps, session);
  return steered;
}

async function send(deps: RunsDeps, key: SessionKey, { content, origin, delegation }: Given): Promise<void> {
  await startRun(
    deps,
    { ...key, content, config: undefined, idempotency_key: `returned:${delegation.id}` },
    {},
    { origin, parent_run_id: origin.run_id, alongside: () => claimOrStop(deps, delegation) },
  );
}

function* claim(deps: RunsDeps, { id, workspace_id }: DelegationRow): Unit<boolean> {
  yield* workspaces.lockWorkspace(workspace_id);
  return yield* delegations.claimResult(id, unixSeconds(deps.clock));
}

class Taken extends Error {}

/** In the commit that gives it back: nothing of that is written when somebody else gave it back already. */
function* claimOrStop(deps: RunsDeps, delegation: DelegationRow): Unit<void> {
  if (!(yield* claim(deps, delegation))) throw new Taken();
}

function isTaken(error: unknown): boolean {
  return error instanceof Taken;
}

/** What the one who asked is told: it may have been long ago, so it is told what it asked, too. */
function wordsFor({ asked }: DelegationRow, result: DelegationResult): string {
  const { status, agentId, sessionId, responseId, response, message } = result;
  const head = `[agents_message] ${agentId} has ${ENDED[status]} what you asked it in the background.`;
  const facts = `agentId: ${agentId}\nsessionId: ${sessionId}\nresponseId: ${responseId}\nstatus: ${status}`;
  const parts = [head, facts, `You had asked:\n${asked}`];
  if (message !== undefined) parts.push(`Why:\n${message}`);
  if (response !== "") parts.push(`Its answer${result.truncated ? " (cut)" : ""}:\n${response}`);
  // An answer may hold what a message may not.
  return parts.join("\n\n").replaceAll("\0", "\uFFFD").toWellFormed();
}

const ENDED: Readonly<Record<DelegationResult["status"], string>> = {
  complete: "completed",
  failed: "failed at",
  cancelled: "been stopped at",
  interrupted: "been interrupted at",
};
