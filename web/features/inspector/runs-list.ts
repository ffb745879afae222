import { useQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useRef } from "react";
import type { Run } from "../../../src/protocol/index.js";
import { call } from "../../state/gateway.js";
import { keep, useRuns, useThreadRuns } from "../../state/runs.js";

/** A row of the tab Runs: a run of the thread, or one that was delegated from it. */
export interface RunRow {
  readonly run: Run;
  readonly depth: number;
}

/** A thread's runs, newest first, each with what was delegated from it. */
export function useRunRows(thread: string): readonly RunRow[] {
  const runs = useThreadRuns(thread);
  const byId = useRuns(({ byId: known }) => known);
  return useMemo(() => {
    const children = new Map<string, Run[]>();
    for (const run of byId.values()) {
      if (run.parent_run_id === undefined || run.thread_id === thread) continue;
      children.set(run.parent_run_id, [...(children.get(run.parent_run_id) ?? []), run]);
    }
    return runs.toReversed().flatMap((run) => withChildren(run, children, 0));
  }, [runs, byId, thread]);
}

/** Deeper than agents may ask each other; a record that names itself must not hang the page. */
const DEEPEST = 16;

function withChildren(run: Run, children: ReadonlyMap<string, readonly Run[]>, depth: number): RunRow[] {
  const below = depth < DEEPEST ? (children.get(run.id) ?? []) : [];
  const inOrder = below.toSorted((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1));
  return [{ run, depth }, ...inOrder.flatMap((child) => withChildren(child, children, depth + 1))];
}

/** Reads what was delegated from a run before this window heard of it, once. */
export function useDelegated({ id, workspace_id }: Run, enabled: boolean): void {
  useQuery({
    queryKey: ["run_tree", id],
    queryFn: async () => {
      const { data } = await call("run/list", { workspace_id, tree_of: id, limit: 100 });
      keep(data, { told: false });
      return data.length;
    },
    enabled,
  });
}

/** Reads older runs, a page at a time, until the first. */
export function useOlder(ws: string, thread_id: string): () => void {
  const at = useRef<Reading>({ cursor: undefined, busy: false, done: false });
  return useCallback(() => {
    const reading = at.current;
    if (reading.busy || reading.done) return;
    reading.busy = true;
    void readOlder({ workspace_id: ws, thread_id }, reading)
      .catch(() => {})
      .finally(() => {
        reading.busy = false;
      });
  }, [ws, thread_id]);
}

interface Reading {
  cursor: string | undefined;
  busy: boolean;
  done: boolean;
}

/** Until something comes that was not known: the newest page is. */
async function readOlder(of: { workspace_id: string; thread_id: string }, reading: Reading): Promise<void> {
  while (!reading.done) {
    const params = { ...of, order: "created" as const, limit: 100, cursor: reading.cursor };
    const { data, next_cursor } = await call("run/list", params);
    const { byId } = useRuns.getState();
    const news = data.some(({ id }) => !byId.has(id));
    keep(data, { told: false });
    reading.cursor = next_cursor;
    reading.done = next_cursor === undefined;
    if (news) return;
  }
}
