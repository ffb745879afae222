import { unixSeconds } from "../../base/index.js";
import { appendEvents } from "../../journal/index.js";
import type { Run } from "../../protocol/index.js";
import {
  blobs,
  delegations,
  history,
  notifications,
  type RunRow,
  runs,
  type ThreadRow,
  threads,
  type Unit,
  workspaces,
} from "../../store/index.js";
import type { WithIt } from "../../threads/index.js";
import { threadToWire, treeChanged, workspaceNotFound } from "../../tree/index.js";
import type { RunsDeps } from "../deps.js";
import type { RunEvent } from "../fold/events.js";
import { type Plan, planEvents } from "../fold/plan.js";
import { asking, awaitsAnswer } from "../fold/state.js";
import { isDelegated, runsToWire, runToWire } from "../wire.js";
import type { AddedHistory } from "./history.js";
import type { KeptBlob } from "./parts.js";
import type { ThreadSession } from "./session.js";

/** What is written together with events. */
export interface Extras {
  readonly blobs?: readonly KeptBlob[];
  readonly told?: AddedHistory | undefined;
  readonly origin?: unknown;
  /** Of other tables, in the same commit. */
  readonly alongside?: () => Unit<void>;
  /** Something of the thread itself changes with it. */
  readonly changesThread?: boolean;
  /** Of the thread's row, what nobody is told of. */
  readonly thread?: Partial<ThreadRow> | undefined;
}

/** Writes events that change nothing in the thread's log. The caller has the session's turn. */
export async function commitEvents(
  deps: RunsDeps,
  session: ThreadSession,
  events: readonly RunEvent[],
  extras: Extras = {},
): Promise<void> {
  const plan = planEvents(session.position, session.key, events);
  await writeEvents(deps, session, plan, extras);
  adoptPlan(deps, session, plan, extras);
}

/**
 * The same for events that end nothing: resolves when they are committed, and answers when they are on disk. Until then
 * nobody is told of them, and nothing that follows from them is written to the log.
 */
export async function commitAhead(
  deps: RunsDeps,
  session: ThreadSession,
  events: readonly RunEvent[],
  extras: Extras,
): Promise<{ durable: Promise<void> }> {
  const plan = planEvents(session.position, session.key, events);
  return new Promise((resolve, reject) => {
    const written = () => {
      adoptPlan(deps, session, plan, extras);
      session.durable = durable;
      resolve({ durable });
    };
    const durable: Promise<void> = writeEvents(deps, session, plan, { ...extras, written });
    durable.catch(reject);
  });
}

async function writeEvents(
  deps: RunsDeps,
  session: ThreadSession,
  plan: Plan,
  extras: Extras & { readonly written?: () => void },
): Promise<void> {
  const { workspace_id, thread_id } = session.key;
  const before = statusOf(session);
  const events = plan.happened;
  const options = {
    key: workspace_id,
    origin: extras.origin,
    ...(extras.written && { written: extras.written }),
  };
  await deps.store.write(options, function* () {
    const stays = (yield* workspaces.lockWorkspace(workspace_id)) && !deps.leaving.has(workspace_id);
    if (!stays && events.some(beginsWork)) throw workspaceNotFound(workspace_id);
    const { changes, told } = yield* writePlan(deps, session, plan, extras);
    if (extras.alongside) yield* extras.alongside();
    // A status that changes without a message is told of by itself.
    const { status, ...rest } = changes;
    const visible = status !== undefined && status !== before;
    if (visible || Object.keys(rest).length > 0)
      yield* threads.updateThread(workspace_id, thread_id, changes);
    const tells = (visible && tellsStatus(events)) || extras.changesThread;
    const more = tells ? yield* statusTold(session) : [];
    yield* notifications.announce(workspace_id, unixSeconds(deps.clock), [...more, ...told]);
  });
}

/** In a workspace that is gone or about to go, what is under way ends, and nothing is asked any more. */
function beginsWork({ type }: RunEvent): boolean {
  return type === "run.requested" || type === "run.steered";
}

/** When a run begins, its message is about to be told of, with the thread. */
function tellsStatus(events: readonly RunEvent[]): boolean {
  return !events.some(({ type }) => type === "run.requested");
}

function* statusTold({ key }: ThreadSession): Unit<notifications.Announcement[]> {
  const [row] = yield* threads.findPlacedThreads(key.workspace_id, [key.thread_id]);
  if (!row || row.deleted_at !== null) return [];
  const thread = threadToWire(row);
  return [
    { method: "thread/changed", params: { thread } },
    treeChanged(key.workspace_id, { threads: [thread] }),
  ];
}

/** The part of a unit that writes a plan, for a commit that also changes the log. */
export function* writePlan(
  deps: RunsDeps,
  session: ThreadSession,
  plan: Plan,
  { blobs: given = [], told, thread }: Extras,
): Unit<WithIt> {
  const { workspace_id, thread_id } = session.key;
  const at = unixSeconds(deps.clock);
  yield* appendEvents(session.key, plan.events);
  yield* writeRuns(deps, plan);
  const ids = plan.blobIds;
  ids.clear();
  for (const [hash, id] of session.told) ids.set(hash, id);
  for (const { ref, text, soonTold } of given) {
    if (session.held.has(ref)) continue;
    const put = soonTold ? blobs.putNewBlob : blobs.putBlob;
    const id = yield* put({ hash: hashOf(ref), content: bytesOf(text) }, at);
    ids.set(hashOf(ref), id);
    if (!soonTold) yield* blobs.useBlobs(workspace_id, thread_id, [id]);
  }
  if (told) yield* writeHistory(session, told, { ids, at });
  const changes: Partial<ThreadRow> = {
    ...thread,
    status: statusAfter(plan),
    ...(told && {
      history_epoch: told.epoch,
      history_from: told.from,
      ...(told.covered !== undefined && { history_to: told.covered }),
    }),
  };
  const isSeen = (row: RunRow) => isNews(session, row);
  const [made, changed] = [plan.made.filter(isSeen), plan.changed.filter(isSeen)];
  const above = yield* callersToTell(session, [...made, ...changed]);
  const under = deps.sessions.delegatedMayAsk
    ? yield* runsToWire(changed)
    : changed.map((row) => runToWire(row));
  const news = [...made.map((row) => runToWire(row)), ...under, ...above];
  return { changes, told: news.map((run) => ({ method: "run/changed", params: { run } })) };
}

/** One that nobody waits for any more, as nobody could write down yet, ends as one whose result comes back. */
function* writeRuns({ waits }: RunsDeps, { made, changed }: Plan): Unit<void> {
  for (const row of made) yield* runs.insertRun(row);
  for (const row of changed.toSorted(endedFirst)) {
    yield* runs.updateRun(row);
    if (row.last_seq !== null && waits.left.has(row.id)) yield* delegations.leaveDelegationOfRun(row.id);
  }
}

/** What a delegated run asks is shown where it was delegated from, too. */
function* callersToTell(session: ThreadSession, seen: readonly RunRow[]): Unit<Run[]> {
  const asking = seen.filter(
    (row) => isDelegated(row) && row.approvals !== (session.position.rows.get(row.id)?.approvals ?? null),
  );
  const told: Run[] = [];
  for (const { parent_run_id } of asking) {
    const above = yield* runs.withAncestors(parent_run_id as string);
    const first = above.findIndex((row) => !isDelegated(row));
    told.push(...(yield* runsToWire(first === -1 ? above : above.slice(0, first + 1))));
  }
  return told;
}

/** One run of a thread is under way at a time: the one that ends makes room for the next. */
function endedFirst(a: { last_seq: number | null }, b: { last_seq: number | null }): number {
  return Number(a.last_seq === null) - Number(b.last_seq === null);
}

function* writeHistory(
  session: ThreadSession,
  told: AddedHistory,
  { ids, at }: { ids: ReadonlyMap<string, number>; at: number },
): Unit<void> {
  const { workspace_id, thread_id } = session.key;
  let pos = told.first;
  for (const { hash, text, list_hash, role, chars, tokens, message_id } of told.rows) {
    const blob_id = ids.get(hash) ?? (yield* blobs.putNewBlob({ hash, content: bytesOf(text) }, at));
    yield* history.appendHistory({
      workspace_id,
      thread_id,
      epoch: told.epoch,
      pos: pos++,
      blob_id,
      list_hash,
      role,
      chars,
      tokens,
      message_id,
    });
  }
}

const SEEN = ["status", "content", "approvals", "steering"] as const satisfies readonly (keyof RunRow)[];

/** What a client would see another way: each step on its own is no news. */
function isNews(session: ThreadSession, row: Pick<RunRow, "id" | (typeof SEEN)[number]>): boolean {
  const before = session.position.rows.get(row.id);
  return SEEN.some((column) => before?.[column] !== row[column]);
}

function statusOf({ position }: ThreadSession): ThreadRow["status"] {
  return statusAfter(position);
}

function statusAfter({ state }: Pick<Plan, "state">): ThreadRow["status"] {
  if (!state.active) return "idle";
  return asking(state.active).length > 0 || awaitsAnswer(state.active) ? "waiting" : "running";
}

/** What was written is what is. */
export function adoptPlan(
  deps: RunsDeps,
  session: ThreadSession,
  plan: Plan,
  { blobs: given = [], told }: Extras,
): void {
  session.adopt(plan, plan.happened);
  for (const row of plan.changed) if (row.last_seq !== null) deps.ends.tell(row);
  for (const { ref, soonTold } of given) {
    const id = plan.blobIds.get(hashOf(ref));
    if (!soonTold) session.held.add(ref);
    else if (id !== undefined) session.told.set(hashOf(ref), id);
  }
  if (!told) return;
  session.history?.adopt(told);
  session.told.clear();
}

export function hashOf(ref: string): string {
  return ref.slice("sha256:".length);
}

function bytesOf(text: string | Uint8Array): Uint8Array {
  return typeof text === "string" ? Buffer.from(text) : text;
}
