import { constants } from "node:fs";
import { type FileHandle, open, readdir, realpath } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { unreadable } from "../../errors.js";
import { isOthers, OTHERS_PROBLEM } from "./path.js";
import { type FoundFile, LARGEST_FILE, NO_FILE, type PackSource, TOO_LARGE } from "./source.js";

/** A directory as it is now. What links lead to must be within it. */
export function workingTree(root: string): PackSource {
  return {
    read: (path) => readConfined(root, path).catch(toFound),
    async list(directory) {
      const found = await listConfined(root, directory).catch(toFound);
      if ("names" in found) return found.names;
      if ("problem" in found) throw unreadable("read", `${directory} ${found.problem}.`);
      return [];
    },
  };
}

/** Without `O_NONBLOCK` a pipe nobody writes to holds up whoever opens it. Some systems lack these flags. */
const READ =
  constants.O_RDONLY |
  (constants.O_NONBLOCK ?? 0) |
  (constants.O_NOCTTY ?? 0) |
  // Links were resolved: one that is there now was put there since.
  (constants.O_NOFOLLOW ?? 0);

async function readConfined(root: string, path: string): Promise<FoundFile> {
  const place = await confine(root, path);
  if ("problem" in place) return place;
  const file = await open(place.real, READ);
  try {
    if (!(await file.stat()).isFile()) return { problem: NO_FILE };
    return await readBounded(file);
  } finally {
    await file.close();
  }
}

async function listConfined(
  root: string,
  directory: string,
): Promise<{ names: string[] } | { problem: string }> {
  const place = await confine(root, directory);
  return "problem" in place ? place : { names: await readdir(place.real) };
}

async function confine(root: string, path: string): Promise<{ real: string } | { problem: string }> {
  const [base, real] = await Promise.all([realpath(root), realpath(join(root, path))]);
  if (!real.startsWith(base.endsWith(sep) ? base : base + sep))
    return { problem: "is a link that leads out of the workspace's directory" };
  return isOthers(relative(base, real).split(sep)) ? { problem: OTHERS_PROBLEM } : { real };
}

/** No more than may be there, however much the file grows meanwhile. */
async function readBounded(file: FileHandle): Promise<FoundFile> {
  const buffer = Buffer.allocUnsafe(LARGEST_FILE + 1);
  let filled = 0;
  while (filled < buffer.length) {
    const { bytesRead } = await file.read(buffer, filled, buffer.length - filled, filled);
    if (bytesRead === 0) return { bytes: Buffer.from(buffer.subarray(0, filled)) };
    filled += bytesRead;
  }
  return { problem: TOO_LARGE };
}

function toFound(error: NodeJS.ErrnoException): Exclude<FoundFile, { bytes: Buffer }> {
  const { code } = error;
  if (code === undefined) throw error;
  if (code === "ENOENT" || code === "ENOTDIR") return { missing: true };
  if (code === "ENXIO" || code === "ENODEV") return { problem: NO_FILE };
  if (code === "ELOOP") return { problem: "is a link that leads nowhere" };
  return {
    problem: code === "EACCES" ? "may not be read: check its permissions" : `can't be read (${code})`,
  };
}
