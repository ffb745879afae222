import { documentText, type Seed } from "./seed.js";

export const THREADS = 10_000;
export const FOLDERS = 1_000;

export interface LargeTree {
  readonly workspace: string;
  readonly folders: readonly string[];
}

/** A workspace as large as a person's may become in years. */
export function largeTree(seed: Seed): LargeTree {
  const workspace = seed.workspace("Page");
  const folders: string[] = [];
  for (let index = 0; index < FOLDERS; index++) {
    const parent = index < 10 ? null : (folders[Math.floor(index / 10) - 1] ?? null);
    const folder = seed.folder(workspace, parent, `Folder ${index}`);
    if (index % 10 === 0) seed.doc(workspace, folder, documentText(2_000));
    folders.push(folder);
  }
  for (let index = 0; index < THREADS; index++)
    seed.thread(workspace, folders[index % FOLDERS] ?? null, { index, of: THREADS });
  return { workspace, folders };
}
