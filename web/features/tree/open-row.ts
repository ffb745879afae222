import { navigate, pathOf, type Route } from "../../state/router.js";
import { ROOT, useTree } from "../../state/tree.js";
import type { Row } from "./rows.js";
import { setAgentOpen, setOpen } from "./view.js";

/** What main shows of a row; undefined: a row that only holds others. */
export function routeOfRow(row: Row): Route | undefined {
  const ws = useTree.getState().ws as string;
  if (row.kind === "thread") return { view: "thread", ws, thread: row.id };
  if (row.kind === "doc") return { view: "doc", ws, folder: row.id === ROOT ? undefined : row.id };
  return row.kind === "folder" ? { view: "folder", ws, folder: row.id } : undefined;
}

export function openRow(row: Row): void {
  const route = routeOfRow(row);
  if (route) navigate(route);
  else toggleRow(row);
}

export function openInNewWindow(row: Row): void {
  const route = routeOfRow(row);
  if (route) window.open(pathOf(route), "_blank", "noopener");
}

export function toggleRow(row: Row, open = "open" in row && !row.open): void {
  if (row.kind === "folder") setOpen([row.id], open);
  else if (row.kind === "agent") setAgentOpen(row.id, open);
}

/** A click shows a thread or document, and opens or closes what holds others. One that holds nothing says so in main. */
export function clickRow(row: Row): void {
  if ("open" in row) toggleRow(row);
  if (!("open" in row) || (row.kind === "folder" && row.empty && !row.open)) openRow(row);
}
