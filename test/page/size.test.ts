import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";

const DIR = process.env.HEDDLE_TEST_PAGE ?? "dist/web";
const LIMIT = 150 * 1024;

const zipped = (path: string) => gzipSync(readFileSync(join(DIR, path)), { level: 9 }).length;

/** What the document names, and what those files import before they run. */
function firstLoad(): Map<string, number> {
  const html = readFileSync(join(DIR, "index.html"), "utf8");
  const wanted = [...html.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map(([, path]) => path as string);
  const sizes = new Map([["index.html", zipped("index.html")]]);
  for (const path of wanted) {
    if (sizes.has(path)) continue;
    sizes.set(path, zipped(path));
    if (!path.endsWith(".js")) continue;
    const code = readFileSync(join(DIR, path), "utf8");
    for (const [, name] of code.matchAll(/(?:^|[;}])import(?:[^"'();]*from)?\s*["']\.\/([^"']+)["']/g)) {
      wanted.push(`assets/${name}`);
    }
  }
  return sizes;
}

test("[PGE8] what is loaded before the page can be used is at most 150 KB, compressed", () => {
  const sizes = firstLoad();
  const total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  expect(sizes.size).toBeGreaterThan(2);
  expect(total, JSON.stringify([...sizes])).toBeLessThanOrEqual(LIMIT);
});

test("[PGE8] nothing of the page names another host to load from", () => {
  for (const name of readdirSync(join(DIR, "assets"))) {
    const text = readFileSync(join(DIR, "assets", name), "utf8");
    expect(text, name).not.toMatch(/(?:import\s*\(?|src=|url\()\s*["']?https?:\/\//);
  }
});
