import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { Check } from "./check.js";

const name = "data";

/** The directory is looked at, never made. */
export function checkDataDirectory(dir: string): Check {
  if (!existsSync(dir)) return notThere(dir);
  const stats = statSync(dir);
  const { mode, uid } = stats;
  if (!stats.isDirectory()) {
    return {
      name,
      verdict: "broken",
      detail: `${dir} is not a directory`,
      advice: "choose another with --data",
    };
  }
  if (!isWritable(dir)) {
    const advice = `make it yours: chown or chmod ${dir}, or choose another with --data`;
    return {
      name,
      verdict: "broken",
      detail: `${dir} can't be written (owner ${uid}, ${octal(mode)})`,
      advice,
    };
  }
  if ((mode & 0o077) !== 0) {
    const detail = `${dir} can be read by others (${octal(mode)})`;
    return { name, verdict: "warning", detail, advice: `chmod 700 ${dir}` };
  }
  return { name, verdict: "ok", detail: `${dir} (${octal(mode)})` };
}

function notThere(dir: string): Check {
  let above = dirname(dir);
  while (!existsSync(above)) above = dirname(above);
  if (isWritable(above) && statSync(above).isDirectory()) {
    return { name, verdict: "none", detail: `${dir} is not there yet; the first start makes it` };
  }
  const detail = `${dir} is not there, and ${above} can't be written`;
  return { name, verdict: "broken", detail, advice: "choose another with --data" };
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function octal(mode: number): string {
  return `mode ${(mode & 0o777).toString(8).padStart(4, "0")}`;
}
