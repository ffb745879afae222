import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** The gateway's own files, links resolved. A tool that could read them would have the token, one that could write them any tool. */
export function ownFiles({
  dataDir,
  configFile,
}: {
  dataDir: string;
  configFile: string;
}): readonly string[] {
  const byName = join(resolved(dirname(configFile)), basename(configFile));
  return [...new Set([resolved(dataDir), resolved(configFile), byName])];
}

/** What is not there yet is where its name says. */
function resolved(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
