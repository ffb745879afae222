import { open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** Writes a file whole or not at all, and durably: a crash leaves the old one or the new one. */
export async function writeAtomic(path: string, data: string | Uint8Array): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.${process.pid}-${sequence++}.tmp`);
  try {
    const file = await open(temporary, "wx");
    try {
      await file.writeFile(data);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncDirectory(dirname(path));
}

let sequence = 0;

/** A new name in a directory is durable only when the directory is. */
export async function syncDirectory(dir: string): Promise<void> {
  const handle = await open(dir, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOENT" || code === "ENOTDIR";
}
