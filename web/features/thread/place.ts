import { createContext, useContext } from "react";
import { useDrawers, usePanes } from "../../shell/panes.js";
import { useSize } from "../../shell/size.js";
import { navigate, type ThreadRoute } from "../../state/router.js";
import { loadRun, useRuns } from "../../state/runs.js";

/** Which thread a part of the transcript belongs to. */
export interface Place {
  readonly ws: string;
  readonly thread: string;
}

export const PlaceContext = createContext<Place>({ ws: "", thread: "" });

export function usePlace(): Place {
  return useContext(PlaceContext);
}

export function contextRoute({ ws, thread }: Place, run: string | undefined): ThreadRoute {
  return { view: "thread", ws, thread, pane: "context", run };
}

/** Opens the inspector at what a run was told. A fork's messages are of runs of another thread: only there it can be shown. */
export function useShowContext(): (run: string) => Promise<void> {
  const place = usePlace();
  const { insp, toggleInsp } = usePanes();
  const size = useSize();
  return async (run) => {
    navigate(contextRoute({ ...place, thread: await threadOf(place, run) }, run));
    if (insp || size === "phone") return;
    if (size === "wide") toggleInsp();
    else useDrawers.setState({ open: "insp" });
  };
}

/** Where a run took place; a run that can't be read is looked for here, where it is said that there is none. */
async function threadOf({ ws, thread }: Place, run: string): Promise<string> {
  const known = () => useRuns.getState().byId.get(run)?.thread_id;
  if (known() === undefined) await loadRun(ws, run).catch(() => {});
  return known() ?? thread;
}
