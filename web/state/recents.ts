import { create } from "zustand";
import { persist } from "zustand/middleware";
import { browserStorage, followOtherWindows } from "./browser-storage.js";
import type { Route } from "./router.js";

const MOST = 20;
const KEY = "heddle.recents";

/** The threads that were open in this browser, by workspace, the last one first. */
export const useRecents = create<{ readonly threads: Readonly<Record<string, readonly string[]>> }>()(
  persist(() => ({ threads: {} }), { name: KEY, storage: browserStorage() }),
);
followOtherWindows(KEY, useRecents);

export function noteVisit(route: Route): void {
  if (route.view !== "thread") return;
  const { ws, thread } = route;
  useRecents.setState(({ threads }) => {
    const before = threads[ws] ?? [];
    if (before[0] === thread) return {};
    return {
      threads: { ...threads, [ws]: [thread, ...before.filter((id) => id !== thread)].slice(0, MOST) },
    };
  });
}
