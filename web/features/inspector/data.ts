import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import type { Result, Run } from "../../../src/protocol/index.js";
import { call } from "../../state/gateway.js";
import { isUnderWay, keep, loadRuns, useRun, useThreadRuns } from "../../state/runs.js";
import { type RunRecord, recordOf } from "./journal.js";
import { useSteps } from "./steps.js";
import type { Told } from "./told.js";

export interface ShownRun {
  /** The run that is looked at; undefined while none is known. */
  readonly run: Run | undefined;
  /** Of this thread, oldest first. */
  readonly runs: readonly Run[];
  readonly loading: boolean;
  readonly error: unknown;
}

/** The run of an address; without one the newest that has something to show. */
export function useShownRun(ws: string, thread: string, run_id: string | undefined): ShownRun {
  const runs = useThreadRuns(thread);
  const listed = useQuery({
    queryKey: ["thread_runs", thread],
    queryFn: () => loadRuns(ws, thread).then(() => true),
  });
  const named = useRun(run_id);
  // One that is older than what was read.
  const found = useQuery({
    queryKey: ["run", run_id],
    queryFn: async () => {
      const { run } = await call("run/get", { workspace_id: ws, run_id: run_id ?? "" });
      keep([run], { told: false });
      return run;
    },
    enabled: run_id !== undefined && named === undefined && listed.isFetched,
  });
  const begins = run_id === undefined ? runs.findLast(isAtWork) : undefined;
  const sent = useSteps(begins) > 0;
  const run = run_id === undefined ? newest(runs, sent ? begins : undefined) : (named ?? found.data);
  const mine = run?.thread_id === thread ? run : undefined;
  const loading = listed.isPending || (run_id !== undefined && !mine && found.isFetching);
  return { run: mine, runs, loading, error: listed.error ?? found.error ?? undefined };
}

/** A run that has begun and sent nothing yet does not take the place of one that has. */
function newest(runs: readonly Run[], atWork: Run | undefined): Run | undefined {
  const shows = (run: Run) => run.id === atWork?.id || run.steps > 0 || !isUnderWay(run);
  return runs.findLast(shows) ?? runs.findLast(isUnderWay);
}

function isAtWork({ status }: Run): boolean {
  return status === "running" || status === "waiting";
}

/** How long what nobody looks at is kept: each run's has the size of its prompt, and a thread may have thousands. */
const KEPT_MS = 5_000;

/** What a step was told. As long as another is read, the one before stays. */
export function useTold(run: Run | undefined, step: number | undefined) {
  const last = useSteps(run);
  const at = step ?? last;
  const query = useQuery({
    queryKey: ["run_manifest", run?.thread_id, run?.id, at],
    queryFn: async (): Promise<Told> => {
      const { manifest } = await call("run/manifest", { run_id: run?.id ?? "", step: at });
      return { run_id: run?.id, step: manifest.step, manifest };
    },
    enabled: run !== undefined && at > 0,
    gcTime: KEPT_MS,
    placeholderData: (before, of) => (of?.queryKey[1] === run?.thread_id ? before : undefined),
  });
  return { ...query, steps: last };
}

export type StepContext = Result<"run/context">;

/** The words of a step, and the exact request. */
export function useContextOf(run_id: string | undefined, step: number | undefined, enabled = true) {
  return useQuery({
    queryKey: ["run_context", run_id, step],
    queryFn: () => call("run/context", { run_id: run_id ?? "", step }),
    enabled: enabled && run_id !== undefined && step !== undefined,
    gcTime: KEPT_MS,
    structuralSharing: false,
  });
}

const MOST_PAGES = 20;

/** What the journal says of a run's steps: when each was sent, and what the provider counted. */
export function useJournal(run: Run | undefined, steps: number) {
  const ended = run !== undefined && !isUnderWay(run);
  return useQuery({
    queryKey: ["run_journal", run?.id, ended ? "ended" : steps],
    queryFn: async (): Promise<RunRecord> => {
      const events: Result<"run/journal">["data"] = [];
      let cursor: string | undefined;
      for (let page = 0; page < MOST_PAGES; page++) {
        const answer = await call("run/journal", { run_id: run?.id ?? "", limit: 500, cursor });
        events.push(...answer.data);
        cursor = answer.next_cursor;
        if (cursor === undefined) break;
      }
      return recordOf(events);
    },
    enabled: run !== undefined && (steps > 0 || ended),
    gcTime: KEPT_MS,
    placeholderData: (before, of) => (of?.queryKey[1] === run?.id ? before : undefined),
    retry: false,
  });
}

/** The words behind a ref; they never change. */
export function useBlobText(ref: string | undefined) {
  return useQuery({
    queryKey: ["blob_text", ref],
    queryFn: async () => {
      const { messages, content_base64 } = await call("blob/get", { ref: ref ?? "" });
      if (!messages) return new TextDecoder().decode(bytesOf(content_base64));
      return messages.map(({ content }) => (typeof content === "string" ? content : "")).join("\n\n");
    },
    enabled: ref !== undefined,
  });
}

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

/** Hooks that are installed, with their budgets and their order. */
export function useHooks(enabled = true) {
  return useQuery({
    queryKey: ["agents", "hooks"],
    queryFn: async () => (await call("hook/list", {})).data.flatMap(({ subscriptions }) => subscriptions),
    enabled,
  });
}

export function useReplay(run: Run | undefined, idle: boolean) {
  const ended = run !== undefined && !isUnderWay(run);
  return useQuery({
    queryKey: ["run_replay", run?.id],
    queryFn: () => call("run/replay", { run_id: run?.id ?? "" }),
    enabled: ended && idle,
    retry: false,
  });
}

/** True once the window has had nothing else to do: a proof must not hold up what is looked at. */
export function useWhenIdle(key: string | undefined, set: (idle: boolean) => void): void {
  useEffect(() => {
    set(false);
    if (key === undefined) return;
    const asked = requestIdleCallback(() => set(true), { timeout: 1_000 });
    return () => cancelIdleCallback(asked);
  }, [key, set]);
}
