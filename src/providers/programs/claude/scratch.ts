import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const NAME = "heddle-claude-";
const DAY_MS = 86_400_000;

/** A directory for one process's temporary files, named for its owner. */
export async function makeScratch(): Promise<string> {
  await forgetOrphans();
  return mkdtemp(join(tmpdir(), `${NAME}${process.pid}-`));
}

export async function forgetScratch(scratch: string): Promise<void> {
  await rm(scratch, { recursive: true, force: true, maxRetries: 3 });
}

/** Whose owner was killed could not remove it. A day old, because owners in other containers look dead from here. */
async function forgetOrphans(): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  const orphans = names.filter(
    (name) => name.startsWith(NAME) && !lives(Number.parseInt(name.slice(NAME.length), 10)),
  );
  for (const path of orphans.map((name) => join(tmpdir(), name))) {
    const old = await stat(path).catch(() => undefined);
    if (old && Date.now() - old.mtimeMs > DAY_MS) await forgetScratch(path).catch(() => {});
  }
}

function lives(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
