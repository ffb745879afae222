import { realpath, stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { treeError } from "../errors.js";

/** The directory a workspace is bound to, with links resolved, so that one directory has one name. */
export async function projectDirectory(root_path: string): Promise<string> {
  if (!isAbsolute(root_path)) throw invalid(root_path, "must be an absolute path");
  let path: string;
  try {
    path = await realpath(root_path);
  } catch {
    throw invalid(root_path, "does not exist");
  }
  if (!(await stat(path)).isDirectory()) throw invalid(root_path, "is not a directory");
  return path;
}

function invalid(root_path: string, why: string) {
  return treeError({ kind: "workspace.path_invalid", root_path }, `root_path ${root_path} ${why}.`);
}
