import { cp, mkdtemp, open, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { syncDirectory } from "./files.js";
import { LOCK } from "./layout.js";
import { draftPrefix } from "./left-over.js";

/** Moves a directory, also to another disk. The destination appears whole or not at all, and is durable before the source goes. */
export async function moveDirectory(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw error;
    await copyDirectory(from, to);
    await rm(from, { recursive: true });
  }
  await syncDirectory(dirname(to));
  await syncDirectory(dirname(from));
}

/** Copies a directory durably. Links are copied as links, never followed. */
export async function copyDirectory(from: string, to: string): Promise<void> {
  const draft = await mkdtemp(join(dirname(to), draftPrefix("new")));
  try {
    // Reading a lock that this process holds would drop it, and a lock is of no use elsewhere.
    const filter = (path: string) => !basename(path).startsWith(LOCK);
    await cp(from, draft, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true, filter });
    await syncTree(draft);
    await rename(draft, to);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
  await syncDirectory(dirname(to));
}

async function syncTree(dir: string): Promise<void> {
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) await syncTree(path);
    else if (entry.isFile()) await syncFile(path);
  }
  await syncDirectory(dir);
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
