import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { GatewayAddress } from "../../app/index.js";

/**
 * Where a gateway is found. `app` has the same two functions, but loading it takes longer than most commands do; a test
 * holds both to the same answers.
 */

/** `--data`, else `$XDG_DATA_HOME/heddle`, else `~/.local/share/heddle`. */
export function dataDirectory(given: string | undefined, env: NodeJS.ProcessEnv): string {
  if (given) return resolve(given);
  return join(env.XDG_DATA_HOME || join(homedir(), ".local", "share"), "heddle");
}

/** The gateway that says it runs on a data directory; it may have been killed since. */
export function readAddress(dir: string): GatewayAddress | undefined {
  try {
    const { url, token, pid } = JSON.parse(readFileSync(addressFile(dir), "utf8"));
    const complete = typeof url === "string" && typeof token === "string" && typeof pid === "number";
    return complete ? { url, token, pid } : undefined;
  } catch {
    return undefined;
  }
}

function addressFile(dir: string): string {
  return join(dir, "gateway.json");
}
