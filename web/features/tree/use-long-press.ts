import { type PointerEvent, useMemo, useRef } from "react";

const PRESS_MS = 500;
const SLACK = 10;

/** Under a finger a long press opens the menu: there is no hover, and not every browser makes it a right click. */
export function useLongPress(open: (target: EventTarget, x: number, y: number) => void) {
  const latest = useRef(open);
  latest.current = open;
  return useMemo(() => {
    let press: { timer: ReturnType<typeof setTimeout>; x: number; y: number } | undefined;
    let opened = false;
    const end = () => {
      clearTimeout(press?.timer);
      press = undefined;
    };
    return {
      onPointerDown({ pointerType, target, clientX: x, clientY: y }: PointerEvent) {
        end();
        opened = false;
        if (pointerType !== "touch") return;
        const timer = setTimeout(() => {
          opened = true;
          latest.current(target, x, y);
        }, PRESS_MS);
        press = { timer, x, y };
      },
      onPointerMove({ clientX, clientY }: PointerEvent) {
        if (press && Math.hypot(clientX - press.x, clientY - press.y) > SLACK) end();
      },
      onPointerUp: end,
      onPointerCancel: end,
      /** The click at the end of a press belongs to the menu, not to the row. */
      onClickCapture(event: { preventDefault(): void; stopPropagation(): void }) {
        if (!opened) return;
        opened = false;
        event.preventDefault();
        event.stopPropagation();
      },
    };
  }, []);
}
