import { lstat, realpath } from "node:fs/promises";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { quoted } from "../quoted.js";
import { isGuarded } from "./guarded.js";

/** A file that a tool may touch, as it stood when it was looked for. */
export interface FoundFile {
  /** The tool's directory, links resolved. */
  readonly base: string;
  /** The file, links resolved. */
  readonly real: string;
  /** How it is called in what a model reads. */
  readonly shown: string;
}

export interface Refusal {
  readonly refusal: string;
}

/** Finds a regular file within a directory. No message holds a path that is not below it. */
export async function findFile(directory: string, path: string): Promise<FoundFile | Refusal> {
  const base = await realpath(directory).catch(() => undefined);
  if (base === undefined)
    return { refusal: "The workspace's directory is not there, so no file can be read." };
  const below = [directory, base]
    .map((root) => belowOf(root, resolve(root, path)))
    .find((one) => one !== undefined);
  if (below === undefined) return { refusal: OUTSIDE };
  const shown = quoted(below === "" ? "." : below);
  if (isGuarded(below)) return { refusal: guarded(shown) };
  try {
    const real = await realpath(join(base, below));
    return confined({ base, real, shown }) ?? (await regular({ base, real, shown }));
  } catch (error) {
    return { refusal: unreadable(shown, error) };
  }
}

/** Refuses a real path that is not where a tool may look; undefined when it is. */
export function confined({ base, real, shown }: FoundFile): Refusal | undefined {
  const below = belowOf(base, real);
  if (below === undefined) {
    return { refusal: `${shown} leads out of the workspace's directory. It was not followed.` };
  }
  return isGuarded(below) ? { refusal: guarded(shown) } : undefined;
}

export function notRegular(shown: string, isDirectory: boolean): Refusal {
  if (isDirectory) return { refusal: `${shown} is a directory. Name a file in it.` };
  return { refusal: `${shown} is no regular file (it is a pipe, a socket or a device). It was not opened.` };
}

/** The reason without the system's words: they hold the whole path. */
export function unreadable(shown: string, error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOENT" || code === "ENOTDIR") return `There is no file ${shown}.`;
  if (code === "EACCES" || code === "EPERM") return `${shown} may not be read: permission denied (${code}).`;
  return `${shown} can't be read${code === undefined ? "" : ` (${code})`}.`;
}

const OUTSIDE =
  "The path leads out of the workspace's directory. Give one within it, relative to it: src/index.ts, for example.";

/** Looked at before it is opened: opening a device can do something. */
async function regular(found: FoundFile): Promise<FoundFile | Refusal> {
  const there = await lstat(found.real);
  return there.isFile() ? found : notRegular(found.shown, there.isDirectory());
}

function belowOf(root: string, path: string): string | undefined {
  const below = relative(root, path);
  const out = below === ".." || below.startsWith(`..${sep}`) || isAbsolute(below);
  return out ? undefined : below;
}

function guarded(shown: string): string {
  return `${shown} lies in .git or .agent, which no tool reads or writes.`;
}
