import { useEffect } from "react";
import { usePanes } from "../../shell/panes.js";
import { useRoute } from "../../state/router.js";
import { useRuns } from "../../state/runs.js";
import { useTree } from "../../state/tree.js";
import { note, useProgressIn } from "./progress.js";

/** Notes what was done, however it was done: the steps are never the only way. */
export function useObserve(ws: string | undefined): void {
  const progress = useProgressIn(ws);
  const asked = useRuns(({ byId }) =>
    some(byId, (run) => run.workspace_id === ws && run.status === "completed"),
  );
  const delegated = useRuns(({ byId }) =>
    some(
      byId,
      (run) => run.workspace_id === ws && run.origin?.kind === "delegated" && run.status === "completed",
    ),
  );
  const since = useTree(({ docs }) =>
    Math.min(...[...docs.values()].filter(({ status }) => status === "active").map((doc) => doc.updated_at)),
  );
  const written = Number.isFinite(since);
  const seen = useSeen(since) && written;
  useEffect(() => {
    if (ws === undefined) return;
    const now = { asked, written, seen, delegated };
    const fresh = Object.entries(now).filter(([key, is]) => is && !progress[key as keyof typeof now]);
    if (fresh.length > 0) note(ws, Object.fromEntries(fresh));
  }, [ws, progress, asked, written, seen, delegated]);
}

function some<T>(all: ReadonlyMap<string, T>, isSo: (each: T) => boolean): boolean {
  for (const each of all.values()) if (isSo(each)) return true;
  return false;
}

/** Whether the inspector shows a run that began with the instructions. */
function useSeen(since: number): boolean {
  const route = useRoute();
  const { insp } = usePanes();
  const thread = route.view === "thread" ? route.thread : undefined;
  const told = useRuns(({ byId, byThread }) =>
    (byThread.get(thread ?? "") ?? []).some((id) => {
      const run = byId.get(id);
      return run?.status === "completed" && run.created_at >= since;
    }),
  );
  const shown = insp || (route.view === "thread" && route.pane === "context");
  return told && shown;
}
