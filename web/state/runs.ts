import { create } from "zustand";
import { useShallow } from "zustand/react/shallow";
import type { Run } from "../../src/protocol/index.js";
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

/** Takes runs in. What was told later stays: an answer may be older than a notification. */
export function keep(runs: readonly Run[], options: { told?: boolean } = { told: true }): void {
  const { byId, byThread } = useRuns.getState();
  const ids = new Map(byId);
  const threads = new Map(byThread);
  for (const run of runs) {
    if (!options.told && ids.has(run.id)) continue;
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

const asked = new Map<string, Promise<void>>();

/** Reads a thread's newest runs, once; afterwards they are told of. */
export function loadRuns(ws: string, thread_id: string): Promise<void> {
  const known = asked.get(thread_id);
  if (known) return known;
  const reading = call("run/list", { workspace_id: ws, thread_id, order: "created", limit: 100 }).then(
    ({ data }) => keep(data, { told: false }),
    (error: unknown) => {
      asked.delete(thread_id);
      throw error;
    },
  );
  asked.set(thread_id, reading);
  return reading;
}

/** Reads what is under way in a workspace: for the marks and for what waits. */
export async function loadUnderWay(workspace_id: string): Promise<void> {
  const { data } = await call("run/list", {
    workspace_id,
    status: ["queued", "running", "waiting"],
    limit: 100,
  });
  keep(data, { told: false });
}

client.onResync((ws) => {
  asked.clear();
  useRuns.setState({ byId: new Map(), byThread: new Map() });
  void loadUnderWay(ws);
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
