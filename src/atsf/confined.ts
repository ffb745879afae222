import { lstatSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { isAbsolute, join, relative, sep } from "node:path";
import { atsfError } from "./errors.js";
import { isMissing } from "./files.js";

/** Whether a path, links resolved, stands within a directory. What does not exist yet is judged by its parent. */
export async function isInside(root: string, path: string): Promise<boolean> {
  if (isPlainlyInside(root, path)) return true;
  const [base, real] = await Promise.all([realpath(root), realpath(path)]);
  return real === base || real.startsWith(base + sep);
}

/** Nothing on the way from a directory to a path is a link: no need to ask where links lead. False when it is not there. */
export function isPlainlyInside(root: string, path: string): boolean {
  const below = relative(root, path);
  if (below.startsWith("..") || isAbsolute(below)) return false;
  let at = root;
  for (const part of below === "" ? [] : below.split(sep)) {
    at = join(at, part);
    const found = lstatSync(at, { throwIfNoEntry: false });
    if (!found || found.isSymbolicLink()) return false;
  }
  return true;
}

/** Refuses a file of a thread that is a link to somewhere else: reading or writing it would touch what is not ours. */
export async function assertInside(root: string, path: string): Promise<void> {
  try {
    if (await isInside(root, path)) return;
  } catch (error) {
    if (isMissing(error)) return;
    throw error;
  }
  throw atsfError(
    { kind: "atsf.invalid_file", file: path, problem: "leads_out" },
    `${path} is a link that leads out of ${root}. It was not followed.`,
  );
}
