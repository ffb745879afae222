import { WINDOW_ID } from "./gateway.js";

const LOCK = "heddle.window";

/** Held by a window as long as it lives: others leave alone what it keeps in the browser. */
export const windowLock = (window: string): string => `${LOCK}.${window}`;

void navigator.locks?.request(windowLock(WINDOW_ID), () => new Promise<never>(() => {}));

/** Acts once a window is gone, at once where it is already. Of several that wait only one acts at a time. */
export function whenGone(window: string, act: () => void): void {
  void navigator.locks?.request(windowLock(window), act);
}
