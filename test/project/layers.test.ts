import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { biomeOverrides, layers, mayImport } from "../../scripts/layers.js";
import { filesUnder } from "../support/files.js";
import { temporaryDirectory } from "../support/stores.js";

test("[PRJ2] Biome's import rules are those of the layer table (npm run generate)", () => {
  expect(JSON.parse(readFileSync("biome.json", "utf8")).overrides).toEqual(biomeOverrides());
  const folders = readdirSync("src", { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(folders.map(({ name }) => name).sort()).toEqual(Object.keys(layers).sort());
});

/** Lints sources in a tree of their own under the project's configuration. Answers the rules broken by each. */
function lint(sources: readonly (readonly [module: string, source: string])[]): string[][] {
  const root = temporaryDirectory();
  const configuration = JSON.parse(readFileSync("biome.json", "utf8"));
  writeFileSync(join(root, "biome.json"), JSON.stringify({ ...configuration, vcs: { enabled: false } }));
  const paths = sources.map(([module, source], index) => {
    mkdirSync(join(root, "src", module), { recursive: true });
    writeFileSync(join(root, "src", module, `x${index}.ts`), source);
    return `src/${module}/x${index}.ts`;
  });
  const biome = resolve("node_modules/.bin/biome");
  const { stdout } = spawnSync(biome, ["lint", "--reporter=json", "--max-diagnostics=none"], {
    cwd: root,
    encoding: "utf8",
  });
  const { diagnostics } = JSON.parse(stdout) as {
    diagnostics: { category: string; location: { path: string } }[];
  };
  return paths.map((path) =>
    diagnostics
      .filter(({ location }) => location.path === path)
      .map(({ category }) => category.split("/").at(-1) ?? ""),
  );
}

test("[PRJ3] a forbidden import is refused, an allowed one is not", () => {
  const forbidden = [
    ["base", 'import { openStore } from "../store/index.js";\nopenStore("");\n'],
    ["tree", 'import { saveDoc } from "../instructions/index.js";\nsaveDoc();\n'],
    ["tree", 'import type { Unit } from "../store/unit.js";\nexport type X = Unit<1>;\n'],
    ["tree", 'export { openSqlite } from "../store/sqlite/open.js";\n'],
    ["client", 'await import("../gateway/index.js");\n'],
    ["protocol", 'import { sha256 } from "../base/index.js";\nsha256("");\n'],
    ["tree", 'import pg from "pg";\nnew pg.Client();\n'],
    ["cli", 'import { sql } from "kysely";\nsql``;\n'],
    ["gateway", 'import { env } from "node:process";\nenv.X;\n'],
  ] as const;
  const allowed = [
    ["tree", 'import { openStore } from "../store/index.js";\nawait openStore("");\n'],
    ["cli", "export const x = process.env.HOME;\n"],
  ] as const;
  for (const [index, rules] of lint(forbidden).entries()) {
    expect(rules, forbidden[index]?.[1]).toContain("noRestrictedImports");
  }
  for (const rules of lint(allowed)) {
    expect(rules).not.toContain("noRestrictedImports");
    expect(rules).not.toContain("noProcessEnv");
  }
  expect(lint([["gateway", "export const x = process.env.HOME;\n"]])[0]).toContain("noProcessEnv");
});

test("[PRJ4] what Biome can't see: inline type imports and env by another name", () => {
  const wrong: string[] = [];
  for (const path of filesUnder("src", ".ts")) {
    if (path.endsWith(".test.ts")) continue;
    const module = path.split("/")[1] as string;
    const source = readFileSync(path, "utf8");
    for (const [, target] of source.matchAll(/import\(\s*"\.\.\/(?:\.\.\/)*([a-z-]+)\//g)) {
      if (target && target in layers && target !== module && !mayImport(module, target))
        wrong.push(`${path}: ${target}`);
    }
    if (!layers[module]?.env && /\benv\b\s*[,}].*from "(node:)?process"/.test(source))
      wrong.push(`${path}: env`);
  }
  expect(wrong).toEqual([]);
});
