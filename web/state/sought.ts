import { create } from "zustand";

/** Words that somebody looks for in the thread that is open, and where they are led: to a match in a message. */
export interface Sought {
  readonly words: string;
  readonly message?: string | undefined;
  /** Which of the matches in that message, from 0; -1: the last one. */
  readonly match: number;
}

const NOTHING: Sought = { words: "", match: 0 };

export const useSought = create<Sought>()(() => NOTHING);

let ends: ReturnType<typeof setTimeout> | undefined;

export function seek(sought: Partial<Sought>): void {
  clearTimeout(ends);
  useSought.setState({ ...NOTHING, ...sought }, true);
}

const BRIEFLY_MS = 8_000;

/** Nobody closes what has no field: its marks go by themselves. */
export function seekBriefly(sought: Partial<Sought>): void {
  seek(sought);
  ends = setTimeout(() => seek({}), BRIEFLY_MS);
}
