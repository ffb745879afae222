import type { CSSProperties } from "react";

const ITEM = /^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?|>[ \t]?)/;
const MOST = 16;

/** How many characters the mark of a list item takes: where it wraps, it goes on below its text. */
export function hangOf(line: string): number {
  return Math.min(ITEM.exec(line)?.[0].length ?? 0, MOST);
}

/** What a line that is only shown needs for it, beside the class `hang`. */
export function hangStyle(line: string): CSSProperties | undefined {
  const hang = hangOf(line);
  return hang === 0 ? undefined : ({ "--hang": `${hang}ch` } as CSSProperties);
}
