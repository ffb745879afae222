import type { LucideIcon } from "lucide-react";
import type { Mark } from "../../ui/state-mark.js";

/** Something that can be chosen in the palette. */
export interface Row {
  readonly id: string;
  readonly title: string;
  /** What is marked in the title. */
  readonly words: readonly string[];
  /** Where it is, in small letters behind the title. */
  readonly path?: string | undefined;
  /** At the right. */
  readonly end?: string | undefined;
  readonly icon?: LucideIcon;
  /** Its line stands before the title instead of an icon. */
  readonly agentId?: string;
  readonly mark?: Mark | undefined;
  readonly keys?: string | undefined;
  /** Why it can't be chosen now. */
  readonly off?: string | undefined;
  /** The palette stays: it shows something else now. */
  readonly stays?: boolean;
  run(): void;
  /** What ⌘Enter does instead. */
  also?(): void;
}

export interface Group {
  readonly id: string;
  readonly title: string;
  readonly rows: readonly Row[];
  /** Said below its rows: how many more there are, or why there are none. */
  readonly note?: string | undefined;
}

export const MOST = 200;

/** Rows of which so many are shown, and how many there would be. */
export function narrowed(shown: number, total: number): string | undefined {
  return total > shown ? `${shown} of ${total.toLocaleString("en-US")}, type to narrow` : undefined;
}
