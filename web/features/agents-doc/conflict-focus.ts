import { type RefObject, useLayoutEffect, useRef } from "react";
import type { TextPlace } from "../../state/editor-asked.js";
import type { DocSession } from "./doc-session.js";
import type { Region } from "./merge.js";

/** Whoever was writing when the conflict opened writes on in the stretch of the merged text where they were. */
export function useWritingOn(
  grid: RefObject<HTMLElement | null>,
  session: DocSession,
  regions: readonly Region[],
): void {
  const opened = useRef(regions);
  useLayoutEffect(() => {
    const place = session.writingAt;
    session.writingAt = undefined;
    if (place) writeOn(grid.current, opened.current, place);
  }, [grid, session]);
}

function writeOn(grid: HTMLElement | null, regions: readonly Region[], { line, column }: TextPlace): void {
  let before = 0;
  const at = regions.findIndex(({ mine }) => {
    before += mine.length;
    return line <= before;
  });
  const region = regions[at];
  const area = areasOf(grid)[at];
  if (!region || !area) return;
  const above = region.mine.slice(0, line - 1 - (before - region.mine.length));
  const offset = above.reduce((sum, each) => sum + each.length + 1, 0) + column - 1;
  area.scrollIntoView({ block: "center" });
  area.focus({ preventScroll: true });
  area.setSelectionRange(offset, offset);
}

/** Where the cursor is in the merged text, so that writing goes on there when it has become the document. */
export function placeIn(grid: HTMLElement | null): TextPlace | undefined {
  const areas = areasOf(grid);
  const area = areas.find((each) => each === document.activeElement);
  if (!area) return undefined;
  const above = areas.slice(0, areas.indexOf(area)).filter(({ value }) => value !== "");
  const text = [...above.map(({ value }) => value), area.value.slice(0, area.selectionEnd)].join("\n");
  const lines = text.split("\n");
  return { line: lines.length, column: (lines.at(-1) ?? "").length + 1 };
}

function areasOf(grid: HTMLElement | null): HTMLTextAreaElement[] {
  return [...(grid?.querySelectorAll<HTMLTextAreaElement>(".merged textarea") ?? [])];
}
