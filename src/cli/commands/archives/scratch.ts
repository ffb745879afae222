import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Runs work with the path of a file that is not there yet, and that only this user can read. It is removed afterwards. */
export async function withScratchFile<T>(work: (path: string) => Promise<T>): Promise<T> {
  const dir = await mkdtemp(join(tmpdir(), "heddle-"));
  try {
    return await work(join(dir, "archive.tar.gz"));
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
