import { useDeferredValue, useEffect, useMemo } from "react";
import { create } from "zustand";
import { useSize } from "../../shell/size.js";
import { useAgents } from "../../state/agents.js";
import { useLayout, usePrefs } from "../../state/prefs.js";
import { type Route, useRoute } from "../../state/router.js";
import { ROOT, useTree } from "../../state/tree.js";
import {
  docKey,
  folderKey,
  indexed,
  keptBy,
  type Rows,
  rowsByAgent,
  rowsByFolder,
  threadKey,
} from "./rows.js";
import { useView } from "./view.js";

const NO_THREADS = new Map();

/** The rows there are now: by folder or by agent, with what is open, narrowed by the filter. */
export function useRows(): Rows {
  const byAgent = usePrefs(({ groupBy }) => groupBy === "agent");
  const filter = useDeferredValue(useView((view) => view.filter?.trim() ?? ""));
  const ws = useTree((tree) => tree.ws);
  const { openFolders, closedAgents } = useLayout(ws);
  const children = useTree((tree) => tree.children);
  const docs = useTree((tree) => tree.docs);
  // A thread's own fields change many times a second; only a filter and groups look at them.
  const threads = useTree((tree) => (byAgent || filter !== "" ? tree.threads : NO_THREADS));
  const folders = useTree((tree) => tree.folders);
  const agents = useAgents().list;
  const route = useRoute();
  const editing = route.view === "doc" ? (route.folder ?? ROOT) : undefined;
  return useMemo(() => {
    const kept =
      filter === "" ? undefined : keptBy(filter, { ...useTree.getState(), children, threads, folders });
    const closed = new Set(closedAgents);
    if (byAgent) return indexed(rowsByAgent({ children, threads, agents, closed, kept }));
    return indexed(rowsByFolder({ children, docs, open: new Set(openFolders), editing, kept }));
  }, [byAgent, filter, openFolders, closedAgents, children, docs, threads, folders, agents, editing]);
}

const useLeft = create<{ readonly row: string | undefined }>()(() => ({ row: undefined }));

/** Notes what main shows, so that the tree that takes its place can say where one came from. */
export function useNoteLeft(): void {
  const route = useRoute();
  useEffect(() => {
    const row = rowOfRoute(route);
    if (row !== undefined) useLeft.setState({ row });
  }, [route]);
}

/** The row of what was shown before the tree, where there is room for one of the two only. */
export function useRowLeft(): string | undefined {
  const row = useLeft((left) => left.row);
  return useSize() === "phone" ? row : undefined;
}

/** The row of what main shows. */
export function rowOfRoute(route: Route): string | undefined {
  if (route.view === "thread") return threadKey(route.thread);
  if (route.view === "folder") return folderKey(route.folder);
  return route.view === "doc" ? docKey(route.folder ?? ROOT) : undefined;
}
