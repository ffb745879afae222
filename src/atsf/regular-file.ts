import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { behindLink } from "./confined.js";
import { assertFile, diskError, isMissing } from "./disk.js";
import { atsfError } from "./errors.js";

/** The largest of the format's JSON files: what is larger is no envelope and no configuration. */
export const LARGEST_JSON = 8 * 1024 * 1024;

export interface RegularFile {
  readonly file: number;
  readonly size: number;
}

/**
 * Opens a file to read it; undefined when there is none. A pipe is not waited for, and what is no file is refused. A link
 * is followed within a directory only; without one the caller has seen where it leads.
 */
export async function openRegular(path: string, within?: string): Promise<FileHandle | undefined> {
  try {
    const file = await open(path, flagsFor(within)).catch((error) => {
      if (within === undefined || !isLink(error)) throw error;
      return open(behindLink(within, path), flagsFor(within));
    });
    return await checked(path, file);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw diskError(error, path, "read");
  }
}

/** The same at once: for what is small, a way through the pool takes longer than reading it. The caller closes it. */
export function openRegularNow(path: string, within?: string): RegularFile | undefined {
  try {
    const file = openNow(path, within);
    try {
      const found = fstatSync(file);
      assertFile(path, found);
      return { file, size: found.size };
    } catch (error) {
      closeSync(file);
      throw error;
    }
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw diskError(error, path, "read");
  }
}

/** A small file whole; undefined when there is none. What is larger than it can be is refused before it is read. */
export function readRegular(
  path: string,
  { largest, within }: { largest: number; within?: string },
): Buffer | undefined {
  const opened = openRegularNow(path, within);
  if (!opened) return undefined;
  try {
    if (opened.size > largest) throw tooLarge(path, largest);
    return readBetween(opened.file, 0, opened.size);
  } catch (error) {
    throw diskError(error, path, "read");
  } finally {
    closeSync(opened.file);
  }
}

/** Fewer bytes than asked for where the file ends before. */
export function readBetween(file: number, from: number, to: number): Buffer {
  const buffer = Buffer.allocUnsafe(Math.max(0, to - from));
  let filled = 0;
  while (filled < buffer.length) {
    const got = readSync(file, buffer, filled, buffer.length - filled, from + filled);
    if (got === 0) break;
    filled += got;
  }
  return buffer.subarray(0, filled);
}

/** Without `O_NONBLOCK` a pipe nobody writes to holds up whoever opens it. Some systems have neither flag. */
const READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);
const NO_LINK = constants.O_NOFOLLOW ?? 0;

function flagsFor(within: string | undefined): number {
  return within === undefined ? READ : READ | NO_LINK;
}

function openNow(path: string, within: string | undefined): number {
  try {
    return openSync(path, flagsFor(within));
  } catch (error) {
    if (within === undefined || !isLink(error)) throw error;
    return openSync(behindLink(within, path), flagsFor(within));
  }
}

function isLink(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ELOOP" || code === "EMLINK";
}

async function checked(path: string, file: FileHandle): Promise<FileHandle> {
  try {
    assertFile(path, await file.stat());
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

function tooLarge(file: string, largest: number) {
  const size = `${largest / (1024 * 1024)} MB`;
  return atsfError(
    { kind: "atsf.invalid_file", file, problem: "too_large" },
    `${file} can't be used: it is larger than ${size}. Move it away or make it smaller, then try again.`,
  );
}
