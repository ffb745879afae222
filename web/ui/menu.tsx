import type { LucideIcon } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import { shownKeys } from "../state/commands.js";
import { Icon } from "./icon.js";

export interface MenuItem {
  readonly label: string;
  readonly icon?: LucideIcon;
  readonly keys?: string;
  /** Why it can't be chosen. */
  readonly off?: string | undefined;
  /** Said in small letters behind it. */
  readonly hint?: string;
  readonly checked?: boolean;
  run(): void;
}

/** Items, and `null` for a line between them. */
export type MenuItems = readonly (MenuItem | null)[];

/** Where it opens: below an element, or at a point. */
export type MenuAnchor = HTMLElement | { readonly x: number; readonly y: number };

interface MenuProps {
  readonly label: string;
  readonly items: MenuItems;
  readonly anchor: MenuAnchor;
  onClose(): void;
  readonly header?: ReactNode;
}

/** A list of commands. Arrows, letters, Enter and Escape work; the focus goes back to what opened it. */
export function Menu({ label, items, anchor, onClose, header }: MenuProps) {
  const ref = useRef<HTMLDivElement>(null);
  const place = usePlace(anchor, ref);
  useEffect(() => {
    const before = document.activeElement;
    ref.current?.querySelector<HTMLElement>("[role^=menuitem]:not([aria-disabled])")?.focus();
    const outside = (event: PointerEvent) => {
      if (!ref.current?.contains(event.target as Node)) onClose();
    };
    addEventListener("pointerdown", outside, true);
    addEventListener("blur", onClose);
    return () => {
      removeEventListener("pointerdown", outside, true);
      removeEventListener("blur", onClose);
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, [onClose]);
  return (
    <div
      ref={ref}
      className="menu"
      role="menu"
      aria-label={label}
      style={place}
      onKeyDown={(e) => move(e, onClose)}
      tabIndex={-1}
    >
      {header}
      {items.map((item, at) =>
        item === null ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: a line has nothing else to be told by
          <hr key={`line-${at}`} className="menu-line" />
        ) : (
          // Two projects may have one name.
          <Item key={`${item.label} ${item.hint ?? ""}`} item={item} onClose={onClose} />
        ),
      )}
    </div>
  );
}

function Item({ item, onClose }: { readonly item: MenuItem; onClose(): void }) {
  const { label, icon, keys, off, hint, checked } = item;
  const choose = () => {
    if (off !== undefined) return;
    onClose();
    item.run();
  };
  return (
    <button
      type="button"
      role={checked === undefined ? "menuitem" : "menuitemradio"}
      aria-checked={checked}
      aria-disabled={off === undefined ? undefined : true}
      tabIndex={-1}
      className="menu-item"
      title={off}
      onClick={choose}
      onPointerMove={(event) => event.currentTarget.focus()}
    >
      <span className="menu-gut">
        {icon && <Icon of={icon} size={14} />}
        {checked && <span className="dot-on" />}
      </span>
      <span className="grow cut">{label}</span>
      {(off ?? hint) && <span className="small ink-3">{off ?? hint}</span>}
      {keys && <kbd aria-hidden="true">{shownKeys(keys)}</kbd>}
    </button>
  );
}

function move(event: KeyboardEvent<HTMLElement>, onClose: () => void): void {
  event.stopPropagation();
  const items = [...event.currentTarget.querySelectorAll<HTMLElement>("[role^=menuitem]")];
  const at = items.indexOf(document.activeElement as HTMLElement);
  const go = (to: number) => {
    event.preventDefault();
    items[(to + items.length) % items.length]?.focus();
  };
  if (event.key === "ArrowDown") go(at + 1);
  else if (event.key === "ArrowUp") go(at - 1);
  else if (event.key === "Home") go(0);
  else if (event.key === "End") go(items.length - 1);
  else if (event.key === "Escape" || event.key === "Tab") {
    event.preventDefault();
    onClose();
  } else if (event.key.length === 1 && /\S/.test(event.key)) {
    const rest = [...items.slice(at + 1), ...items.slice(0, at + 1)];
    rest.find((item) => item.textContent?.trim().toLowerCase().startsWith(event.key.toLowerCase()))?.focus();
  }
}

const EDGE = 8;

/** Below its anchor, and back into the window where that has no room. */
function usePlace(anchor: MenuAnchor, ref: React.RefObject<HTMLDivElement | null>) {
  const [place, setPlace] = useState<{ left: number; top: number } | undefined>();
  useLayoutEffect(() => {
    const size = ref.current?.getBoundingClientRect();
    if (!size) return;
    const box = anchor instanceof HTMLElement ? anchor.getBoundingClientRect() : undefined;
    const x = box ? box.left : (anchor as { x: number }).x;
    const below = box ? box.bottom + 4 : (anchor as { y: number }).y;
    const above = box ? box.top - 4 - size.height : below - size.height;
    const fits = below + size.height + EDGE <= innerHeight;
    setPlace({
      left: Math.max(EDGE, Math.min(x, innerWidth - size.width - EDGE)),
      top: fits ? below : Math.max(EDGE, above),
    });
  }, [anchor, ref]);
  // Not hidden: what is hidden can't take the focus, and it does before it has its place.
  return place ?? { left: 0, top: 0, opacity: 0 };
}
