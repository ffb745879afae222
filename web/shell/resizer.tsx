import type { PointerEvent } from "react";
import { setLayout, useLayout } from "../state/prefs.js";
import { useTree } from "../state/tree.js";

const RANGES = { side: { min: 208, max: 400, usual: 256 }, insp: { min: 320, max: 640, usual: 368 } };

/** The border of a pane: drag it, double click to reset, arrows to move it by 16. */
export function Resizer({ pane }: { readonly pane: "side" | "insp" }) {
  const ws = useTree((tree) => tree.ws);
  const layout = useLayout(ws);
  const { min, max, usual } = RANGES[pane];
  const width = layout[pane] ?? usual;
  const set = (to: number) => ws && setLayout(ws, { [pane]: Math.round(Math.min(max, Math.max(min, to))) });
  const sign = pane === "side" ? 1 : -1;
  const drag = (event: PointerEvent<HTMLElement>) => {
    const handle = event.currentTarget;
    const from = event.clientX;
    handle.setPointerCapture(event.pointerId);
    const moved = ({ clientX }: globalThis.PointerEvent) => set(width + sign * (clientX - from));
    handle.addEventListener("pointermove", moved);
    handle.addEventListener("lostpointercapture", () => handle.removeEventListener("pointermove", moved), {
      once: true,
    });
  };
  return (
    <div
      className={`resizer resizer-${pane}`}
      role="separator"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label={pane === "side" ? "Width of the sidebar" : "Width of the inspector"}
      aria-valuenow={width}
      aria-valuemin={min}
      aria-valuemax={max}
      onPointerDown={drag}
      onDoubleClick={() => set(usual)}
      onKeyDown={({ key }) => {
        if (key === "ArrowLeft") set(width - sign * 16);
        else if (key === "ArrowRight") set(width + sign * 16);
      }}
    />
  );
}
