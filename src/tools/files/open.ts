import { constants } from "node:fs";
import { type FileHandle, lstat, open, readlink, realpath } from "node:fs/promises";
import { confined, type FoundFile, notRegular, type Refusal, unreadable } from "./find.js";

/** Opens a file that was found. What stands there may be another by now: what counts is what was opened, and where that is. */
export async function openFound(found: FoundFile): Promise<FileHandle | Refusal> {
  let file: FileHandle;
  try {
    file = await open(found.real, FLAGS);
  } catch (error) {
    return isLink(error) ? changed(found) : { refusal: unreadable(found.shown, error) };
  }
  const refusal = await refused(file, found).catch((error) => ({ refusal: unreadable(found.shown, error) }));
  if (!refusal) return file;
  await file.close();
  return refusal;
}

/** Without `O_NONBLOCK` a pipe nobody writes to holds up whoever opens it. Some systems lack some of them. */
const FLAGS =
  constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0) | (constants.O_NOCTTY ?? 0);

async function refused(file: FileHandle, found: FoundFile): Promise<Refusal | undefined> {
  const opened = await file.stat();
  if (!opened.isFile()) return notRegular(found.shown, opened.isDirectory());
  const real = (await pathOfOpened(file)) ?? (await pathIfSame(file, found.real));
  return real === undefined ? changed(found) : confined({ ...found, real });
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

function changed({ shown }: FoundFile): Refusal {
  return { refusal: `${shown} was changed while it was being opened. Try again.` };
}
