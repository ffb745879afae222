import { unixSeconds } from "../../base/index.js";
import { type Folder, ID_PREFIXES } from "../../protocol/index.js";
import { type FolderRow, folders, type Unit } from "../../store/index.js";
import { findRank, folderToWire } from "../../tree/index.js";
import type { ThreadsDeps } from "../deps.js";
import { storable } from "../text.js";

/** The folder a thread's file names, made where it is missing: so a thread comes back to its place in a new store. */
export function* folderByNames(
  deps: Pick<ThreadsDeps, "clock" | "makeId">,
  workspace_id: string,
  names: readonly string[],
): Unit<{ folder_id: string | null; made: Folder[] }> {
  const made: Folder[] = [];
  let folder_id: string | null = null;
  for (const given of names) {
    const name: string = storable(given.replaceAll(/\p{Cc}+/gu, " "));
    const there: FolderRow | undefined = (yield* folders.childFolders(workspace_id, folder_id)).find(
      (folder) => folder.name === name,
    );
    const folder: FolderRow = there ?? (yield* makeFolder(deps, workspace_id, folder_id, name));
    if (!there) made.push(folderToWire(folder));
    folder_id = folder.id;
  }
  return { folder_id, made };
}

function* makeFolder(
  deps: Pick<ThreadsDeps, "clock" | "makeId">,
  workspace_id: string,
  parent_folder_id: string | null,
  name: string,
): Unit<FolderRow> {
  const now = unixSeconds(deps.clock);
  const id = deps.makeId(ID_PREFIXES.folder);
  const siblings = { table: "thread_folder", workspace_id, parent_id: parent_folder_id } as const;
  const { rank } = yield* findRank({ siblings, after_id: undefined, otherwise: "last", id });
  const row = { id, workspace_id, parent_folder_id, name, rank, created_at: now, updated_at: now };
  yield* folders.insertFolder(row);
  return row;
}

export type NamedFolder = Pick<FolderRow, "id" | "parent_folder_id" | "name">;

/** The names from the root down to a folder, for every one of some folders whose parents are among them. */
export function namesByFolder(rows: readonly NamedFolder[]): Map<string, string[]> {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const known = new Map<string, string[]>();
  const namesOf = (row: NamedFolder): string[] => {
    const found = known.get(row.id);
    if (found) return found;
    const parent = row.parent_folder_id === null ? undefined : byId.get(row.parent_folder_id);
    const names = [...(parent ? namesOf(parent) : []), row.name];
    known.set(row.id, names);
    return names;
  };
  for (const row of rows) namesOf(row);
  return known;
}
