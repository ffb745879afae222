import { create } from "zustand";

/** What somebody is writing in a thread and has not sent. */
export interface Draft {
  readonly text: string;
  /** Ids of kept images. */
  readonly images: readonly string[];
  /** The agent it is addressed to, when it is not the thread's own. */
  readonly to?: string | undefined;
}

export const NO_DRAFT: Draft = { text: "", images: [] };

const PREFIX = "heddle.draft.";
/** Past this the oldest go: the browser's storage is shared with everything else the page keeps. */
const MOST = 200;

interface Stored extends Draft {
  readonly at: number;
}

interface Drafts {
  readonly byThread: ReadonlyMap<string, Draft>;
}

export const useDrafts = create<Drafts>()(() => ({ byThread: readAll() }));

export function useDraft(threadId: string): Draft {
  return useDrafts(({ byThread }) => byThread.get(threadId) ?? NO_DRAFT);
}

export function draftOf(threadId: string): Draft {
  return useDrafts.getState().byThread.get(threadId) ?? NO_DRAFT;
}

/** Kept at once, with every key: whatever happens to the window, it is there again. */
export function setDraft(threadId: string, change: Partial<Draft>): void {
  const draft = { ...draftOf(threadId), ...change };
  show(threadId, draft);
  if (isEmpty(draft)) localStorage.removeItem(PREFIX + threadId);
  else store(PREFIX + threadId, JSON.stringify({ ...draft, at: Date.now() } satisfies Stored));
}

export function clearDraft(threadId: string): void {
  setDraft(threadId, { ...NO_DRAFT, to: undefined });
}

/** Puts words back that could not be sent: before whatever was typed since. */
export function giveBack(threadId: string, back: Draft): void {
  const now = draftOf(threadId);
  const text = [back.text, now.text].filter((part) => part !== "").join("\n\n");
  setDraft(threadId, { text, images: [...back.images, ...now.images], to: now.to ?? back.to });
}

function isEmpty({ text, images, to }: Draft): boolean {
  return text === "" && images.length === 0 && to === undefined;
}

function show(threadId: string, draft: Draft): void {
  useDrafts.setState(({ byThread }) => {
    const next = new Map(byThread);
    if (isEmpty(draft)) next.delete(threadId);
    else next.set(threadId, draft);
    return { byThread: next };
  });
}

/** What did not fit even without all the others: from that length on they are left alone. */
let tooLong = Number.POSITIVE_INFINITY;

/**
 * A full storage gives up the oldest drafts first, and only for one that then fits; what is being typed stays in the window
 * in any case.
 */
function store(key: string, value: string): void {
  if (localStorage.getItem(key) === null) {
    const others = storedKeys();
    for (const old of others.slice(0, Math.max(0, others.length + 1 - MOST))) localStorage.removeItem(old);
  }
  if (tryStore(key, value) || value.length >= tooLong) return;
  const given: [key: string, value: string][] = [];
  for (const spare of storedKeys()) {
    if (spare === key) continue;
    given.push([spare, localStorage.getItem(spare) ?? ""]);
    localStorage.removeItem(spare);
    if (tryStore(key, value)) return;
  }
  tooLong = value.length;
  for (const [spare, words] of given) tryStore(spare, words);
}

function tryStore(key: string, value: string): boolean {
  try {
    localStorage.setItem(key, value);
    return true;
  } catch {
    return false;
  }
}

/** Oldest first. */
function storedKeys(): string[] {
  return Object.keys(localStorage)
    .filter((key) => key.startsWith(PREFIX))
    .map((key) => [key, parse(localStorage.getItem(key))?.at ?? 0] as const)
    .sort(([, a], [, b]) => a - b)
    .map(([key]) => key);
}

function readAll(): Map<string, Draft> {
  const all = new Map<string, Draft>();
  for (const key of Object.keys(localStorage)) {
    const draft = key.startsWith(PREFIX) ? parse(localStorage.getItem(key)) : undefined;
    if (draft) all.set(key.slice(PREFIX.length), draft);
  }
  return all;
}

/** Storage can hold anything: an older page's, or a person's own edit. */
function parse(value: string | null): Stored | undefined {
  try {
    const { text, images, to, at } = JSON.parse(value ?? "null") as Partial<Stored>;
    if (typeof text !== "string" || !Array.isArray(images)) return undefined;
    return { text, images, ...(typeof to === "string" && { to }), at: Number(at) || 0 };
  } catch {
    return undefined;
  }
}

// What is typed in one window stands in the others.
addEventListener("storage", ({ key, newValue }) => {
  if (key?.startsWith(PREFIX)) show(key.slice(PREFIX.length), parse(newValue) ?? NO_DRAFT);
});
