import type { Dirent } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { cliError } from "../../errors.js";
import { isWithin } from "../../workspace-choice.js";
import type { FileOutcome } from "./file-report.js";
import { reason } from "./text-file.js";

export const FILE_NAME = "AGENTS.md";

export interface FoundFile {
  /** Directories from the root of the search down to the one it stands in. */
  readonly path: readonly string[];
  readonly file: string;
}

/** Directories whose AGENTS.md files belong to someone else, or to no one. */
export function isLeftOut(directory: string): boolean {
  return directory === "node_modules" || directory.startsWith(".");
}

/** Every AGENTS.md of a directory tree, parents before children; what can't be read is answered as refused. */
export async function findFiles(root: string): Promise<{ files: FoundFile[]; refused: FileOutcome[] }> {
  const top = await realpath(root).catch((error: NodeJS.ErrnoException) => {
    throw cliError(
      { kind: "file.unreadable", path: root },
      `${root} can't be read: ${reason(error)}.`,
      error,
    );
  });
  const files: FoundFile[] = [];
  const refused: FileOutcome[] = [];
  const visit = async (path: readonly string[]): Promise<void> => {
    const directory = join(top, ...path);
    const file = join(directory, FILE_NAME);
    const entries = await readdir(directory, { withFileTypes: true }).catch(
      (error: NodeJS.ErrnoException) => {
        if (path.length === 0) {
          throw cliError(
            { kind: "file.unreadable", path: root },
            `${root} can't be read: ${reason(error)}.`,
            error,
          );
        }
        refused.push({ path, file: directory, status: "refused", reason: reason(error) });
        return [];
      },
    );
    const entry = entries.find(({ name }) => name === FILE_NAME);
    if (entry && (await isOurs(entry, file, top))) files.push({ path, file });
    else if (entry?.isSymbolicLink()) {
      refused.push({ path, file, status: "refused", reason: "it is a link that leads out of the directory" });
    }
    // Links to directories are not followed: they lead out, or to what is found anyway, or in a circle.
    const inside = entries.filter((each) => each.isDirectory() && !isLeftOut(each.name));
    for (const { name } of inside.sort(byName)) await visit([...path, name]);
  };
  await visit([]);
  return { files, refused };
}

async function isOurs(entry: Dirent, file: string, top: string): Promise<boolean> {
  if (!entry.isSymbolicLink()) return entry.isFile();
  try {
    const target = await realpath(file);
    return isWithin(target, top) && (await stat(target)).isFile();
  } catch {
    return false;
  }
}

function byName(a: Dirent, b: Dirent): number {
  return a.name < b.name ? -1 : 1;
}
