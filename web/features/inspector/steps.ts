import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { create } from "zustand";
import type { Run } from "../../../src/protocol/index.js";
import { call, client } from "../../state/gateway.js";
import { followThread } from "../../state/live.js";
import { isUnderWay } from "../../state/runs.js";

/** How far runs under way have come: a run is told of when it begins and ends, its steps only by what they say. */
const useLive = create<{ readonly steps: ReadonlyMap<string, number> }>()(() => ({ steps: new Map() }));

function heard({ run_id, step }: { readonly run_id: string; readonly step: number }): void {
  const { steps } = useLive.getState();
  if ((steps.get(run_id) ?? 0) < step) useLive.setState({ steps: new Map(steps).set(run_id, step) });
}
client.on("run/delta", heard);
client.on("run/tool", heard);

const TRIES = 6;

/** How many steps a run has sent, as far as is known. */
export function useSteps(run: Run | undefined): number {
  const live = useLive(({ steps }) => (run ? (steps.get(run.id) ?? 0) : 0));
  const known = Math.max(run?.steps ?? 0, live);
  const begins = run?.status === "running" && known === 0;
  // What a run was told is there before its first word comes, which may take long.
  const { data = 0 } = useQuery({
    queryKey: ["run_begins", run?.id],
    queryFn: () => firstStep(run?.id ?? ""),
    enabled: begins,
    retry: TRIES,
    retryDelay: (tried) => 100 * 2 ** tried,
    gcTime: 0,
  });
  return Math.max(known, data);
}

async function firstStep(run_id: string): Promise<number> {
  const { run } = await call("run/get", { run_id });
  if (isUnderWay(run) && run.steps === 0) throw new Error("nothing was sent yet");
  return run.steps;
}

/** Hears a thread's steps, also where its transcript is not shown. */
export function useFollow(ws: string, thread_id: string): void {
  useEffect(() => followThread(ws, thread_id), [ws, thread_id]);
}
