import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { rolldown } from "rolldown";
import { build, type Plugin } from "vite";
import type { Hole, Plant } from "./plant.js";

/** The files that a hole got into. One that was never loaded proves nothing. */
export type Planted = Set<string>;

/** A source with the hole in the guard's place. A guard that is not there any more, or twice, guards nothing that is known. */
export function withHole(source: string, { file, guard, hole }: Hole): string {
  const found = source.split(guard).length - 1;
  if (found === 1) return source.replace(guard, () => hole);
  const why = found === 0 ? "is not there any more" : `is there ${found} times`;
  throw new Error(
    `A hole can't be planted in ${file}: its guard ${why}. Look what guards there now, and correct the plant.\nThe guard: ${guard}`,
  );
}

/** Says what can't be planted in the sources as they are. */
export function unplantable(plants: readonly Plant[]): string[] {
  return plants.flatMap(({ name, holes }) => {
    try {
      for (const hole of holes) withHole(readFileSync(hole.file, "utf8"), hole);
      return [];
    } catch (error) {
      return [`${name}: ${(error as Error).message}`];
    }
  });
}

/** Replaces the guards while the sources are loaded; the files stay as they are. */
export function planting({ holes }: Plant, planted: Planted): Plugin {
  return {
    name: "planted-hole",
    enforce: "pre",
    transform(code, id) {
      const path = id.split("?")[0] as string;
      const here = holes.filter(({ file }) => resolve(file) === path);
      if (here.length === 0) return undefined;
      for (const { file } of here) planted.add(file);
      return { code: here.reduce(withHole, code), map: null };
    },
  };
}

/** Builds the command with the hole in it, and answers where it is. */
export async function plantedCommand(plant: Plant, planted: Planted, dir: string): Promise<string> {
  const { transform } = planting(plant, planted);
  const bundle = await rolldown({
    input: { heddle: resolve("src/cli/main.ts") },
    platform: "node",
    external: ["libsql", "pg-native"],
    resolve: {
      alias: { "jsonc-parser": "jsonc-parser/lib/esm/main.js" },
      extensionAlias: { ".js": [".ts", ".js"] },
    },
    logLevel: "silent",
    plugins: [{ name: "planted-hole", transform: transform as never }],
  });
  const out = join(dir, "dist", "bin");
  mkdirSync(out, { recursive: true });
  // Where the command looks for its version.
  copyFileSync("package.json", join(dir, "package.json"));
  await bundle.write({ dir: out, format: "esm", entryFileNames: "[name].js" });
  await bundle.close();
  return join(out, "heddle.js");
}

/** Builds the page with the hole in it, and answers the directory. */
export async function plantedPage(plant: Plant, planted: Planted, dir: string): Promise<string> {
  await build({
    configFile: "web/vite.config.ts",
    logLevel: "silent",
    plugins: [planting(plant, planted)],
    build: { outDir: resolve(dir), emptyOutDir: true },
  });
  return resolve(dir);
}
