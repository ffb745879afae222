import { lstat, readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { NotRead } from "./session.js";

export interface WalkedFile {
  readonly path: string;
  /** From the place on, with slashes. */
  readonly name: string;
}

const DEEPEST = 8;

/**
 * Every regular file below a place, in the order of their names; a file's own path is that file. The place itself may be a
 * link, since somebody named it; nothing below it is followed. `enter` keeps out of directories by their names.
 */
export async function* filesBelow(
  place: string,
  enter: (name: string) => boolean = () => true,
): AsyncGenerator<WalkedFile | NotRead> {
  const real = await realpath(place);
  const found = await lstat(real);
  if (found.isFile()) {
    yield { path: real, name: real.split("/").at(-1) ?? real };
    return;
  }
  yield* below({ dir: real, name: "", depth: 0 }, enter);
}

interface Directory {
  readonly dir: string;
  readonly name: string;
  readonly depth: number;
}

async function* below(
  { dir, name: from, depth }: Directory,
  enter: (name: string) => boolean,
): AsyncGenerator<WalkedFile | NotRead> {
  const entries = await readdir(dir, { withFileTypes: true }).catch((error: Error) => error);
  if (entries instanceof Error) {
    yield { path: dir, reason: whyNot(entries) };
    return;
  }
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(dir, entry.name);
    const name = from === "" ? entry.name : `${from}/${entry.name}`;
    if (entry.isFile()) yield { path, name };
    else if (entry.isDirectory() && depth < DEEPEST && enter(entry.name))
      yield* below({ dir: path, name, depth: depth + 1 }, enter);
  }
}

export async function isDirectory(path: string): Promise<boolean> {
  return lstat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** Why something could not be read, in a few words. */
export function whyNot(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "EACCES" || code === "EPERM") return "it may not be read";
  if (code === "ENOENT") return "it is not there any more";
  if (code === "ELOOP") return "it is a link";
  return message.split("\n")[0] ?? message;
}
