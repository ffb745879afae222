import { type ComponentProps, type ReactNode, useCallback, useRef, useState } from "react";
import { Menu, type MenuItems } from "./menu.js";

interface MenuButtonProps extends Omit<ComponentProps<"button">, "onClick"> {
  /** Its name, and the menu's. */
  readonly label: string;
  /** Asked for when it opens: what it offers may depend on the moment. */
  items(): MenuItems;
  /** It is being opened: what it offers may be read again. */
  onOpen?(): void;
  readonly children: ReactNode;
}

/** A button with a menu below it. */
export function MenuButton({ label, items, onOpen, children, ...rest }: MenuButtonProps) {
  const button = useRef<HTMLButtonElement>(null);
  const [open, setOpen] = useState(false);
  const close = useCallback(() => setOpen(false), []);
  return (
    <>
      <button
        type="button"
        {...rest}
        ref={button}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={open}
        onClick={() => {
          if (!open) onOpen?.();
          setOpen(!open);
        }}
      >
        {children}
      </button>
      {open && button.current && (
        <Menu label={label} items={items()} anchor={button.current} onClose={close} />
      )}
    </>
  );
}
