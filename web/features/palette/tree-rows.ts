import { Folder as FolderIcon, ScrollText } from "lucide-react";
import type { AgentsDocSummary, Folder } from "../../../src/protocol/index.js";
import { navigate, type Route } from "../../state/router.js";
import { docName, pathText, type Tree } from "../../state/tree.js";
import { openInNewTab } from "../agents/actions.js";
import { rank } from "./match.js";
import { type Group, narrowed, type Row } from "./row.js";

interface FolderEntry {
  readonly folder: Folder;
  readonly path: string;
  readonly lower: string;
}

const indexes = new WeakMap<Tree["folders"], readonly FolderEntry[]>();

/** By path. Made once for each state of the folders, as for threads. */
function pathsOf(tree: Tree): readonly FolderEntry[] {
  const known = indexes.get(tree.folders);
  if (known) return known;
  const made = [...tree.folders.values()]
    .map((folder) => ({ folder, path: pathText(tree, folder.id) }))
    .map((entry) => ({ ...entry, lower: entry.path.toLowerCase() }))
    .sort((a, b) => (a.lower < b.lower ? -1 : 1));
  indexes.set(tree.folders, made);
  return made;
}

export function folderGroup(tree: Tree, words: readonly string[], most: number): Group {
  const { best, total } = rank(pathsOf(tree), { words, most, lower: ({ lower }) => lower });
  const rows = best.map(({ folder, path }) => folderRow(folder, path, words));
  return { id: "folders", title: "Folders", rows, note: most > 10 ? narrowed(most, total) : undefined };
}

function folderRow(folder: Folder, path: string, words: readonly string[]): Row {
  const route: Route = { view: "folder", ws: folder.workspace_id, folder: folder.id };
  return {
    id: `folder-${folder.id}`,
    title: path,
    words,
    icon: FolderIcon,
    run: () => navigate(route),
    also: () => openInNewTab(route),
  };
}

export function docGroup(tree: Tree, words: readonly string[], most: number): Group {
  const named = [...tree.docs.values()]
    .map((doc) => ({ doc, name: docName(tree, doc.folder_id) }))
    .sort((a, b) => a.name.length - b.name.length);
  const { best } = rank(named, { words, most, lower: ({ name }) => name.toLowerCase() });
  return { id: "docs", title: "AGENTS.md", rows: best.map(({ doc, name }) => docRow(doc, name, words)) };
}

function docRow(doc: AgentsDocSummary, name: string, words: readonly string[]): Row {
  const route: Route = { view: "doc", ws: doc.workspace_id, folder: doc.folder_id };
  return {
    id: `doc-${doc.id}`,
    title: name,
    words,
    icon: ScrollText,
    end: doc.status === "active" ? `v${doc.version}` : "draft",
    run: () => navigate(route),
    also: () => openInNewTab(route),
  };
}
