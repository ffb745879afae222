import { useSyncExternalStore } from "react";

/**
 * `wide`: three panes. `mid`: the inspector is a drawer. `narrow`: the sidebar is one, too. `phone`: one pane at a time, each
 * with its own address.
 */
export type Size = "wide" | "mid" | "narrow" | "phone";

const AT: readonly (readonly [Size, string])[] = [
  ["wide", "(min-width: 1280px)"],
  ["mid", "(min-width: 880px)"],
  ["narrow", "(min-width: 640px)"],
];
const queries = AT.map(([size, query]) => [size, matchMedia(query)] as const);

function now(): Size {
  return queries.find(([, query]) => query.matches)?.[0] ?? "phone";
}

function listen(listener: () => void): () => void {
  for (const [, query] of queries) query.addEventListener("change", listener);
  return () => {
    for (const [, query] of queries) query.removeEventListener("change", listener);
  };
}

export function useSize(): Size {
  return useSyncExternalStore(listen, now);
}
