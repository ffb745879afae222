import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));
/** Bundled, built, or as it was written. */
const ENTRIES = ["heddle.js", "../cli/main.js", "../cli/main.ts"];

/** How this very program is started again, as the words of a command line. */
export function programWords(): readonly string[] {
  const file = ENTRIES.map((entry) => join(HERE, entry)).find((path) => existsSync(path));
  if (file === undefined)
    throw new Error(`There is no command beside ${HERE}: this installation is not complete.`);
  return file.endsWith(".ts") ? [process.execPath, "--import", loader(), file] : [process.execPath, file];
}

/** By its address: a command is started in a directory that knows nothing of it. */
function loader(): string {
  return pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
}
