import { lazy, useEffect } from "react";
import { useTree } from "../state/tree.js";

const loads = {
  thread: () => import("../features/thread/thread-view.js"),
  inspector: () => import("../features/inspector/inspector.js"),
  full: () => import("../features/inspector/full-context.js"),
  doc: () => import("../features/agents-doc/doc-view.js"),
  settings: () => import("../features/settings/settings-view.js"),
  folder: () => import("../features/tree/folder-view.js"),
  palette: () => import("../features/palette/palette.js"),
  keys: () => import("../features/palette/keys-sheet.js"),
  firstVisit: () => import("../features/first-visit/first-visit.js"),
  artifacts: () => import("../features/artifacts/artifact-panels.js"),
};

export const ThreadView = lazy(loads.thread);
export const Inspector = lazy(loads.inspector);
export const FullContext = lazy(loads.full);
export const DocView = lazy(loads.doc);
export const SettingsView = lazy(loads.settings);
export const FolderView = lazy(loads.folder);

const REST_MS = 3_000;
const AT_LATEST_MS = 4_000;

/** Loads the views that were not needed yet when the page has time for it: without a connection nothing can be loaded. */
export function useLoadAhead(): void {
  const ready = useTree((tree) => tree.state === "ready");
  useEffect(() => {
    if (!ready) return;
    let stopped = false;
    const rest = Object.values(loads);
    const next = () => {
      const load = stopped ? undefined : rest.shift();
      // One that can't be loaded now is loaded when it is needed, and tells then why not.
      if (load) void load().then(later, later);
    };
    const later = () => void whenIdle(next);
    const begin = setTimeout(later, REST_MS);
    return () => {
      stopped = true;
      clearTimeout(begin);
    };
  }, [ready]);
}

function whenIdle(work: () => void): void {
  if ("requestIdleCallback" in globalThis) requestIdleCallback(work, { timeout: AT_LATEST_MS });
  else setTimeout(work, 200);
}
