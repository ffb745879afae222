import { randomUUID } from "node:crypto";
import { lstat, readdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { writing } from "./disk.js";

/** Drafts of directories and temporary files, most with the process that made them in their names. */
const DRAFT = /^\.(?:new|removed)-(\d+)-/;
const NAMELESS_DRAFT = /^\.(?:new|copy|rescued)-/;
const TEMPORARY = /^\..+\.(\d+)-\d+\.tmp$/;

/** Where process numbers mean nothing (another machine, another container), a live draft is younger than this. */
const YOUNG_MS = 5_000;
/** A number may be another process by now: past this nobody is still writing. */
const OLD_MS = 60 * 60 * 1_000;

/**
 * What this process is at work on. Known by name: a copy has the times of what it is a copy of, and a clock that was set makes
 * any file old.
 */
const live = new Set<string>();

/** The name of what is about to be removed: whoever finds it may do it. */
export const removedName = (name: string) => `.removed-${process.pid}-${name}`;

/** Names a draft that nobody takes for left over until it is let go of. */
export function draftIn(dir: string): string {
  return keepLive(join(dir, `.new-${process.pid}-${randomUUID()}`));
}

export function keepLive(path: string): string {
  live.add(basename(path));
  return path;
}

export function letGo(path: string): void {
  live.delete(basename(path));
}

/** Names in a directory that a process left behind when it died. */
export async function leftOver(dir: string, now: number): Promise<string[]> {
  const names = await readdir(dir).catch(() => []);
  const found: string[] = [];
  for (const name of names) {
    const [, pid] = DRAFT.exec(name) ?? TEMPORARY.exec(name) ?? [];
    if (live.has(name) || (pid === undefined && !NAMELESS_DRAFT.test(name))) continue;
    const maker = pid === undefined ? process.pid : Number(pid);
    if (await isAbandoned(join(dir, name), maker, now)) found.push(name);
  }
  return found;
}

/** Removes what dead processes left behind in a directory, and answers how much. */
export async function sweep(dir: string, now: number): Promise<number> {
  const names = await leftOver(dir, now);
  for (const name of names) {
    await writing(join(dir, name), () => rm(join(dir, name), { recursive: true, force: true }));
  }
  return names.length;
}

async function isAbandoned(path: string, pid: number, now: number): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  if (!found) return false;
  const age = now - found.mtimeMs;
  return age > OLD_MS || (age > YOUNG_MS && !isRunning(pid));
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
