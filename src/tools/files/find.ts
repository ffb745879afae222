import { lstat, realpath } from "node:fs/promises";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { quoted } from "../quoted.js";
import type { ToolContext } from "../tool.js";
import { isGuarded } from "./guarded.js";

/** A path within a tool's directory, as it was asked for: no link is followed yet. */
export interface Located {
  /** The tool's directory, links resolved. */
  readonly base: string;
  /** The path below it; empty for the directory itself. */
  readonly below: string;
  /** How it is called in what a model reads. */
  readonly shown: string;
  readonly keptOut?: readonly string[] | undefined;
}

/** Where a tool may look. */
export type Area = Pick<ToolContext, "directory" | "keptOut">;

/** Something that a tool may touch, as it stood when it was looked for. */
export interface Found extends Located {
  /** The same, links resolved. */
  readonly real: string;
}

export interface Refusal {
  readonly refusal: string;
}

export type Kind = "file" | "directory";

/** Finds a regular file, or a directory, within a directory. No message holds a path that is not below it. */
export async function find(
  area: Area,
  path: string,
  wanted: Kind | "either",
): Promise<(Found & { readonly kind: Kind }) | Refusal> {
  const located = await locate(area, path);
  if ("refusal" in located) return located;
  try {
    const found = { ...located, real: await realpath(join(located.base, located.below)) };
    const refusal = confined(found);
    if (refusal) return refusal;
    // Looked at before it is opened: opening a device can do something.
    const there = await lstat(found.real);
    const kind = there.isFile() ? "file" : there.isDirectory() ? "directory" : undefined;
    if (kind === undefined || (wanted !== "either" && kind !== wanted)) {
      return wrongKind(found.shown, wanted, kind);
    }
    return { ...found, kind };
  } catch (error) {
    return { refusal: unreadable(located.shown, error, wanted === "directory" ? "directory" : "file") };
  }
}

/** Refuses a path that is not within the directory by its words alone, or that names what no tool touches. */
export async function locate({ directory, keptOut }: Area, path: string): Promise<Located | Refusal> {
  if (directory === undefined) return { refusal: "This workspace has no directory, so there are no files." };
  const base = await realpath(directory).catch(() => undefined);
  if (base === undefined) {
    return { refusal: "The workspace's directory is not there, so there are no files." };
  }
  const below = [directory, base]
    .map((root) => belowOf(root, resolve(root, path)))
    .find((one) => one !== undefined);
  if (below === undefined) return { refusal: OUTSIDE };
  const shown = quoted(below === "" ? "." : below);
  return isGuarded(below) ? { refusal: guarded(shown) } : { base, below, shown, keptOut };
}

/** Refuses a real path that is not where a tool may look; undefined when it is. */
export function confined({ base, real, shown, keptOut = [] }: Omit<Found, "below">): Refusal | undefined {
  const below = belowOf(base, real);
  if (below === undefined) {
    return { refusal: `${shown} leads out of the workspace's directory. It was not followed.` };
  }
  if (isGuarded(below)) return { refusal: guarded(shown) };
  const kept = keptOut.some((place) => isWithin(place, real) && !isWithin(place, base));
  return kept
    ? { refusal: `${shown} is Heddle's own: its data or its configuration. No tool touches it.` }
    : undefined;
}

function isWithin(place: string, path: string): boolean {
  return path === place || path.startsWith(place + sep);
}

export function wrongKind(shown: string, wanted: Kind | "either", kind: Kind | undefined): Refusal {
  if (kind === "directory") return { refusal: `${shown} is a directory. Name a file in it.` };
  if (kind === "file" && wanted === "directory") {
    return { refusal: `${shown} is a file. Name a directory, or read it with files_read.` };
  }
  return { refusal: `${shown} is no regular file (it is a pipe, a socket or a device). It was not opened.` };
}

/** The reason without the system's words: they hold the whole path. */
export function unreadable(shown: string, error: unknown, what: Kind = "file"): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOENT" || code === "ENOTDIR") return `There is no ${what} ${shown}.`;
  if (code === "EACCES" || code === "EPERM") return `${shown} may not be read: permission denied (${code}).`;
  return `${shown} can't be read${code === undefined ? "" : ` (${code})`}.`;
}

const OUTSIDE =
  "The path leads out of the workspace's directory. Give one within it, relative to it: src/index.ts, for example.";

function belowOf(root: string, path: string): string | undefined {
  const below = relative(root, path);
  const out = below === ".." || below.startsWith(`..${sep}`) || isAbsolute(below);
  return out ? undefined : below;
}

function guarded(shown: string): string {
  return `${shown} lies in .git or .agent, which no tool reads or writes.`;
}
