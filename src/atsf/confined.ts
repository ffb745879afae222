import { realpath } from "node:fs/promises";
import { sep } from "node:path";
import { atsfError } from "./errors.js";
import { isMissing } from "./files.js";

/** Whether a path, links resolved, stands within a directory. What does not exist yet is judged by its parent. */
export async function isInside(root: string, path: string): Promise<boolean> {
  const [base, real] = await Promise.all([realpath(root), realpath(path)]);
  return real === base || real.startsWith(base + sep);
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
