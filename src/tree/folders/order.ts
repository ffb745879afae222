import type { Folder } from "../../protocol/index.js";
import { type FolderRow, folders, type Unit } from "../../store/index.js";
import { findRank, type Placed } from "../place.js";
import { folderToWire } from "../wire.js";

interface Wanted {
  readonly id: string;
  readonly workspace_id: string;
  readonly parent_folder_id: string | null;
  readonly after_id: string | null | undefined;
}

export function* placeFolder({ id, workspace_id, parent_folder_id, after_id }: Wanted): Unit<Placed> {
  const siblings = { table: "thread_folder", workspace_id, parent_id: parent_folder_id } as const;
  return yield* findRank({ siblings, after_id, otherwise: "last", id });
}

/** The folders whose place changed: one, or all its siblings when they were numbered anew. */
export function* placedFolders(row: FolderRow, renumbered: boolean): Unit<Folder[]> {
  const rows = renumbered ? yield* folders.childFolders(row.workspace_id, row.parent_folder_id) : [row];
  return rows.map(folderToWire);
}
