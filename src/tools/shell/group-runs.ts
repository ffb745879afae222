import { readdirSync, readFileSync } from "node:fs";
import { groupLives } from "../../base/index.js";

/**
 * Whether anything of a group still runs. Where nobody collects the dead (in a container, often), they keep their group in
 * existence: a command would be said to have left something behind, and be waited for. Where the system does not tell, they count.
 */
export function groupRuns(pid: number): boolean {
  if (!groupLives(pid)) return false;
  try {
    const states = readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(stateOf);
    return states.some((state) => state?.group === pid && !DEAD.has(state.is));
  } catch {
    return true;
  }
}

const DEAD = new Set(["Z", "X"]);

/** Undefined for one that ended meanwhile. Its name may hold anything, so what follows it is read from behind. */
function stateOf(process: string): { is: string; group: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${process}/stat`, "utf8");
    const [is = "", , group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { is, group: Number(group) };
  } catch {
    return undefined;
  }
}
