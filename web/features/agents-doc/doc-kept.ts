import { WINDOW_ID } from "../../state/gateway.js";
import { windowLock } from "../../state/living.js";
import type { Choices, DocState, Stored } from "./doc-state.js";

/** Unsaved text as the browser keeps it: a crash, a reload or a lost connection must not cost a character. */
export interface Kept {
  readonly base: Stored;
  readonly mine: string;
  readonly choices?: Choices | undefined;
  /** Was sent, and may have arrived. */
  readonly unsure?: string | undefined;
  readonly at: number;
  /** Its window said goodbye. */
  readonly left?: boolean;
}

const PREFIX = "heddle.doc";
/** Without locks, what was not touched for this long belongs to a window that is gone. */
const GONE_MS = 5_000;

export function scopeKey(ws: string, folder: string | undefined): string {
  return `${PREFIX}.${ws}.${folder ?? "root"}`;
}

/** Whether the text is safe in the browser now. */
export function keepText(scope: string, state: DocState | undefined, left = false): boolean {
  const key = `${scope}.${WINDOW_ID}`;
  try {
    if (!state || (state.mine === state.base.content && !state.theirs)) localStorage.removeItem(key);
    else {
      const { base, mine, choices, sent } = state;
      const unsure = sent?.text ?? state.unsure;
      const kept: Kept = { base, mine, choices, unsure, at: Date.now(), ...(left && { left }) };
      localStorage.setItem(key, JSON.stringify(kept));
    }
    return true;
  } catch {
    return false;
  }
}

/** Takes over what a window that is gone left unsaved; the newest, if there are several. */
export async function adoptText(scope: string): Promise<Kept | undefined> {
  const alive = await livingWindows();
  const found: { key: string; kept: Kept }[] = [];
  for (const key of Object.keys(localStorage)) {
    if (!key.startsWith(`${scope}.`) || key.endsWith(WINDOW_ID)) continue;
    const kept = read(key);
    if (!kept) localStorage.removeItem(key);
    else if (isLeft(key, kept, alive)) found.push({ key, kept });
  }
  found.sort((a, b) => b.kept.at - a.kept.at);
  const [newest] = found;
  if (newest) localStorage.removeItem(newest.key);
  return newest?.kept;
}

async function livingWindows(): Promise<ReadonlySet<string> | undefined> {
  const locks = await navigator.locks?.query();
  return locks && new Set((locks.held ?? []).map(({ name }) => name ?? ""));
}

function isLeft(key: string, { left, at }: Kept, alive: ReadonlySet<string> | undefined): boolean {
  if (alive) return !alive.has(windowLock(key.slice(key.lastIndexOf(".") + 1)));
  return left === true || Date.now() - at > GONE_MS;
}

function read(key: string): Kept | undefined {
  try {
    const kept = JSON.parse(localStorage.getItem(key) ?? "null") as Kept | null;
    return typeof kept?.mine === "string" && typeof kept.base?.content === "string" ? kept : undefined;
  } catch {
    return undefined;
  }
}
