import { type Acting, attempt } from "../act.js";
import type { Chance } from "../chance.js";
import type { KnownFolder } from "../ledger.js";
import { word } from "./choose.js";

const MOST_FOLDERS = 5;

export async function createFolder(acting: Acting): Promise<boolean> {
  const { workspace_id, known } = acting;
  if (known.folders.length >= MOST_FOLDERS) return false;
  const name = `Folder ${word(acting)}`;
  const parent = known.chance.pick([undefined, ...known.folders.map(({ id }) => id)]);
  await attempt(
    acting,
    "thread/folder/create",
    { workspace_id, name, parent_folder_id: parent },
    {
      known: ({ folder }) => void known.folders.push({ id: folder.id, name, parent }),
      doubt({ folders }) {
        for (const [id, folder] of folders)
          if (folder.name === name) known.folders.push({ id, name, parent });
      },
    },
  );
  return true;
}

export async function renameFolder(acting: Acting): Promise<boolean> {
  const { workspace_id, known } = acting;
  const folder = known.chance.pick(known.folders);
  if (!folder) return false;
  const name = `Folder ${word(acting)}`;
  await attempt(
    acting,
    "thread/folder/rename",
    { workspace_id, folder_id: folder.id, name },
    {
      known: () => {
        folder.name = name;
      },
      doubt({ folders }) {
        if (folders.get(folder.id)?.name === name) folder.name = name;
      },
    },
  );
  return true;
}

export async function moveFolder(acting: Acting): Promise<boolean> {
  const { workspace_id, known } = acting;
  const folder = known.chance.pick(known.folders);
  if (!folder) return false;
  const parent = chooseParent(known.chance, known.folders, folder);
  const params = { workspace_id, folder_id: folder.id, parent_folder_id: parent };
  await attempt(acting, "thread/folder/move", params, {
    known: () => {
      folder.parent = parent;
    },
    doubt({ folders }) {
      if (folders.get(folder.id)?.parent_folder_id === parent) folder.parent = parent;
    },
  });
  return true;
}

/** Not itself, nor what stands below it. */
function chooseParent(chance: Chance, all: readonly KnownFolder[], folder: KnownFolder): string | undefined {
  const byId = new Map(all.map((one) => [one.id, one]));
  const isBelow = (one: KnownFolder | undefined): boolean =>
    one !== undefined && (one === folder || isBelow(byId.get(one.parent ?? "")));
  return chance.pick([undefined, ...all.filter((one) => !isBelow(one)).map(({ id }) => id)]);
}

export async function deleteFolder(acting: Acting): Promise<boolean> {
  const { workspace_id, known, ledger } = acting;
  const folder = known.chance.pick(known.folders);
  if (!folder) return false;
  const gone = () => {
    known.folders.splice(known.folders.indexOf(folder), 1);
    for (const one of known.folders) if (one.parent === folder.id) one.parent = folder.parent;
    for (const one of known.threads) if (one.folder === folder.id) one.folder = folder.parent;
    ledger.docs.delete(folder.id);
  };
  await attempt(
    acting,
    "thread/folder/delete",
    { workspace_id, folder_id: folder.id },
    {
      known: gone,
      doubt({ folders }) {
        if (!folders.has(folder.id)) gone();
      },
    },
  );
  return true;
}
