import { randomUUID } from "node:crypto";
import { chmod, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

/** What each file was when it said a text, so that it need not be read to know that it still does. */
const known = new Map<string, { readonly text: string; readonly stamp: string }>();

/**
 * Whole or not at all: an agent may read it this moment. A file that says the same already is left alone; one that somebody
 * touched is looked into again.
 */
export async function writeChanged(file: string, text: string, mode: number): Promise<void> {
  const before = known.get(file);
  const stamp = await stampOf(file);
  if (before && before.text === text && before.stamp === stamp) return;
  const says = stamp === undefined ? undefined : await readFile(file, "utf8").catch(() => undefined);
  if (says === text && stamp !== undefined) known.set(file, { text, stamp });
  else await write(file, text, mode);
}

async function write(file: string, text: string, mode: number): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${randomUUID()}.tmp`;
  try {
    await writeFile(temporary, text, { flag: "wx", mode });
    // What the process may not give by default counts for nothing here: a command must be one that can be run.
    await chmod(temporary, mode);
    // Taken before anybody else can write to it.
    const stamp = await stampOf(temporary);
    await rename(temporary, file);
    if (stamp !== undefined) known.set(file, { text, stamp });
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Undefined when it is not there. */
async function stampOf(file: string): Promise<string | undefined> {
  const found = await stat(file, { bigint: true }).catch(() => undefined);
  return found && [found.ino, found.size, found.mtimeNs, found.mode].join(" ");
}
