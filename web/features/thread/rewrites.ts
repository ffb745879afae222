import { create } from "zustand";
import type { Place } from "./place.js";

/** What somebody writes in place of a message that was sent, and has not sent. */
interface Rewrite {
  readonly text: string;
  readonly at: number;
}

interface Rewrites {
  /** By thread and message: a fork has messages with the same ids. */
  readonly byMessage: ReadonlyMap<string, Rewrite>;
}

const PREFIX = "heddle.rewrite.";
/** Past this the oldest go: the browser's storage is shared with everything else the page keeps. */
const MOST = 50;

const useRewrites = create<Rewrites>()(() => ({ byMessage: readAll() }));

export function useRewrite(place: Place, message: string): string | undefined {
  const key = keyOf(place.thread, message);
  return useRewrites(({ byMessage }) => byMessage.get(key)?.text);
}

export function rewriteOf(place: Place, message: string): string | undefined {
  return useRewrites.getState().byMessage.get(keyOf(place.thread, message))?.text;
}

/** Kept at once, with every key: whatever happens to the row or the window, it is there again. */
export function setRewrite(place: Place, message: string, text: string | undefined): void {
  const key = keyOf(place.thread, message);
  const byMessage = new Map(useRewrites.getState().byMessage);
  byMessage.delete(key);
  localStorage.removeItem(PREFIX + key);
  if (text !== undefined) {
    const rewrite: Rewrite = { text, at: Date.now() };
    byMessage.set(key, rewrite);
    store(key, rewrite);
  }
  for (const old of [...byMessage.keys()].slice(0, Math.max(0, byMessage.size - MOST))) {
    byMessage.delete(old);
    localStorage.removeItem(PREFIX + old);
  }
  useRewrites.setState({ byMessage });
}

/** The message of a thread that was being rewritten last. */
export function lastRewritten(thread: string): string | undefined {
  const key = [...useRewrites.getState().byMessage.keys()].findLast((each) => each.startsWith(`${thread} `));
  return key?.slice(thread.length + 1);
}

function keyOf(thread: string, message: string): string {
  return `${thread} ${message}`;
}

function store(key: string, rewrite: Rewrite): void {
  try {
    localStorage.setItem(PREFIX + key, JSON.stringify(rewrite));
  } catch {
    // A full storage: it stays in the window.
  }
}

/** Oldest first. */
function readAll(): Map<string, Rewrite> {
  const all = Object.keys(localStorage).flatMap((key) => {
    const rewrite = key.startsWith(PREFIX) ? parse(localStorage.getItem(key)) : undefined;
    return rewrite ? [[key.slice(PREFIX.length), rewrite] as const] : [];
  });
  return new Map(all.sort(([, a], [, b]) => a.at - b.at));
}

/** Storage can hold anything: an older page's, or a person's own edit. */
function parse(value: string | null): Rewrite | undefined {
  try {
    const { text, at } = JSON.parse(value ?? "null") as Partial<Rewrite>;
    return typeof text === "string" ? { text, at: Number(at) || 0 } : undefined;
  } catch {
    return undefined;
  }
}
