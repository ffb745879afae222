import { create } from "zustand";
import { problemOf } from "./errors.js";

export interface Toast {
  readonly id: number;
  readonly text: string;
  /** A dotted kind, shown in mono at the end. */
  readonly code?: string | undefined;
  readonly action?: { readonly label: string; run(): void } | undefined;
  readonly alert?: boolean;
}

const SHOWN_MS = 8_000;
let next = 1;

export const useToasts = create<{ readonly list: readonly Toast[] }>()(() => ({ list: [] }));

/** Says something at the foot of main for 8 seconds; with a way back where there is one. */
export function toast(text: string, action?: Toast["action"]): void {
  add({ id: next++, text, action });
}

/** `Moved 4 threads to Release 4.2` with `Undo`. */
export function toastUndo(text: string, undo: () => Promise<unknown>): void {
  toast(text, { label: "Undo", run: () => void undo().catch(toastProblem) });
}

/** Something that was asked for did not happen. */
export function toastProblem(error: unknown): void {
  const { message, code } = problemOf(error);
  add({ id: next++, text: message, code, alert: true });
}

function add(toast: Toast): void {
  useToasts.setState(({ list }) => ({ list: [...list.slice(-2), toast] }));
  setTimeout(() => dismiss(toast.id), SHOWN_MS);
}

export function dismiss(id: number): void {
  useToasts.setState(({ list }) => ({ list: list.filter((each) => each.id !== id) }));
}
