import { currentRoute } from "../../state/router.js";
import { folderPath, ROOT, type Tree, useTree } from "../../state/tree.js";
import { useView } from "./view.js";

/** What a command is about, by ids. Documents by the folder they stand in, `ROOT` for the root's. */
export interface Things {
  readonly threads: readonly string[];
  readonly folders: readonly string[];
  readonly docs: readonly string[];
}

/** The rows a command means: all that are selected if this one is among them, else this one. */
export function rowsMeant(key: string): readonly string[] {
  const { picked } = useView.getState();
  return picked.size > 1 && picked.has(key) ? [...picked] : [key];
}

export function thingsOf(keys: readonly string[]): Things {
  const { threads, folders } = useTree.getState();
  const ids = (kind: string) => keys.filter((key) => key.startsWith(kind)).map((key) => key.slice(2));
  return {
    threads: ids("t:").filter((id) => threads.has(id)),
    folders: ids("f:").filter((id) => folders.has(id)),
    docs: ids("d:"),
  };
}

/** Without what stands in a folder that is meant itself: it goes along. */
export function topmost(tree: Tree, { threads, folders, docs }: Things): Things {
  const meant = new Set(folders);
  const goesAlong = (parent: string | undefined) => folderPath(tree, parent).some(({ id }) => meant.has(id));
  return {
    threads: threads.filter((id) => !goesAlong(tree.places.get(id)?.folder_id)),
    folders: folders.filter((id) => !goesAlong(tree.folders.get(id)?.parent_folder_id)),
    docs,
  };
}

/** The folder a row stands for or stands in; undefined: the root. */
export function folderOfRow(key: string | undefined): string | undefined {
  if (key === undefined) return undefined;
  const id = key.slice(2);
  if (key.startsWith("f:")) return id;
  if (key.startsWith("d:")) return id === ROOT ? undefined : id;
  return key.startsWith("t:") ? useTree.getState().places.get(id)?.folder_id : undefined;
}

/** Where something new belongs: the folder of the row in focus, else of what is open. */
export function folderHere(): string | undefined {
  const { focus } = useView.getState();
  if (focus !== undefined && document.activeElement?.closest("[role=tree]")) return folderOfRow(focus);
  const route = currentRoute();
  if (route.view === "folder" || route.view === "doc") return route.folder;
  return route.view === "thread" ? useTree.getState().places.get(route.thread)?.folder_id : undefined;
}
