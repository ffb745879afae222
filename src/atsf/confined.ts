import { lstatSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { isAbsolute, join, relative, sep } from "node:path";
import { atsfError } from "./errors.js";
import { isMissing } from "./files.js";

/** Whether a path, links resolved, stands within a directory. Throws when it is not there. */
export async function isInside(root: string, path: string): Promise<boolean> {
  if (wayTo(root, path) === "plain") return true;
  const [base, real] = await Promise.all([realpath(root), realpath(path)]);
  return real === base || real.startsWith(base + sep);
}

/** Nothing on the way from a directory to a path is a link: no need to ask where links lead. */
export function isPlainlyInside(root: string, path: string): boolean {
  return wayTo(root, path) === "plain";
}

/** What is met on the way from a directory to a path: plain directories, nothing at some point, or a link. */
function wayTo(root: string, path: string): "plain" | "missing" | "unclear" {
  const below = relative(root, path);
  if (below.startsWith("..") || isAbsolute(below)) return "unclear";
  let at = root;
  for (const part of below === "" ? [] : below.split(sep)) {
    at = join(at, part);
    const found = lstatSync(at, { throwIfNoEntry: false });
    if (!found) return "missing";
    if (found.isSymbolicLink()) return "unclear";
  }
  return "plain";
}

/** Refuses a file of a thread that is a link to somewhere else: reading or writing it would touch what is not ours. */
export async function assertInside(root: string, path: string): Promise<void> {
  if (wayTo(root, path) !== "unclear") return;
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
