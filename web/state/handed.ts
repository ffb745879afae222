import { type Draft, giveBack } from "./drafts.js";
import { WINDOW_ID } from "./gateway.js";
import { whenGone } from "./living.js";

/** Words that left the field for the gateway, which has not answered yet. */
interface Handed extends Draft {
  readonly thread: string;
}

const PREFIX = "heddle.handed.";

/** Until the answer comes this is what outlasts the window; answers how to let go of it. */
export function keepHanded(thread: string, draft: Draft): () => void {
  const key = `${PREFIX}${crypto.randomUUID()}.${WINDOW_ID}`;
  try {
    localStorage.setItem(key, JSON.stringify({ ...draft, thread } satisfies Handed));
  } catch {
    // A full storage: they are safe as long as the window lives.
  }
  return () => localStorage.removeItem(key);
}

export function handed(): readonly Handed[] {
  return keys().flatMap((key) => parse(localStorage.getItem(key)) ?? []);
}

/** Puts back into the field what a window that is gone never got an answer for: whether it arrived, the thread shows. */
export function takeUpHanded(): void {
  for (const key of keys()) {
    const window = key.slice(key.lastIndexOf(".") + 1);
    if (window !== WINDOW_ID) whenGone(window, () => takeUp(key));
  }
}

function takeUp(key: string): void {
  const words = parse(localStorage.getItem(key));
  if (words) giveBack(words.thread, words);
  localStorage.removeItem(key);
}

function keys(): string[] {
  return Object.keys(localStorage).filter((key) => key.startsWith(PREFIX));
}

function parse(value: string | null): Handed | undefined {
  try {
    const { text, images, thread } = JSON.parse(value ?? "null") as Partial<Handed>;
    const whole = typeof text === "string" && typeof thread === "string" && Array.isArray(images);
    return whole ? { text, images, thread } : undefined;
  } catch {
    return undefined;
  }
}
