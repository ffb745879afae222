import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from "react";
import { setLayout, usePrefs } from "../../state/prefs.js";
import type { Rows } from "./rows.js";

type Scroller = RefObject<HTMLDivElement | null>;

/** The height of a row at this width, pointer and density, as the style sheet has it. */
export function useRowHeight(): number {
  const [height, setHeight] = useState(read);
  useEffect(() => {
    const probe = document.createElement("div");
    probe.className = "row-probe";
    document.body.append(probe);
    const observer = new ResizeObserver(() => setHeight(read()));
    observer.observe(probe);
    return () => {
      observer.disconnect();
      probe.remove();
    };
  }, []);
  return height;
}

function read(): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--row")) || 28;
}

interface Anchored {
  readonly scroller: Scroller;
  readonly rows: Rows;
  readonly height: number;
  readonly ws: string;
  /** While a filter narrows the rows there is nothing to hold on to. */
  readonly loose: boolean;
}

/** Rows in view stay where they are when others come and go above them, and the place is found again after a reload. */
export function useAnchor({ scroller, rows, height, ws, loose }: Anchored): () => void {
  const first = useRef<{ key: string; beyond: number }>(undefined);
  const keeping = useRef<ReturnType<typeof setTimeout>>(undefined);
  useLayoutEffect(() => {
    const place = scroller.current;
    const held = first.current;
    if (!place || !held || loose || place.scrollTop === 0) return;
    const at = rows.at.get(held.key);
    const top = at === undefined ? place.scrollTop : at * height + held.beyond;
    if (Math.abs(top - place.scrollTop) >= 1) place.scrollTop = top;
  }, [scroller, rows, height, loose]);
  return () => {
    const top = scroller.current?.scrollTop ?? 0;
    const at = Math.floor(top / height);
    const row = rows.list[at];
    first.current = row && { key: row.key, beyond: top - at * height };
    if (loose) return;
    clearTimeout(keeping.current);
    keeping.current = setTimeout(() => setLayout(ws, { scroll: Math.round(top) }), 300);
  };
}

export function keptScroll(ws: string): number {
  return usePrefs.getState().layout[ws]?.scroll ?? 0;
}
