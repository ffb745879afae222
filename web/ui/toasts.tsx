import { X } from "lucide-react";
import { type CSSProperties, type RefObject, useEffect, useLayoutEffect, useRef, useState } from "react";
import { type Command, useCommands } from "../state/commands.js";
import { dismiss, type Toast, take, undoLast, useToasts } from "../state/toasts.js";
import { IconButton } from "./button.js";

const SHOWN_MS = 8_000;
const ABOVE_DOCK = 12;
const ABOVE_FOOT = 24;

const COMMANDS: readonly Command[] = [
  { id: "undo", title: "Undo the last change", keys: "mod+z", where: "outside", run: undoLast },
];

/** Floats over main, above the composer where there is one, and pushes nothing. */
export function Toasts() {
  const { list } = useToasts();
  useCommands(COMMANDS);
  const ref = useRef<HTMLDivElement>(null);
  const place = usePlace(ref, list.length);
  return (
    <div ref={ref} className="toasts" aria-live="polite" style={place}>
      {list.map((each) => (
        <ToastRow key={each.id} toast={each} />
      ))}
    </div>
  );
}

const EDGE = 12;

/** Over main, wherever that is now. What is open may change while a toast is shown, and main be another element. */
function usePlace(ref: RefObject<HTMLElement | null>, shown: number): CSSProperties {
  const [place, setPlace] = useState<CSSProperties>({});
  useLayoutEffect(() => {
    if (shown === 0) return;
    const look = () => setPlace((before) => kept(before, placeNow(ref.current)));
    // One that is hidden while the next is being loaded has no size any more.
    const resized = new ResizeObserver(() => {
      watch();
      look();
    });
    let watched: readonly Element[] = [];
    const watch = () => {
      const now = partsNow();
      if (now.length === watched.length && now.every((part, at) => part === watched[at])) return;
      watched = now;
      resized.disconnect();
      for (const part of now) resized.observe(part);
      look();
    };
    watch();
    if (ref.current) resized.observe(ref.current);
    const changed = new MutationObserver(watch);
    changed.observe(document.body, { childList: true, subtree: true });
    addEventListener("resize", look);
    return () => {
      resized.disconnect();
      changed.disconnect();
      removeEventListener("resize", look);
    };
  }, [ref, shown]);
  return place;
}

/** What a toast stands over and above; on a phone that may be another pane than main. */
function partsNow(): readonly Element[] {
  const mains = [...document.querySelectorAll<HTMLElement>(".main, main, .app")];
  const main = mains.findLast((each) => each.offsetWidth > 0);
  const dock = main?.querySelector(".dock");
  return [...(main ? [main] : []), ...(dock ? [dock] : [])];
}

function placeNow(toasts: HTMLElement | null): CSSProperties {
  const [main, dock] = partsNow();
  const box = main?.getBoundingClientRect();
  const left = Math.max(EDGE, (box?.left ?? 0) + EDGE);
  const right = Math.min(innerWidth, box?.right ?? innerWidth) - EDGE;
  const above = dock ? innerHeight - dock.getBoundingClientRect().top + ABOVE_DOCK : ABOVE_FOOT;
  // A composer that fills a low window must not push them out at the top.
  const most = innerHeight - (toasts?.offsetHeight ?? 0) - EDGE;
  return { left, width: Math.max(0, right - left), bottom: Math.max(EDGE, Math.min(above, most)) };
}

/** The same place is the same object: nothing is drawn again for it. */
function kept(before: CSSProperties, now: CSSProperties): CSSProperties {
  const same = before.left === now.left && before.width === now.width && before.bottom === now.bottom;
  return same ? before : now;
}

function ToastRow({ toast }: { readonly toast: Toast }) {
  const { id, text, code, action, alert } = toast;
  const [held, setHeld] = useState(false);
  // Whoever is about to press it must not be too late.
  useEffect(() => {
    if (held) return;
    const timer = setTimeout(() => dismiss(id), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [held, id]);
  return (
    <div
      className="toast"
      role={alert ? "alert" : undefined}
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <span>
        {text} {code && <code>{code}</code>}
      </span>
      {action && (
        <button type="button" className="btn sm toast-do" onClick={() => take(toast)}>
          {action.label}
        </button>
      )}
      <IconButton icon={X} label="Dismiss" small onClick={() => dismiss(id)} />
    </div>
  );
}
