import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** Every file of a directory with a digest of its bytes: equal when nothing was made, removed or changed. */
export function fingerprint(directory: string): Record<string, string> {
  const entries = readdirSync(directory).sort();
  return Object.fromEntries(entries.map((name) => [name, digest(join(directory, name))]));
}

function digest(path: string): string {
  if (statSync(path).isDirectory()) return "directory";
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}
