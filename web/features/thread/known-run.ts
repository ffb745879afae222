import { useEffect } from "react";
import type { Run } from "../../../src/protocol/index.js";
import { client } from "../../state/gateway.js";
import { loadRun, useRun } from "../../state/runs.js";

const asked = new Set<string>();
client.onResync(() => asked.clear());

/** A run by its id. One that is older than those that were listed is asked for, once. */
export function useKnownRun(ws: string, run_id: string | undefined): Run | undefined {
  const run = useRun(run_id);
  const missing = run === undefined && run_id !== undefined;
  useEffect(() => {
    if (!missing || asked.has(run_id)) return;
    asked.add(run_id);
    loadRun(ws, run_id).catch(() => {});
  }, [missing, run_id, ws]);
  return run;
}
