import type { BigIntStats } from "node:fs";
import { access, constants, type FileHandle, lstat, open, rename, rm } from "node:fs/promises";
import { randomSecret } from "../../base/index.js";
import type { Refusal } from "./find.js";
import { type OpenDirectory, openFound } from "./open.js";
import { MOST_FILE_BYTES } from "./path.js";
import { openPlace, type Place, unwritable } from "./place.js";

/** A file as it stood when it was read. */
export interface Before {
  /** Undefined when it is larger than what is ever changed. */
  readonly bytes: Buffer | undefined;
  readonly stat: BigIntStats;
}

/** What stands in a place now; undefined when nothing does. */
export async function readBefore(place: Place): Promise<Before | Refusal | undefined> {
  if (!place.there) return undefined;
  const file = await openFound(place);
  if ("refusal" in file) return file;
  try {
    const stat = await file.stat({ bigint: true });
    return { bytes: stat.size > MOST_FILE_BYTES ? undefined : await readAll(file, Number(stat.size)), stat };
  } finally {
    await file.close();
  }
}

/** Writes a file whole or not at all, and durably. What was changed since it was read stays as it is. */
export async function save(
  place: Place,
  bytes: Buffer,
  given: { before: Before | undefined; signal: AbortSignal },
): Promise<Refusal | undefined> {
  try {
    if (place.there) await access(place.real, constants.W_OK);
    const directory = await openPlace(place);
    if ("refusal" in directory) return directory;
    try {
      return await replace(directory, place, { ...given, bytes });
    } finally {
      await directory.close();
    }
  } catch (error) {
    given.signal.throwIfAborted();
    return { refusal: unwritable(place.shown, error) };
  }
}

/** A file can grow while it is read: no more is taken than it had. */
async function readAll(file: FileHandle, size: number): Promise<Buffer> {
  const bytes = Buffer.alloc(size);
  let at = 0;
  while (at < size) {
    const { bytesRead } = await file.read(bytes, at, size - at, at);
    if (bytesRead === 0) break;
    at += bytesRead;
  }
  return bytes.subarray(0, at);
}

async function replace(
  directory: OpenDirectory,
  { name, shown }: Place,
  { bytes, before, signal }: { bytes: Buffer; before: Before | undefined; signal: AbortSignal },
): Promise<Refusal | undefined> {
  const temporary = directory.at(`.heddle-${randomSecret().slice(0, 16)}.tmp`);
  try {
    await writeNew(temporary, bytes, before?.stat);
    signal.throwIfAborted();
    if (!(await isSame(directory.at(name), before?.stat))) {
      return {
        refusal: `${shown} was changed by somebody else meanwhile. Nothing was written: read it again, then decide.`,
      };
    }
    await rename(temporary, directory.at(name));
  } finally {
    await rm(temporary, { force: true });
  }
  await directory.sync();
  return undefined;
}

async function writeNew(path: string, bytes: Buffer, like: BigIntStats | undefined): Promise<void> {
  const file = await open(path, "wx", like ? 0o600 : 0o666);
  try {
    await file.writeFile(bytes);
    if (like) await resemble(file, like);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** A script stays one that can be run. Who may not give a file away keeps it. */
async function resemble(file: FileHandle, { mode, uid, gid }: BigIntStats): Promise<void> {
  const own = await file.stat({ bigint: true });
  if (own.uid !== uid || own.gid !== gid) await file.chown(Number(uid), Number(gid)).catch(() => {});
  await file.chmod(Number(mode & 0o777n));
}

async function isSame(path: string, before: BigIntStats | undefined): Promise<boolean> {
  const there = await lstat(path, { bigint: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (!there || !before) return there === before;
  return (
    there.ino === before.ino &&
    there.dev === before.dev &&
    there.size === before.size &&
    there.mtimeNs === before.mtimeNs
  );
}
