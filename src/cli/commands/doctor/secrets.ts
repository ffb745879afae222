import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Check } from "./check.js";

/** Files that let whoever reads them into the gateway. */
const FILES = { token: "token", address: "gateway.json" };

export function checkSecrets(dir: string): Check[] {
  // What is wrong with the directory is told of the directory.
  if (existsSync(dir) && !statSync(dir).isDirectory()) return [];
  return Object.entries(FILES).flatMap(([name, file]): Check[] => {
    const path = join(dir, file);
    const stats = existsSync(path) ? statSync(path) : undefined;
    if (!stats)
      return name === "token"
        ? [{ name, verdict: "none", detail: "none yet; the first start makes one" }]
        : [];
    const mode = (stats.mode & 0o777).toString(8).padStart(4, "0");
    if ((stats.mode & 0o077) === 0) return [{ name, verdict: "ok", detail: `${path} (mode ${mode})` }];
    const detail = `${path} can be read by others (mode ${mode})`;
    return [{ name, verdict: "broken", detail, advice: `chmod 600 ${path}` }];
  });
}
