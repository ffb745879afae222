import { readdirSync } from "node:fs";
import { join } from "node:path";

/** Every file below some directories whose name ends so. */
export function filesUnder(directories: string | readonly string[], ending: string): string[] {
  return [directories].flat().flatMap((directory) =>
    readdirSync(directory, { recursive: true })
      .map((name) => join(directory, String(name)))
      .filter((path) => path.endsWith(ending)),
  );
}
