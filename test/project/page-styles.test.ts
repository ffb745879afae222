import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { filesUnder } from "../support/files.js";

/** Parts that share a look on purpose: the agent switcher is made like the palette, and loads its style sheet. */
const SHARED = new Set(["pal", "pal-note", "col"]);

/** `ui` and `shell` are everybody's; a part's own styles are its own. */
function partOf(path: string): string {
  return /web\/features\/([^/]+)/.exec(path)?.[1] ?? "all";
}

function note(places: Map<string, Set<string>>, name: string, part: string): void {
  places.set(name, (places.get(name) ?? new Set()).add(part));
}

/** Classes with which a selector begins: those that decide where it applies. */
function defined(files: readonly string[]): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const path of files) {
    const css = readFileSync(path, "utf8").replaceAll(/\/\*[\s\S]*?\*\//g, "");
    for (const [, selectors = ""] of css.matchAll(/([^{}@;]+)\{/g))
      for (const selector of selectors.split(",")) {
        const name = /^\s*\.([\w-]+)/.exec(selector)?.[1];
        if (name !== undefined) note(found, name, partOf(path));
      }
  }
  return found;
}

function used(files: readonly string[]): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const path of files)
    for (const [, plain, made] of readFileSync(path, "utf8").matchAll(
      /className=(?:"([^"]*)"|\{`([^`]*)`\})/g,
    ))
      for (const name of (plain ?? made ?? "").replaceAll(/\$\{[^}]*\}/g, " ").split(/\s+/))
        if (name !== "") note(found, name, partOf(path));
  return found;
}

test("[PGE9] a style of one part of the page applies to no other part", () => {
  const definitions = defined(filesUnder("web", ".css"));
  const uses = used(filesUnder("web", ".tsx"));
  const clashes: string[] = [];
  for (const [name, parts] of definitions) {
    if (parts.has("all") || SHARED.has(name)) continue;
    const elsewhere = [...(uses.get(name) ?? [])].filter((part) => !parts.has(part));
    if (parts.size > 1 || elsewhere.length > 0)
      clashes.push(`.${name} of ${[...parts].join(", ")} is used by ${elsewhere.join(", ") || "both"}`);
  }
  expect(definitions.size).toBeGreaterThan(100);
  expect(clashes).toEqual([]);
});
