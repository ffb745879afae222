import { useEffect } from "react";
import type { Run } from "../../../src/protocol/index.js";
import { call } from "../../state/gateway.js";
import { keep, useRun } from "../../state/runs.js";

const asked = new Set<string>();

/** A run by its id. One that is older than those that were listed is asked for, once. */
export function useKnownRun(ws: string, run_id: string | undefined): Run | undefined {
  const run = useRun(run_id);
  const missing = run === undefined && run_id !== undefined;
  useEffect(() => {
    if (!missing || asked.has(run_id)) return;
    asked.add(run_id);
    call("run/get", { workspace_id: ws, run_id }).then(
      ({ run: found }) => keep([found], { told: false }),
      () => {},
    );
  }, [missing, run_id, ws]);
  return run;
}
