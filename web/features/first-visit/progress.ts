import { create } from "zustand";
import { persist } from "zustand/middleware";
import { browserStorage, followOtherWindows } from "../../state/browser-storage.js";

const KEY = "heddle.first-steps";

/** How far somebody is with the first steps, in one workspace. */
export interface Progress {
  /** The thread that the steps go on in. */
  readonly thread?: string;
  readonly asked?: boolean;
  readonly written?: boolean;
  readonly seen?: boolean;
  readonly delegated?: boolean;
  /** Whether the steps go along to where they lead. */
  readonly along?: boolean;
}

/** By workspace id. It is a matter of this browser: another one may begin anew. */
export const useProgress = create<Readonly<Record<string, Progress>>>()(
  persist(() => ({}), { name: KEY, storage: browserStorage() }),
);
followOtherWindows(KEY, useProgress);

const NONE: Progress = {};

export function useProgressIn(ws: string | undefined): Progress {
  return useProgress((all) => (ws === undefined ? NONE : (all[ws] ?? NONE)));
}

export function note(ws: string, change: Progress): void {
  useProgress.setState((all) => ({ [ws]: { ...all[ws], ...change } }));
}
