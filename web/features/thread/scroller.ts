import { defaultRangeExtractor, type Range, useVirtualizer, type Virtualizer } from "@tanstack/react-virtual";
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef } from "react";
import { loadAround, loadEnd, transcriptOf, useTranscript } from "../../state/messages.js";
import { useSought } from "../../state/sought.js";
import { toast } from "../../state/toasts.js";
import type { Item } from "./items.js";
import { usePlace } from "./place.js";
import { showHit, useReading } from "./reading.js";
import { showMatch } from "./show-match.js";

/** The view follows only while it is this close to the end. */
export const NEAR_END = 48;
const AHEAD = 6;

export interface Scroller {
  readonly box: RefObject<HTMLDivElement | null>;
  readonly virtualizer: Virtualizer<HTMLDivElement, HTMLElement>;
  /** It is on its way to a message: pages that come in between would put another one in its place. */
  readonly jumping: RefObject<boolean>;
  toEnd(): void;
  /** Shows a message, wherever it is; it is marked for a moment. */
  jump(message: string, options?: { focus?: boolean }): Promise<boolean>;
}

/** Heights that were measured, by width and key: what was seen once takes the right room before it is drawn again. */
const heights = new Map<string, number>();
const KEPT_HEIGHTS = 20_000;

/** The list of a transcript: opens at its end, follows it, and stays where it is read otherwise. */
export function useScroller(
  box: RefObject<HTMLDivElement | null>,
  items: readonly Item[],
  message: string | undefined,
): Scroller {
  const { thread } = usePlace();
  const keyAt = (index: number) => items[index]?.key ?? index;
  const virtualizer = useVirtualizer<HTMLDivElement, HTMLElement>({
    count: items.length,
    getScrollElement: () => box.current,
    getItemKey: keyAt,
    estimateSize: (index) => heights.get(heightKey(box, keyAt(index))) ?? guess(items[index]),
    measureElement: (element, entry) => {
      const height = entry?.borderBoxSize[0]?.blockSize ?? element.getBoundingClientRect().height;
      const whole = Math.round(height);
      const key = element.dataset.item;
      if (key !== undefined && whole > 0) remember(heightKey(box, key), whole);
      return whole;
    },
    overscan: AHEAD,
    rangeExtractor: useDrawn(items),
    paddingStart: 20,
    paddingEnd: 20,
    anchorTo: "end",
    followOnAppend: true,
    scrollEndThreshold: NEAR_END,
  });
  const toEnd = useCallback(() => {
    if (transcriptOf(thread).newer === undefined) virtualizer.scrollToEnd();
    else void loadEnd(thread).then(() => requestAnimationFrame(() => virtualizer.scrollToEnd()));
  }, [thread, virtualizer]);
  const latest = useRef(items);
  latest.current = items;
  const jumping = useRef(message !== undefined);
  const jump = useCallback<Scroller["jump"]>(
    async (id, { focus = false } = {}) => {
      jumping.current = true;
      try {
        if (!(await loadAround(thread, id))) return false;
        await frame();
        const index = latest.current.findIndex(({ key }) => key === id);
        if (index < 0) return false;
        virtualizer.scrollToIndex(index, { align: "center" });
        const element = await settled(box, id);
        virtualizer.cancelScroll();
        showHit(id);
        const sought = useSought.getState();
        if (box.current && sought.message === id) await showMatch(box.current, sought);
        if (focus) element?.focus({ preventScroll: true });
        return true;
      } finally {
        jumping.current = false;
      }
    },
    [thread, virtualizer, box],
  );
  useStart({ virtualizer, jump, message, count: items.length });
  useKeepEnd(box, virtualizer);
  return { box, virtualizer, jumping, toEnd, jump };
}

/** What is near the view, and the message that is being rewritten: scrolled away it keeps its cursor and its undo. */
function useDrawn(items: readonly Item[]): (range: Range) => number[] {
  const editing = useReading((reading) => reading.editing);
  const kept = editing === undefined ? -1 : items.findIndex(({ key }) => key === editing);
  return useCallback(
    (range) => {
      const near = defaultRangeExtractor(range);
      if (kept < 0 || kept >= range.count || near.includes(kept)) return near;
      return [...near, kept].sort((a, b) => a - b);
    },
    [kept],
  );
}

interface Start {
  readonly virtualizer: Scroller["virtualizer"];
  readonly jump: Scroller["jump"];
  readonly message: string | undefined;
  readonly count: number;
}

/** At its end, or at the message that the address names. */
function useStart({ virtualizer, jump, message, count }: Start): void {
  const { thread } = usePlace();
  const ready = useTranscript(thread).state === "ready" && count > 0;
  // What is read anew after a failure takes nobody from where they read.
  const begun = useRef<string | null>(null);
  useLayoutEffect(() => {
    // What is opened beside a message that somebody came to has an address without it: they stay there.
    if (!ready || message !== undefined || begun.current !== null) return;
    begun.current = "";
    virtualizer.scrollToEnd();
  }, [ready, message, virtualizer]);
  useEffect(() => {
    if (!ready || message === undefined || begun.current === message) return;
    begun.current = message;
    void jump(message).then((found) => {
      if (found) return;
      toast("That message is not in this thread.");
      virtualizer.scrollToEnd();
    });
  }, [ready, message, jump, virtualizer]);
}

/** What grows above or below the transcript takes room from it: who was at the end stays there. */
function useKeepEnd(box: RefObject<HTMLDivElement | null>, virtualizer: Scroller["virtualizer"]): void {
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    let height = element.clientHeight;
    let near = true;
    const scrolled = () => {
      // A resize scrolls by itself, before anybody is told of it: that is no one's choice.
      if (element.clientHeight === height) near = virtualizer.getDistanceFromEnd() <= NEAR_END;
    };
    const resized = new ResizeObserver(() => {
      if (element.clientHeight === height) return;
      height = element.clientHeight;
      if (near) virtualizer.scrollToEnd();
    });
    element.addEventListener("scroll", scrolled, { passive: true });
    resized.observe(element);
    return () => {
      element.removeEventListener("scroll", scrolled);
      resized.disconnect();
    };
  }, [box, virtualizer]);
}

function heightKey(box: RefObject<HTMLDivElement | null>, key: unknown): string {
  return `${box.current?.clientWidth ?? 0} ${String(key)}`;
}

function remember(key: string, height: number): void {
  heights.set(key, height);
  if (heights.size > KEPT_HEIGHTS) heights.delete(heights.keys().next().value as string);
}

const LINE = 22;
const LINE_CHARS = 92;

/** Near enough that the scroll bar does not leap when it is measured. */
function guess(item: Item | undefined): number {
  if (!item || item.kind === "run") return 80;
  const { content, toolCalls = [] } = item.message;
  const chars = content.reduce(
    (sum, block) => sum + (block.type === "text" ? String(block.text).length : 0),
    0,
  );
  const lines = Math.max(1, Math.ceil(chars / LINE_CHARS));
  return (item.kind === "turn" ? 54 : 40) + lines * LINE + toolCalls.length * 28;
}

const MOST_FRAMES = 30;

/** The message's element, once it is drawn and stands still. */
async function settled(box: RefObject<HTMLDivElement | null>, id: string): Promise<HTMLElement | null> {
  let before: number | undefined;
  let element: HTMLElement | null = null;
  for (let look = 0; look < MOST_FRAMES; look++) {
    await frame();
    element = box.current?.querySelector<HTMLElement>(`[data-item="${CSS.escape(id)}"]`) ?? null;
    const top = element?.getBoundingClientRect().top;
    if (top !== undefined && top === before) break;
    before = top;
  }
  return element;
}

function frame(): Promise<void> {
  return new Promise((resolve) => requestAnimationFrame(() => resolve()));
}
