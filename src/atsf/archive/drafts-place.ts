import { lstat, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { takeLock } from "../../base/index.js";
import { assertInside } from "../confined.js";
import { syncDirectory } from "../files.js";
import { ensureGitignore } from "../gitignore.js";
import { agentDir, threadsDir } from "../layout.js";

/** A directory for drafts of threads, on the same disk as the threads. */
export interface DraftsPlace {
  readonly dir: string;
  remove(): Promise<void>;
}

const PREFIX = ".import-";
const LOCK = ".lock";
const YOUNG_MS = 60_000;

/** Makes a place for drafts, and removes those that importers left when they died. */
export async function makeDraftsPlace(root: string): Promise<DraftsPlace> {
  const threads = threadsDir(root);
  // Looked at before anything is made: a link would have it made elsewhere.
  await assertInside(root, agentDir(root));
  if (await mkdir(threads, { recursive: true })) {
    await syncDirectory(root);
    await syncDirectory(agentDir(root));
  }
  await assertInside(root, threads);
  await ensureGitignore(root);
  await sweep(threads);
  const dir = await mkdtemp(join(threads, PREFIX));
  const lock = takeLock(join(dir, LOCK));
  return {
    dir,
    async remove() {
      lock?.release();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** An importer holds its place's lock as long as it lives. One that is just beginning has no lock yet, so young places stay. */
async function sweep(threads: string): Promise<void> {
  for (const name of await readdir(threads)) {
    if (!name.startsWith(PREFIX)) continue;
    const dir = join(threads, name);
    const found = await lstat(dir).catch(() => undefined);
    if (!found?.isDirectory() || Date.now() - found.mtimeMs < YOUNG_MS) continue;
    try {
      const lock = takeLock(join(dir, LOCK));
      if (!lock) continue;
      lock.release();
      await rm(dir, { recursive: true, force: true });
    } catch {
      // Someone else removes it at the same moment, or it can't be removed: an import does not depend on it.
    }
  }
}
