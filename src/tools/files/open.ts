import { constants } from "node:fs";
import { type FileHandle, lstat, open, readlink, realpath } from "node:fs/promises";
import { join } from "node:path";
import { confined, type Found, type Kind, type Refusal, unreadable, wrongKind } from "./find.js";

type Place = Omit<Found, "below">;

/** Opens a file that was found. What stands there may be another by now: what counts is what was opened, and where that is. */
export async function openFound(found: Place): Promise<FileHandle | Refusal> {
  const opened = await openKind(found, "file");
  return "refusal" in opened ? opened : opened.handle;
}

/** A directory that stays the one that was checked, whatever its name leads to afterwards. */
export interface OpenDirectory {
  /** A path that leads into it. Without a name: to itself. */
  at(name?: string): string;
  /** Makes new names in it durable. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

export async function openDirectory(found: Place): Promise<OpenDirectory | Refusal> {
  const opened = await openKind(found, "directory");
  if ("refusal" in opened) return opened;
  const { handle, anchored } = opened;
  // Where the system gives no path to what is open, its name is the next best: it can be changed to and fro.
  const root = anchored ? `/proc/self/fd/${handle.fd}` : found.real;
  return {
    at: (name) => (name === undefined ? root : join(root, name)),
    sync: () => handle.sync(),
    close: () => handle.close(),
  };
}

async function openKind(
  found: Place,
  kind: Kind,
): Promise<{ handle: FileHandle; anchored: boolean } | Refusal> {
  let handle: FileHandle;
  try {
    handle = await open(found.real, FLAGS);
  } catch (error) {
    return isLink(error) ? changed(found) : { refusal: unreadable(found.shown, error, kind) };
  }
  const seen = await look(handle, found, kind).catch((error) => ({
    refusal: unreadable(found.shown, error, kind),
  }));
  if (!("refusal" in seen)) return { handle, ...seen };
  await handle.close();
  return seen;
}

/** Without `O_NONBLOCK` a pipe nobody writes to holds up whoever opens it. Some systems lack some of them. */
const FLAGS =
  constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0) | (constants.O_NOCTTY ?? 0);

async function look(
  handle: FileHandle,
  found: Place,
  wanted: Kind,
): Promise<{ anchored: boolean } | Refusal> {
  const opened = await handle.stat();
  const kind = opened.isFile() ? "file" : opened.isDirectory() ? "directory" : undefined;
  if (kind !== wanted) return wrongKind(found.shown, wanted, kind);
  const told = await pathOfOpened(handle);
  const real = told ?? (await pathIfSame(handle, found.real));
  if (real === undefined) return changed(found);
  return confined({ ...found, real }) ?? { anchored: told !== undefined };
}

/** Where an open file stands, as the system knows it; undefined where it does not tell. */
async function pathOfOpened(file: FileHandle): Promise<string | undefined> {
  return readlink(`/proc/self/fd/${file.fd}`).catch(() => undefined);
}

/** The real path of what a path leads to, if that is the open file. The next best: it can be changed to and fro. */
export async function pathIfSame(file: FileHandle, path: string): Promise<string | undefined> {
  const real = await realpath(path);
  const [there, opened] = await Promise.all([lstat(real, BIG), file.stat(BIG)]);
  return there.dev === opened.dev && there.ino === opened.ino ? real : undefined;
}

const BIG = { bigint: true } as const;

function isLink(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ELOOP" || code === "EMLINK";
}

function changed({ shown }: Place): Refusal {
  return { refusal: `${shown} was changed while it was being opened. Try again.` };
}
