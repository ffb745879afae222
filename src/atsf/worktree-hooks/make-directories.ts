import { mkdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { isInside } from "../confined.js";
import { isThere } from "../files.js";

/**
 * Makes the directories of a path below a root, one by one, so that no link among those that are there is followed
 * out of it. Answers the last one, or undefined when one leads out; nothing is made outside.
 */
export async function makeDirectories(root: string, path: string): Promise<string | undefined> {
  let dir = await realpath(root);
  for (const part of path.split(/[\\/]/).filter((name) => name !== "" && name !== ".")) {
    dir = join(dir, part);
    if (!(await isThere(dir))) await mkdir(dir);
    else if (!(await isInside(root, dir))) return undefined;
  }
  return dir;
}
