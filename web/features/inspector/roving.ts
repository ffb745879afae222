import { type KeyboardEvent, useState } from "react";

interface Roving {
  /** For the rows: one of them is the list's tab stop. */
  tabIndexOf(id: string): 0 | -1;
  onFocus(id: string): void;
  onKeyDown(event: KeyboardEvent<HTMLElement>): void;
}

/** A list that is one tab stop: arrows, Home and End go from row to row (`data-row`). */
export function useRoving(ids: readonly string[], along: "vertical" | "horizontal" = "vertical"): Roving {
  const [current, setCurrent] = useState<string>();
  const stop = current !== undefined && ids.includes(current) ? current : ids[0];
  const [back, forth] = along === "vertical" ? ["ArrowUp", "ArrowDown"] : ["ArrowLeft", "ArrowRight"];
  return {
    tabIndexOf: (id) => (id === stop ? 0 : -1),
    onFocus: setCurrent,
    onKeyDown: (event) => {
      const rows = [...event.currentTarget.querySelectorAll<HTMLElement>("[data-row]")];
      const at = rows.indexOf(document.activeElement as HTMLElement);
      if (at === -1) return;
      const to = { [back as string]: at - 1, [forth as string]: at + 1, Home: 0, End: rows.length - 1 }[
        event.key
      ];
      if (to === undefined) return;
      event.preventDefault();
      rows[Math.max(0, Math.min(to, rows.length - 1))]?.focus();
    },
  };
}
