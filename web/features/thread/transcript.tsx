import { Fragment, useEffect, useMemo, useRef } from "react";
import { NotRead, useOffline } from "../../shell/offline.js";
import { isRefused, problemOf } from "../../state/errors.js";
import { useLink } from "../../state/gateway.js";
import { followThread } from "../../state/live.js";
import { catchUp, loadEnd, loadMore, openTranscript, useTranscript } from "../../state/messages.js";
import { loadRuns, useThreadRuns } from "../../state/runs.js";
import { useSought } from "../../state/sought.js";
import { Button } from "../../ui/button.js";
import { useBusy } from "../../ui/use-busy.js";
import { AboveComposer } from "./above-composer.js";
import { EmptyThread } from "./empty-thread.js";
import { paintMatches } from "./find-paint.js";
import { ItemView } from "./item.js";
import { type Item, itemsOf } from "./items.js";
import { offerJump } from "./jump.js";
import { useMessageKeys } from "./message-keys.js";
import { usePlace } from "./place.js";
import { beginReading } from "./reading.js";
import { type Scroller, useScroller } from "./scroller.js";

/** A thread's messages, from its file and as they come. */
export function Transcript({ message }: { readonly message: string | undefined }) {
  const { ws, thread } = usePlace();
  const box = useRef<HTMLDivElement>(null);
  const transcript = useTranscript(thread);
  const items = useItems(thread);
  const scroller = useScroller(box, items, message);
  useOpen(ws, thread);
  useMore(scroller, thread);
  const keys = useMessageKeys(scroller, items);
  const { jump } = scroller;
  useEffect(() => offerJump(jump), [jump]);
  const sought = useSought();
  useEffect(() => paintMatches(sought), [sought]);
  const { state, error } = transcript;
  const unread = transcript.messages.length === 0 && state !== "ready";
  const notRead = useOffline() && unread && !isRefused(error);
  return (
    <>
      <div
        ref={box}
        className="scroll"
        role="feed"
        aria-label="Messages"
        aria-busy={state === "loading"}
        onKeyDown={keys}
      >
        {notRead && <NotRead />}
        {state === "failed" && unread && !notRead && <Unreadable error={error} thread={thread} />}
        {state === "loading" && !notRead && <Skeleton />}
        {state === "ready" && items.length === 0 && <EmptyThread />}
        <List scroller={scroller} items={items} whole={transcript.older === undefined && !transcript.newer} />
      </div>
      <AboveComposer scroller={scroller} items={items} missed={transcript.missed} />
    </>
  );
}

function useItems(thread: string): readonly Item[] {
  const { messages, newer, state } = useTranscript(thread);
  const runs = useThreadRuns(thread);
  const before = useRef<readonly Item[]>([]);
  return useMemo(() => {
    const atEnd = state === "ready" && newer === undefined;
    const known = new Map(before.current.map((item) => [item.key, item]));
    // What did not change stays the same object: its row is not drawn again.
    before.current = itemsOf(messages, runs, atEnd).map((item) => sameAs(known.get(item.key), item));
    return before.current;
  }, [messages, runs, newer, state]);
}

function sameAs(before: Item | undefined, now: Item): Item {
  if (!before || before.kind !== now.kind) return now;
  if (before.kind === "run") return now.kind === "run" && before.run === now.run ? before : now;
  if (before.kind === "turn" && now.kind === "turn" && before.isLast !== now.isLast) return now;
  return now.kind !== "run" && before.message === now.message ? before : now;
}

function useOpen(ws: string, thread: string): void {
  useEffect(() => {
    beginReading(thread);
    openTranscript(ws, thread);
    void loadRuns(ws, thread).catch(() => {});
    return followThread(ws, thread);
  }, [ws, thread]);
  // What could not be read while the gateway was away is read when it is back.
  const link = useLink(({ link }) => link);
  const { state, error } = useTranscript(thread);
  // What was refused would be refused again, and again.
  const again = link === "open" && state === "failed" && !isRefused(error);
  useEffect(() => {
    if (again) void catchUp(thread);
  }, [again, thread]);
}

const SCREENS_AHEAD = 2;

/** Older pages are there before anybody arrives at them. */
function useMore({ virtualizer, box, jumping }: Scroller, thread: string): void {
  const { older, newer, state } = useTranscript(thread);
  const offset = virtualizer.scrollOffset ?? 0;
  const total = virtualizer.getTotalSize();
  useEffect(() => {
    const height = box.current?.clientHeight ?? 0;
    if (state !== "ready" || height === 0 || jumping.current) return;
    const ahead = SCREENS_AHEAD * height;
    if (older !== undefined && offset < ahead) void loadMore(thread, "older");
    if (newer !== undefined && total - offset - height < ahead) void loadMore(thread, "newer");
  }, [older, newer, state, offset, total, thread, box, jumping]);
}

interface ListProps {
  readonly scroller: Scroller;
  readonly items: readonly Item[];
  /** All messages are here, so that their number is known. */
  readonly whole: boolean;
}

function List({ scroller: { virtualizer }, items, whole }: ListProps) {
  const shown = virtualizer.getVirtualItems();
  const start = shown[0]?.start ?? 0;
  return (
    <div className="col list" style={{ height: virtualizer.getTotalSize() }}>
      <div className="rows" style={{ transform: `translateY(${start}px)` }}>
        {shown.map(({ index, key, start: top }, at) => {
          const item = items[index];
          const room = top - (shown[at - 1]?.end ?? top);
          return item ? (
            <Fragment key={key}>
              {room > 0 && <div style={{ height: room }} />}
              <ItemView
                item={item}
                index={index}
                of={whole ? items.length : -1}
                isLast={index === items.length - 1}
                measure={virtualizer.measureElement}
              />
            </Fragment>
          ) : null;
        })}
      </div>
    </div>
  );
}

function Skeleton() {
  return (
    <div className="col waiting" role="status" aria-label="Loading">
      <div className="you">
        <div className="skel" style={{ width: "72%" }} />
      </div>
      {["58%", "83%", "40%"].map((width) => (
        <div key={width} className="skel" style={{ width }} />
      ))}
    </div>
  );
}

function Unreadable({ error, thread }: { readonly error: unknown; readonly thread: string }) {
  const { message, code } = problemOf(error);
  const [busy, work] = useBusy();
  return (
    <div className="blank" role="alert">
      <h2>The messages could not be read</h2>
      <p className="ink-2">
        {message} Nothing is lost. {code && <code>{code}</code>}
      </p>
      <div className="btns">
        <Button busy={busy} onClick={() => work(() => loadEnd(thread))}>
          Try again
        </Button>
      </div>
    </div>
  );
}
