import { create } from "zustand";
import { problemOf } from "./errors.js";
import { NotConnectedError } from "./gateway.js";

export interface Toast {
  readonly id: number;
  readonly text: string;
  /** A dotted kind, shown in mono at the end. */
  readonly code?: string | undefined;
  readonly action?: { readonly label: string; run(): void } | undefined;
  readonly alert?: boolean;
}

const MOST = 3;
let next = 1;

export const useToasts = create<{ readonly list: readonly Toast[] }>()(() => ({ list: [] }));

/** Says something at the foot of main for a while; with a way back where there is one. */
export function toast(text: string, action?: Toast["action"]): void {
  show(text, action);
}

/** As `toast`; answers the id by which it can be dismissed. */
export function show(text: string, action?: Toast["action"]): number {
  const id = next++;
  add({ id, text, action });
  return id;
}

/** `Moved 4 threads to Release 4.2` with `Undo`. */
export function toastUndo(text: string, undo: () => Promise<unknown>): number {
  const failed = (error: unknown) => {
    // What was never asked for can still be taken back.
    if (error instanceof NotConnectedError) toastUndo(text, undo);
    toastProblem(error);
  };
  return show(text, { label: UNDO, run: () => void undo().catch(failed) });
}

const UNDO = "Undo";

/** Takes back what was done last, as long as that is offered. */
export function undoLast(): void {
  const last = useToasts.getState().list.findLast(({ action }) => action?.label === UNDO);
  if (last) take(last);
}

/** Does what a toast offers, once. */
export function take({ id, action }: Toast): void {
  dismiss(id);
  action?.run();
}

/** Something that was asked for did not happen. */
export function toastProblem(error: unknown): void {
  const { message, code } = problemOf(error);
  add({ id: next++, text: message, code, alert: true });
}

/** Where there are too many, one that offers nothing goes first. */
function add(toast: Toast): void {
  useToasts.setState(({ list: before }) => {
    // The same words again, without anything to choose, are said once.
    const list = before.filter(({ text, action }) => action !== undefined || text !== toast.text);
    if (list.length < MOST) return { list: [...list, toast] };
    const spare = list.find(({ action }) => action === undefined) ?? list[0];
    return { list: [...list.filter((each) => each !== spare), toast] };
  });
}

export function isShown(id: number): boolean {
  return useToasts.getState().list.some((each) => each.id === id);
}

export function dismiss(id: number): void {
  useToasts.setState(({ list }) => ({ list: list.filter((each) => each.id !== id) }));
}
