import { useEffect } from "react";
import { create } from "zustand";
import { navigate, type Pane, type Route, type ThreadRoute } from "../../state/router.js";

/** Which tab was open last: going to another thread does not close it. */
const useLast = create<{ readonly tab: Pane }>()(() => ({ tab: "context" }));

/** The tab that is open: what the address names, else the last one. */
export function useTab(route: Route): Pane {
  const last = useLast(({ tab }) => tab);
  const named = route.view === "thread" ? route.pane : undefined;
  useEffect(() => {
    if (named) useLast.setState({ tab: named });
  }, [named]);
  return named ?? last;
}

/** Tabs leave no trail: Back leads out of the inspector, not through it. */
export function openTab({ ws, thread }: ThreadRoute, tab: Pane): void {
  navigate({ view: "thread", ws, thread, pane: tab }, { replace: true });
}
