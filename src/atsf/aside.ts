import { lstat, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { reading, writing } from "./disk.js";
import { isMissing, isThere, syncDirectory } from "./files.js";
import { LOG } from "./layout.js";
import { timeFromName, timeInName } from "./time.js";

/** Puts a thread's log beside itself, under a name with the time. Undefined: there was none. The caller holds the lock. */
export function setLogAside(dir: string, now: number): Promise<string | undefined> {
  return writing(join(dir, LOG), async () => {
    const aside = await freeName(dir, `${LOG}.cleared-${timeInName(now)}`);
    try {
      await rename(join(dir, LOG), join(dir, aside));
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
    await syncDirectory(dir);
    return aside;
  });
}

/** Makes a log that was put aside the thread's again. The caller has held the lock since. */
export async function bringLogBack(dir: string, aside: string): Promise<void> {
  await rename(join(dir, aside), join(dir, LOG));
  await syncDirectory(dir);
}

/** The name of the log that was put aside last; undefined where there is none. */
export async function lastAside(dir: string): Promise<string | undefined> {
  const found = (await namesIn(dir)).map(asideOf).filter((aside) => aside !== undefined);
  return found.toSorted((a, b) => a.at - b.at || a.number - b.number).at(-1)?.name;
}

/** When a log was put aside, told by its name, and which of that moment it was; undefined for another file. */
function asideOf(name: string): { name: string; at: number; number: number } | undefined {
  const [, time = "", number = "1"] = /^messages\.jsonl\.cleared-(.+?Z)(?:-(\d+))?$/.exec(name) ?? [];
  const at = timeFromName(time);
  return at === undefined ? undefined : { name, at, number: Number(number) };
}

/** Removes logs that were put aside before a time, told by their names, and answers which. Nothing else is touched. */
export async function purgeAside(dir: string, beforeMs: number): Promise<string[]> {
  const removed: string[] = [];
  for (const name of await namesIn(dir)) {
    const at = asideOf(name)?.at;
    if (at === undefined || at >= beforeMs) continue;
    const path = join(dir, name);
    if (!(await lstat(path)).isFile()) continue;
    await writing(path, () => rm(path, { force: true }));
    removed.push(name);
  }
  return removed;
}

/** Two logs may be put aside within one millisecond; neither replaces the other. */
async function freeName(dir: string, base: string): Promise<string> {
  for (let number = 1; ; number++) {
    const name = number === 1 ? base : `${base}-${number}`;
    if (!(await isThere(join(dir, name)))) return name;
  }
}

function namesIn(dir: string): Promise<string[]> {
  return reading(dir, () =>
    readdir(dir).catch((error) => {
      if (isMissing(error)) return [];
      throw error;
    }),
  );
}
