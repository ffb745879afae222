import type { AgentsDocSummary } from "../../../src/protocol/index.js";
import { docName, type Tree, useTree } from "../../state/tree.js";
import { counted } from "../../ui/format.js";
import type { Things } from "./things.js";

/** `“Checkout copy”`, or `3 threads and 1 folder`. */
export function named({ threads, folders }: Things): string {
  const tree = useTree.getState();
  const [thread] = threads;
  const [folder] = folders;
  if (threads.length + folders.length === 1) return quoted(nameOf(tree, { thread, folder }));
  const parts = [
    ...(threads.length > 0 ? [counted(threads.length, "thread")] : []),
    ...(folders.length > 0 ? [counted(folders.length, "folder")] : []),
  ];
  return parts.join(" and ");
}

function nameOf(
  tree: Tree,
  { thread, folder }: { thread?: string | undefined; folder?: string | undefined },
) {
  return (thread ? tree.threads.get(thread)?.title : tree.folders.get(folder ?? "")?.name) ?? "";
}

export function quoted(name: string): string {
  return `“${name}”`;
}

/** `Release 4.2`, or `the root`. */
export function folderName(tree: Tree, id: string | undefined): string {
  return (id === undefined ? undefined : tree.folders.get(id)?.name) ?? "the root";
}

/** `the root AGENTS.md v7`, `Backend/AGENTS.md v3`, or `no AGENTS.md`. */
export function docWords(tree: Tree, doc: AgentsDocSummary | undefined): string {
  if (!doc) return "no AGENTS.md";
  const name = doc.folder_id === undefined ? "the root AGENTS.md" : docName(tree, doc.folder_id);
  return `${name} v${doc.version}`;
}
