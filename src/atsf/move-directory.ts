import { rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { copyDirectory } from "./copy-directory.js";
import { syncDirectory } from "./files.js";

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
