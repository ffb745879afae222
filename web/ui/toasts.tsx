import { X } from "lucide-react";
import { type CSSProperties, useEffect, useLayoutEffect, useState } from "react";
import { type Command, useCommands } from "../state/commands.js";
import { dismiss, type Toast, take, undoLast, useToasts } from "../state/toasts.js";
import { IconButton } from "./button.js";

const SHOWN_MS = 8_000;
const ABOVE_DOCK = 12;

const COMMANDS: readonly Command[] = [
  { id: "undo", title: "Undo the last change", keys: "mod+z", where: "outside", run: undoLast },
];

/** Floats over main, above the composer where there is one, and pushes nothing. */
export function Toasts() {
  const { list } = useToasts();
  useCommands(COMMANDS);
  const place = usePlace(list.length);
  return (
    <div className="toasts" aria-live="polite" style={place}>
      {list.map((each) => (
        <ToastRow key={each.id} toast={each} />
      ))}
    </div>
  );
}

/** In the middle of main, wherever that is now. */
function usePlace(shown: number): CSSProperties {
  const [place, setPlace] = useState<CSSProperties>({});
  useLayoutEffect(() => {
    if (shown === 0) return;
    const main = document.querySelector(".main, main");
    if (!main) return;
    const look = () => {
      const { left, width } = main.getBoundingClientRect();
      const dock = main.querySelector(".dock")?.getBoundingClientRect();
      const bottom = dock ? { bottom: innerHeight - dock.top + ABOVE_DOCK } : {};
      setPlace({ left: left + width / 2, ...bottom });
    };
    look();
    const resized = new ResizeObserver(look);
    for (const part of [main, main.querySelector(".dock")]) if (part) resized.observe(part);
    return () => resized.disconnect();
  }, [shown]);
  return place;
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
