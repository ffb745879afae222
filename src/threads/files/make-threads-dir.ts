import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { GITIGNORE } from "../../atsf/index.js";
import { threadsDirOf } from "./find.js";

/** Makes the directory that threads are moved into. Git must not see a conversation there, not even at first. */
export async function makeThreadsDirectory(root: string): Promise<void> {
  await mkdir(threadsDirOf(root), { recursive: true });
  await writeFile(join(root, ".agent", ".gitignore"), GITIGNORE, { flag: "wx" }).catch((error) => {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  });
}
