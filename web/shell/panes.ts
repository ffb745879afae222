import { create } from "zustand";
import { setLayout, useLayout } from "../state/prefs.js";
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
  const ws = useTree((tree) => tree.ws);
  const { sideOpen = true, inspOpen = true } = useLayout(ws);
  const { open } = useDrawers();
  const drawer = (which: "side" | "insp") => () =>
    useDrawers.setState({ open: open === which ? undefined : which });
  const keep = (change: object) => () => ws && setLayout(ws, change);
  const sideDrawer = size === "narrow";
  const inspDrawer = size !== "wide";
  return {
    side: sideDrawer ? open === "side" : sideOpen,
    insp: inspDrawer ? open === "insp" : inspOpen,
    toggleSide: sideDrawer ? drawer("side") : keep({ sideOpen: !sideOpen }),
    toggleInsp: inspDrawer ? drawer("insp") : keep({ inspOpen: !inspOpen }),
  };
}
