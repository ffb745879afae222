import { readdir, readFile } from "node:fs/promises";
import { groupLives } from "../../base/index.js";

/**
 * Whether anything of a group still runs. Where nobody collects the dead (in a container, often), they keep their group in
 * existence: a command would be said to have left something behind, and be waited for. Where the system does not tell, they count.
 */
export async function groupRuns(pid: number): Promise<boolean> {
  // One that starts another and ends while they are looked at would be missed: nobody runs who was not seen twice.
  for (let look = 0; look < 2; look++) {
    if (!groupLives(pid)) return false;
    if (await someRuns(pid)) return true;
  }
  return false;
}

async function someRuns(pid: number): Promise<boolean> {
  const names = await readdir("/proc").catch(() => undefined);
  if (names === undefined) return true;
  // What a command started is among the newest, and one that runs settles it.
  const processes = names.filter((name) => /^\d+$/.test(name)).sort((a, b) => Number(b) - Number(a));
  for (const process of processes) {
    const state = await stateOf(process);
    if (state?.group === pid && !DEAD.has(state.is)) return true;
  }
  return false;
}

const DEAD = new Set(["Z", "X"]);

/** Undefined for one that ended meanwhile. Its name may hold anything, so what follows it is read from behind. */
async function stateOf(process: string): Promise<{ is: string; group: number } | undefined> {
  try {
    const stat = await readFile(`/proc/${process}/stat`, "utf8");
    const [is = "", , group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { is, group: Number(group) };
  } catch {
    return undefined;
  }
}
