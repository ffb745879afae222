import { randomUUID } from "node:crypto";
import { chmod, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** What each file was when it said a text, so that it need not be read to know that it still does. */
const known = new Map<string, { readonly text: string; readonly stamp: string }>();

interface File {
  readonly path: string;
  readonly mode: number;
  /** A directory for drafts alone, on the same disk: what a gateway that was killed leaves there goes with it. */
  readonly drafts: string;
}

/**
 * Whole or not at all: an agent may read it this moment. A file that says the same already is left alone; one that somebody
 * touched is looked into again.
 */
export async function writeChanged(file: File, text: string): Promise<void> {
  const { path } = file;
  const before = known.get(path);
  const stamp = await stampOf(path);
  if (before && before.text === text && before.stamp === stamp) return;
  const says = stamp === undefined ? undefined : await readFile(path, "utf8").catch(() => undefined);
  if (says === text && stamp !== undefined) known.set(path, { text, stamp });
  else await write(file, text);
}

async function write({ path, mode, drafts }: File, text: string): Promise<void> {
  for (const directory of [dirname(path), drafts]) await mkdir(directory, { recursive: true, mode: 0o700 });
  const temporary = join(drafts, `${randomUUID()}.tmp`);
  try {
    await writeFile(temporary, text, { flag: "wx", mode });
    // What the process may not give by default counts for nothing here: a command must be one that can be run.
    await chmod(temporary, mode);
    // Taken before anybody else can write to it.
    const stamp = await stampOf(temporary);
    await rename(temporary, path);
    if (stamp !== undefined) known.set(path, { text, stamp });
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Undefined when it is not there. */
async function stampOf(path: string): Promise<string | undefined> {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  return found && [found.ino, found.size, found.mtimeNs, found.mode].join(" ");
}
