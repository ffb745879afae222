import { closeSync, fsync, lstatSync, openSync, type Stats, writeFile, writeFileSync } from "node:fs";
import { link, mkdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { isMissing, writing } from "./disk.js";
import { atsfError } from "./errors.js";
import { keepLive, letGo } from "./left-over.js";
import { openRegular } from "./regular-file.js";

export { isMissing } from "./disk.js";

/** Writes a file whole or not at all, and durably: a crash leaves the old one or the new one. */
export function writeAtomic(path: string, data: string | Uint8Array): Promise<void> {
  return throughTemporary(path, data, (temporary) => rename(temporary, path));
}

/** Makes a file whole and durably where there is none. False: there is one, and it stays. */
export async function createAtomic(path: string, data: string | Uint8Array): Promise<boolean> {
  if (await isThere(path)) return false;
  let made = true;
  await throughTemporary(path, data, async (temporary) => {
    made = await linkIfFree(temporary, path);
    await rm(temporary, { force: true });
  });
  return made;
}

function throughTemporary(
  path: string,
  data: string | Uint8Array,
  put: (temporary: string) => Promise<void>,
): Promise<void> {
  return writing(path, async () => {
    const temporary = keepLive(join(dirname(path), `.${basename(path)}.${process.pid}-${sequence++}.tmp`));
    try {
      await writeNew(temporary, data);
      await put(temporary);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    } finally {
      letGo(temporary);
    }
    await syncDirectory(dirname(path));
  });
}

let sequence = 0;

/** Makes a file and flushes it. Only the flush leaves the thread: the rest takes microseconds for what is small. */
export async function writeNew(path: string, data: string | Uint8Array): Promise<void> {
  const file = openSync(path, "wx");
  try {
    if (data.length > LARGE) await write(file, data as never);
    else writeFileSync(file, data);
    await flush(file);
  } finally {
    closeSync(file);
  }
}

const LARGE = 256 * 1024;
const flush = promisify(fsync);
const write = promisify(writeFile) as (file: number, data: string | Uint8Array) => Promise<void>;

/** Some disks have no hard links; there the moment between looking and renaming is all that is left open. */
async function linkIfFree(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    if (await isThere(to)) return false;
    await rename(from, to);
    return true;
  }
}

/** Makes a directory with those above it. A file in its way is told as such. */
export async function makeDirectory(dir: string): Promise<void> {
  if (lookAt(dir)?.isDirectory()) return;
  try {
    await mkdir(dir, { recursive: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code === "EEXIST" || code === "ENOTDIR" ? notADirectory(dir) : error;
  }
}

export function notADirectory(dir: string) {
  return atsfError({ kind: "atsf.not_a_directory", dir }, `${dir} is not a directory.`);
}

/** A new name in a directory is durable only when the directory is. */
export async function syncDirectory(dir: string): Promise<void> {
  const file = openSync(dir, "r");
  try {
    await flush(file);
  } finally {
    closeSync(file);
  }
}

/** Undefined when there is no such file. */
export async function readIfThere(path: string): Promise<Buffer | undefined> {
  const file = await openRegular(path);
  try {
    return await file?.readFile();
  } finally {
    await file?.close();
  }
}

/** Whether something stands under a name, a link that leads nowhere included. */
export async function isThere(path: string): Promise<boolean> {
  return lookAt(path) !== undefined;
}

/** What stands under a name, links not followed; undefined when nothing does. What can't be told is no "nothing". */
function lookAt(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
