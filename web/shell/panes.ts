import { create } from "zustand";
import { setLayout, useLayout } from "../state/prefs.js";
import { navigate, type Route, useRoute } from "../state/router.js";
import { useTree } from "../state/tree.js";
import { useSize } from "./size.js";

/** Drawers of a window that has no room for all panes. They are not remembered: a window begins with main. */
export const useDrawers = create<{ readonly open: "side" | "insp" | undefined }>()(() => ({
  open: undefined,
}));

export interface Panes {
  readonly side: boolean;
  readonly insp: boolean;
  toggleSide(): void;
  toggleInsp(): void;
}

/** Which panes are shown now, and how to show and hide them at this width. */
export function usePanes(): Panes {
  const size = useSize();
  const route = useRoute();
  const ws = useTree((tree) => tree.ws);
  const { sideOpen = true, inspOpen = true } = useLayout(ws);
  const { open } = useDrawers();
  const drawer = (which: "side" | "insp") => () =>
    useDrawers.setState({ open: open === which ? undefined : which });
  // What is known about a document has no address of its own: it lies over it there, too.
  if (size === "phone" && route.view === "doc")
    return { ...phonePanes(route), insp: open === "insp", toggleInsp: drawer("insp") };
  if (size === "phone") return phonePanes(route);
  const keep = (change: object) => () => ws && setLayout(ws, change);
  const sideDrawer = size === "narrow";
  const inspDrawer = size !== "wide";
  // Where there is nothing to inspect, nobody would see what the key does until the next thread.
  const inspects = route.view === "thread" || route.view === "doc";
  const toggleInsp = inspDrawer ? drawer("insp") : keep({ inspOpen: !inspOpen });
  return {
    side: sideDrawer ? open === "side" : sideOpen,
    insp: inspDrawer ? open === "insp" : inspOpen,
    toggleSide: sideDrawer ? drawer("side") : keep({ sideOpen: !sideOpen }),
    toggleInsp: inspects ? toggleInsp : () => {},
  };
}

/** On a phone a pane is an address: the same keys lead there and back. */
function phonePanes(route: Route): Panes {
  return {
    side: route.view === "home",
    insp: route.view === "thread" && route.pane !== undefined,
    toggleSide: () => toTree(route),
    toggleInsp: () => toContext(route),
  };
}

function toTree(route: Route): void {
  if (route.view !== "home") navigate({ view: "home", ws: route.ws });
}

function toContext(route: Route): void {
  if (route.view !== "thread") return;
  const { view, ws, thread, pane } = route;
  navigate({ view, ws, thread, ...(pane === undefined && { pane: "context" }) });
}
