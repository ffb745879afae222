import { useContext, useEffect } from "react";
import { create } from "zustand";
import { hasWords, SoughtContext } from "../../ui/sought.js";
import { lastRewritten } from "./rewrites.js";

/** What a person does in the transcript that is open. */
interface Reading {
  /** The message that keys are for. */
  readonly current?: string | undefined;
  /** The user's message that is being rewritten. */
  readonly editing?: string | undefined;
  /** Somebody asked for it just now: its field takes the focus. */
  readonly beginsEditing?: boolean | undefined;
  /** The message that was jumped to. */
  readonly hit?: string | undefined;
  /** Rows somebody opened or closed, by message and part. */
  readonly open: ReadonlyMap<string, boolean>;
  /** Approvals that are in view now. */
  readonly seen: ReadonlySet<string>;
}

const NOTHING: Reading = { open: new Map(), seen: new Set() };

export const useReading = create<Reading>()(() => NOTHING);

/** What was being rewritten when the thread was left is open again, but nothing is taken to it. */
export function beginReading(thread: string): void {
  useReading.setState({ ...NOTHING, editing: lastRewritten(thread) }, true);
}

export function beginEditing(message: string): void {
  useReading.setState({ editing: message, beginsEditing: true });
}

export function endEditing(message: string): void {
  if (useReading.getState().editing === message) useReading.setState({ editing: undefined });
}

export function setOpen(keys: readonly string[], to: boolean): void {
  useReading.setState(({ open }) => ({ open: new Map([...open, ...keys.map((key) => [key, to] as const)]) }));
}

/**
 * Whether a row is open: as somebody left it, else as it was when it first had an answer. One that has what is looked for
 * opens.
 */
export function useOpen(key: string, byItself: boolean, holds: string): readonly [boolean, () => void] {
  const chosen = useReading(({ open }) => open.get(key));
  const words = useContext(SoughtContext);
  // biome-ignore lint/correctness/useExhaustiveDependencies: who closes it again is left alone, whatever comes into it
  useEffect(() => {
    if (words !== "" && hasWords(holds, words)) setOpen([key], true);
  }, [words]);
  const isOpen = chosen ?? byItself;
  return [isOpen, () => setOpen([key], !isOpen)];
}

const HIT_MS = 2_000;
let hitTimer: ReturnType<typeof setTimeout> | undefined;

/** Shows for a moment which message was meant. */
export function showHit(key: string): void {
  clearTimeout(hitTimer);
  useReading.setState({ hit: key });
  hitTimer = setTimeout(() => useReading.setState({ hit: undefined }), HIT_MS);
}

export function setSeen(key: string, inView: boolean): void {
  useReading.setState(({ seen }) => {
    if (seen.has(key) === inView) return {};
    const next = new Set(seen);
    if (inView) next.add(key);
    else next.delete(key);
    return { seen: next };
  });
}
