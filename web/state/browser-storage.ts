import { createJSONStorage, type StateStorage } from "zustand/middleware";

/**
 * What the page keeps in the browser for its own comfort. A browser whose storage is full or forbidden keeps nothing, and the
 * page goes on with what the window knows.
 */
export function readKept(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Whether it is kept now. */
export function keepInBrowser(key: string, text: string): boolean {
  try {
    localStorage.setItem(key, text);
    return true;
  } catch {
    return false;
  }
}

const storage: StateStorage = {
  getItem: readKept,
  setItem: keepInBrowser,
  removeItem: (key) => localStorage.removeItem(key),
};

/** For `persist`. */
export const browserStorage = <T>() => createJSONStorage<T>(() => storage);

interface Persisted {
  readonly persist: { rehydrate(): unknown };
}

/** What one window keeps holds in all of them; a window that did not hear of it would write it over with what it knew. */
export function followOtherWindows(name: string, store: Persisted): void {
  addEventListener("storage", ({ key }) => {
    if (key === name) void store.persist.rehydrate();
  });
}
