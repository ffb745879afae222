import { lstat, mkdir, realpath } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";
import { type Area, confined, type Located, locate, type Refusal, wrongKind } from "./find.js";
import { type OpenDirectory, openDirectory } from "./open.js";

/** Where a file stands, or will. */
export interface Place extends Located {
  /** The nearest directory that is there, links resolved. */
  readonly parent: string;
  /** Directories that are missing below it, outermost first. */
  readonly missing: readonly string[];
  readonly name: string;
  /** The file, links resolved. */
  readonly real: string;
  readonly there: boolean;
}

/** Finds where a file is to be written. A link is followed only if it leads to a file within the directory. */
export async function findPlace(area: Area, path: string): Promise<Place | Refusal> {
  const located = await locate(area, path);
  if ("refusal" in located) return located;
  if (located.below === "" || /[/\\]$/.test(path)) return wrongKind(located.shown, "file", "directory");
  try {
    const place = await resolved(located);
    if ("refusal" in place) return place;
    return confined(place) ?? (await onlyAFile(place)) ?? place;
  } catch (error) {
    return { refusal: unwritable(located.shown, error) };
  }
}

/** Opens the directory of a place, making what is missing. Each one made is checked where it stands, as the first is. */
export async function openPlace(place: Place): Promise<OpenDirectory | Refusal> {
  let real = place.parent;
  let parent = await openDirectory({ ...place, real });
  for (const name of place.missing) {
    if ("refusal" in parent) return parent;
    try {
      await mkdir(parent.at(name)).catch(unlessThere);
      await parent.sync();
    } finally {
      await parent.close();
    }
    real = join(real, name);
    parent = await openDirectory({ ...place, real });
  }
  return parent;
}

/** The reason without the system's words: they hold the whole path. */
export function unwritable(shown: string, error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  const nothing = "Nothing was changed.";
  if (code === "ENOTDIR" || code === "EEXIST") {
    return `${shown} can't be written: a file stands where a directory should be. ${nothing}`;
  }
  if (code === "EACCES" || code === "EPERM" || code === "EROFS") {
    return `${shown} may not be written: permission denied (${code}). ${nothing}`;
  }
  if (code === "ENOSPC" || code === "EDQUOT") {
    return `${shown} can't be written: the disk is full (${code}). ${nothing}`;
  }
  return `${shown} can't be written${code === undefined ? "" : ` (${code})`}. ${nothing}`;
}

async function resolved(located: Located): Promise<Place | Refusal> {
  const names = located.below.split(sep);
  for (let count = names.length; ; count--) {
    const path = join(located.base, ...names.slice(0, count));
    const real = await realpath(path).catch(unlessMissing);
    if (real !== undefined) return placeIn(located, real, names.slice(count));
    // A link that leads nowhere can lead anywhere once something is there.
    if (await isThere(path)) {
      return {
        refusal: `${located.shown} is or lies behind a link that leads nowhere. It was not followed.`,
      };
    }
  }
}

function placeIn(located: Located, real: string, rest: readonly string[]): Place {
  const name = rest.at(-1);
  if (name === undefined) {
    return { ...located, parent: dirname(real), missing: [], name: basename(real), real, there: true };
  }
  const missing = rest.slice(0, -1);
  return { ...located, parent: real, missing, name, real: join(real, ...rest), there: false };
}

async function onlyAFile({ shown, real, parent, there }: Place): Promise<Refusal | undefined> {
  const seen = await lstat(there ? real : parent);
  const kind = seen.isFile() ? "file" : seen.isDirectory() ? "directory" : undefined;
  if (there) return kind === "file" ? undefined : wrongKind(shown, "file", kind);
  return kind === "directory" ? undefined : { refusal: unwritable(shown, { code: "ENOTDIR" }) };
}

async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(unlessMissing)) !== undefined;
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
  return undefined;
}

/** Somebody else made it meanwhile; whether it is a directory is seen when it is opened. */
function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}
