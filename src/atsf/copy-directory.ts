import { lstatSync } from "node:fs";
import { cp, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { writing } from "./disk.js";
import { syncDirectory } from "./files.js";
import { LOCK } from "./layout.js";
import { draftIn, letGo, removedName } from "./left-over.js";

export interface CopyOptions {
  /** What stays behind, besides locks and what is neither a file, a directory nor a link. */
  readonly leaveOut?: (path: string) => boolean;
  /** In the place of what stands there, which is in the copy: without it, only where nothing stands. */
  readonly replace?: boolean;
  /** Done to the copy before anyone can see it. */
  readonly finish?: (draft: string) => Promise<void>;
}

/** Copies a directory durably: the copy appears whole or not at all. Links are copied as links, never followed. */
export function copyDirectory(from: string, to: string, options: CopyOptions = {}): Promise<void> {
  return writing(to, () => copy(from, to, options));
}

async function copy(from: string, to: string, options: CopyOptions): Promise<void> {
  const draft = draftIn(dirname(to));
  try {
    await mkdir(draft, { mode: 0o700 });
    const filter = (path: string) => isCopied(path) && !options.leaveOut?.(path);
    await cp(from, draft, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true, filter });
    await syncTree(draft);
    await options.finish?.(draft);
    await (options.replace ? replace(draft, to) : rename(draft, to));
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  } finally {
    letGo(draft);
  }
  await syncDirectory(dirname(to));
}

/** Whoever is refused finds what stood there where it was. */
async function replace(draft: string, to: string): Promise<void> {
  const before = join(dirname(to), removedName(basename(to)));
  await rename(to, before);
  try {
    await rename(draft, to);
  } catch (error) {
    await rename(before, to);
    throw error;
  }
  await rm(before, { recursive: true, force: true });
}

/** Reading a lock that this process holds would drop it; waiting for a pipe would never end. */
function isCopied(path: string): boolean {
  if (basename(path).startsWith(LOCK)) return false;
  const found = lstatSync(path);
  return found.isFile() || found.isDirectory() || found.isSymbolicLink();
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
