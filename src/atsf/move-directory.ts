import { rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { copyDirectory } from "./copy-directory.js";
import { writing } from "./disk.js";
import { syncDirectory } from "./files.js";

/** Moves a directory, also to another disk. The destination appears whole or not at all, and is durable before the source goes. */
export function moveDirectory(from: string, to: string): Promise<void> {
  return writing(to, async () => {
    try {
      await rename(from, to);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw error;
      await copyDirectory(from, to);
      await rm(from, { recursive: true });
      return syncBoth(from, to);
    }
    await syncBoth(from, to).catch(async (error) => {
      // Whoever is refused finds it where it was.
      await rename(to, from).catch(() => {});
      throw error;
    });
  });
}

async function syncBoth(from: string, to: string): Promise<void> {
  await syncDirectory(dirname(to));
  await syncDirectory(dirname(from));
}
