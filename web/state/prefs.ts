import { create } from "zustand";
import { persist } from "zustand/middleware";
import { browserStorage, followOtherWindows } from "./browser-storage.js";

export interface Prefs {
  readonly theme: "system" | "light" | "dark";
  readonly density: "normal" | "roomy";
  /** Whether single keys are commands outside of text fields. */
  readonly singleKeys: boolean;
  readonly notify: "ask" | "on" | "off";
  readonly groupBy: "folder" | "agent";
  readonly brief: boolean;
  /** By workspace id: what is open, and how wide. */
  readonly layout: Readonly<Record<string, Layout>>;
}

export interface Layout {
  readonly side?: number;
  readonly insp?: number;
  readonly sideOpen?: boolean;
  readonly inspOpen?: boolean;
  readonly openFolders?: readonly string[];
  /** When threads are grouped by agent: the groups that are shut. */
  readonly closedAgents?: readonly string[];
  /** Rows of the tree, by their keys: those that are selected, and the one that had the focus. */
  readonly picked?: readonly string[];
  readonly focusRow?: string;
  /** How far the tree is scrolled. */
  readonly scroll?: number;
}

const KEY = "heddle.prefs";

export const usePrefs = create<Prefs>()(
  persist(
    (): Prefs => ({
      theme: "system",
      density: "normal",
      singleKeys: true,
      notify: "ask",
      groupBy: "folder",
      brief: false,
      layout: {},
    }),
    { name: KEY, storage: browserStorage() },
  ),
);

followOtherWindows(KEY, usePrefs);

const NO_LAYOUT: Layout = {};

export function useLayout(ws: string | undefined): Layout {
  return usePrefs(({ layout }) => (ws === undefined ? NO_LAYOUT : (layout[ws] ?? NO_LAYOUT)));
}

export function setLayout(ws: string, change: Layout): void {
  usePrefs.setState(({ layout }) => ({ layout: { ...layout, [ws]: { ...layout[ws], ...change } } }));
}
