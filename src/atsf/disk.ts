import type { Stats } from "node:fs";
import { atsfError } from "./errors.js";

type Doing = "read" | "write";

/** Runs work that reads; a refusal by the disk becomes a known error. */
export function reading<T>(path: string, work: () => Promise<T>): Promise<T> {
  return known(path, "read", work);
}

/** Runs work that writes; a full or read-only disk becomes a known error. The work itself leaves nothing half-written. */
export function writing<T>(path: string, work: () => Promise<T>): Promise<T> {
  return known(path, "write", work);
}

async function known<T>(path: string, doing: Doing, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw diskError(error, path, doing);
  }
}

export function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOENT" || code === "ENOTDIR";
}

/** What a disk's error number means to a person. Anything else stays as it is. */
export function diskError(error: unknown, fallback: string, doing: Doing): unknown {
  const { code, path = fallback } = (error ?? {}) as { code?: unknown; path?: string };
  switch (code) {
    case "ENOSPC":
    case "EDQUOT":
    case "EFBIG":
      return diskFull(path, error);
    case "EIO":
      return diskFailed(path, error);
    case "EROFS":
      return notWritable(path, error);
    case "EISDIR":
      return notAFile(path, "a directory", error);
    case "ENXIO":
    case "ESPIPE":
      return notAFile(path, "a pipe or a socket", error);
    case "ELOOP":
      return notAFile(path, "a link that leads in a circle", error);
    case "EACCES":
    case "EPERM":
      return doing === "write" ? notWritable(path, error) : notReadable(path, error);
    default:
      return error;
  }
}

export function diskFull(path: string, cause: unknown) {
  return atsfError(
    { kind: "atsf.disk_full", path },
    `There is no room to write ${path}: the disk, a quota or the largest size of a file is used up. Nothing was changed. Make room, then try again.`,
    cause,
  );
}

function diskFailed(path: string, cause: unknown) {
  return atsfError(
    { kind: "atsf.disk_failed", path },
    `${path} could not be read, written or flushed: its disk reports an error. What was acknowledged before is not concerned. Look after the disk, then try again.`,
    cause,
  );
}

export function notWritable(path: string, cause: unknown) {
  return atsfError(
    { kind: "atsf.not_writable", path },
    `${path} can't be written: it is read-only, or belongs to someone else. Nothing was changed. Give this user the right to write there, then try again.`,
    cause,
  );
}

/** What no program can read to its end, or read at all, is refused before anyone waits for it. */
export function assertFile(path: string, found: Stats): void {
  if (!found.isFile()) throw notAFile(path, kindOf(found));
}

/** In words, for people. */
export function kindOf(found: Stats): string {
  if (found.isFile()) return "a file";
  if (found.isDirectory()) return "a directory";
  if (found.isSocket()) return "a socket";
  if (found.isSymbolicLink()) return "a link";
  return found.isFIFO() ? "a pipe" : "a device";
}

function notAFile(path: string, is: string, cause?: unknown) {
  return atsfError(
    { kind: "atsf.invalid_file", file: path, problem: "not_a_file" },
    `${path} can't be used: it is ${is} where a file should be. Move it away, then try again.`,
    cause,
  );
}

function notReadable(path: string, cause: unknown) {
  return atsfError(
    { kind: "atsf.not_readable", path },
    `${path} can't be read: this user may not. Give this user the right to read it, then try again.`,
    cause,
  );
}
