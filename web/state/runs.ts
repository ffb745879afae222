import { create } from "zustand";
import { useShallow } from "zustand/react/shallow";
import type { Run } from "../../src/protocol/index.js";
import { isRefused } from "./errors.js";
import { call, client } from "./gateway.js";

/** Every run this window has heard of. */
interface Runs {
  readonly byId: ReadonlyMap<string, Run>;
  /** Ids by thread, oldest first. */
  readonly byThread: ReadonlyMap<string, readonly string[]>;
}

export const useRuns = create<Runs>()(() => ({ byId: new Map(), byThread: new Map() }));

const UNDER_WAY = new Set(["queued", "running", "waiting"]);

export function isUnderWay(run: Run): boolean {
  return UNDER_WAY.has(run.status);
}

client.on("run/changed", ({ run }) => keep([run]));

/** Runs that may have changed without a word: of these the next answer counts. */
const doubted = new Set<string>();

/** Takes runs in. What was told later stays: an answer may be older than a notification. */
export function keep(runs: readonly Run[], options: { told?: boolean } = { told: true }): void {
  const { byId, byThread } = useRuns.getState();
  const ids = new Map(byId);
  const threads = new Map(byThread);
  for (const run of runs) {
    if (!options.told && ids.has(run.id) && !doubted.has(run.id)) continue;
    doubted.delete(run.id);
    if (!ids.has(run.id))
      threads.set(run.thread_id, sorted([...(threads.get(run.thread_id) ?? []), run.id], ids, run));
    ids.set(run.id, run);
  }
  useRuns.setState({ byId: ids, byThread: threads });
}

function sorted(list: string[], known: ReadonlyMap<string, Run>, added: Run): string[] {
  const number = (id: string) => (id === added.id ? added : known.get(id))?.number ?? 0;
  return list.sort((a, b) => number(a) - number(b));
}

interface Asked {
  readonly ws: string;
  readonly reading: Promise<void>;
}

/** By thread, the one that was looked at last behind the others. */
const asked = new Map<string, Asked>();
/** What could not be read, by what it is of. It is read when there is a connection again. */
const unread = new Map<string, () => Promise<void>>();

/** Reads a thread's newest runs, once; afterwards they are told of. */
export function loadRuns(ws: string, thread_id: string): Promise<void> {
  const known = asked.get(thread_id);
  asked.delete(thread_id);
  const mine = known ?? { ws, reading: readRuns(ws, thread_id) };
  asked.set(thread_id, mine);
  mine.reading.catch(() => {
    if (asked.get(thread_id) === mine) asked.delete(thread_id);
  });
  return mine.reading;
}

async function readRuns(workspace_id: string, thread_id: string): Promise<void> {
  const reading = call("run/list", { workspace_id, thread_id, order: "created", limit: MOST });
  const { data } = await insisting(thread_id, reading, () => loadRuns(workspace_id, thread_id));
  keep(data, { told: false });
}

const MOST = 100;

/** Reads what is under way in a workspace: for the marks and for what waits. */
export async function loadUnderWay(workspace_id: string): Promise<void> {
  const reading = call("run/list", { workspace_id, status: ["queued", "running", "waiting"], limit: MOST });
  const { data } = await insisting(workspace_id, reading, () => loadUnderWay(workspace_id));
  keep(data, { told: false });
  if (data.length < MOST) dropEnded(workspace_id);
}

/** Reads one run, where it is older than those that are listed. */
export async function loadRun(workspace_id: string, run_id: string): Promise<void> {
  const { run } = await insisting(run_id, call("run/get", { workspace_id, run_id }), () =>
    loadRun(workspace_id, run_id),
  );
  keep([run], { told: false });
}

/** A run that was under way and is not any more: how it ended is read where it is shown. */
function dropEnded(ws: string): void {
  const { byId, byThread } = useRuns.getState();
  const ended = [...byId.values()].filter(
    (run) => run.workspace_id === ws && doubted.has(run.id) && isUnderWay(run),
  );
  if (ended.length === 0) return;
  const [ids, threads] = [new Map(byId), new Map(byThread)];
  for (const { id, thread_id } of ended) {
    ids.delete(id);
    doubted.delete(id);
    threads.set(
      thread_id,
      (threads.get(thread_id) ?? []).filter((each) => each !== id),
    );
  }
  useRuns.setState({ byId: ids, byThread: threads });
}

/** An answer that got lost is asked for again; a refusal is an answer. */
async function insisting<T>(key: string, answer: Promise<T>, again: () => Promise<void>): Promise<T> {
  unread.delete(key);
  try {
    return await answer;
  } catch (error) {
    if (!isRefused(error)) unread.set(key, again);
    throw error;
  }
}

client.onState((state) => {
  if (state === "open") for (const again of [...unread.values()]) again().catch(() => {});
});

/** Threads whose runs are read again at once when they were missed: those that may be in view. */
const KEPT = 8;

client.onResync((ws) => {
  for (const run of useRuns.getState().byId.values()) if (run.workspace_id === ws) doubted.add(run.id);
  const threads = [...asked].filter(([, each]) => each.ws === ws).map(([thread_id]) => thread_id);
  for (const thread_id of threads) asked.delete(thread_id);
  for (const thread_id of threads.slice(-KEPT)) loadRuns(ws, thread_id).catch(() => {});
  loadUnderWay(ws).catch(() => {});
});

export function useRun(id: string | undefined): Run | undefined {
  return useRuns(({ byId }) => (id === undefined ? undefined : byId.get(id)));
}

const NONE: readonly string[] = [];

/** A thread's runs, oldest first. */
export function useThreadRuns(thread_id: string): readonly Run[] {
  return useRuns(
    useShallow(({ byId, byThread }) => (byThread.get(thread_id) ?? NONE).map((id) => byId.get(id) as Run)),
  );
}

/** The run that is at work in a thread, or waits for somebody. */
export function useActiveRun(thread_id: string): Run | undefined {
  return useRuns(({ byId, byThread }) =>
    (byThread.get(thread_id) ?? NONE)
      .map((id) => byId.get(id) as Run)
      .find(({ status }) => status === "running" || status === "waiting"),
  );
}

/** What waits for its turn in a thread, next first. */
export function useQueue(thread_id: string): readonly Run[] {
  return useRuns(
    useShallow(({ byId, byThread }) =>
      (byThread.get(thread_id) ?? NONE)
        .map((id) => byId.get(id) as Run)
        .filter(({ status }) => status === "queued"),
    ),
  );
}

/** Runs of this workspace that wait for somebody, oldest first. */
export function useWaiting(ws: string | undefined): readonly Run[] {
  return useRuns(
    useShallow(({ byId }) =>
      [...byId.values()]
        .filter(({ status, workspace_id }) => status === "waiting" && workspace_id === ws)
        .sort((a, b) => a.created_at - b.created_at),
    ),
  );
}
