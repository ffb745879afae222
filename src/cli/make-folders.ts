import type { Folder } from "../protocol/index.js";
import type { Folders } from "./folder-path.js";
import type { Session } from "./session.js";

/** Makes what is missing of a path, like `mkdir -p`. Answers its last folder, none for the root. */
export async function makeFolders(
  { call }: Session,
  workspace_id: string,
  folders: Folders,
  path: readonly string[],
): Promise<{ folder: Folder | undefined; made: Folder[] }> {
  const known = folders.follow(path);
  let folder: Folder | undefined = known.folder;
  const made: Folder[] = [];
  for (const name of known.missing) {
    const parent = folder && { parent_folder_id: folder.id };
    ({ folder } = await call("thread/folder/create", { workspace_id, name, ...parent }));
    folders.add(folder);
    made.push(folder);
  }
  return { folder, made };
}
