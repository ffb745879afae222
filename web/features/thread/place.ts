import { createContext, useContext } from "react";
import { useDrawers, usePanes } from "../../shell/panes.js";
import { useSize } from "../../shell/size.js";
import { navigate, type ThreadRoute } from "../../state/router.js";

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

/** Opens the inspector at what a run was told. */
export function useShowContext(): (run: string | undefined) => void {
  const place = usePlace();
  const { insp, toggleInsp } = usePanes();
  const size = useSize();
  return (run) => {
    if (run !== undefined) navigate(contextRoute(place, run));
    if (insp || size === "phone") return;
    if (size === "wide") toggleInsp();
    else useDrawers.setState({ open: "insp" });
  };
}
