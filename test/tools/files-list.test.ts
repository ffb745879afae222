import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { filesPlugin } from "../../src/tools/index.js";
import { temporaryDirectory } from "../support/stores.js";
import { contextWith, directoryWith, registryOf } from "./support.js";

const registry = registryOf(...filesPlugin.tools);

async function list(directory: string, args: object = {}) {
  const outcome = await registry.call("files_list", { ...args }, contextWith({ directory }));
  return { ...outcome, lines: outcome.output.split("\n") };
}

async function search(directory: string, pattern: string, args: object = {}) {
  const outcome = await registry.call("files_search", { pattern, ...args }, contextWith({ directory }));
  return { ...outcome, lines: outcome.output.split("\n") };
}

const PROJECT = {
  "README.md": "Hello\n",
  "src/index.ts": "export const one = 1;\r\nexport const two = one + 1;\r\n",
  "src/deep/er/b.js": "const one = 1\n",
  "src/deep/c.ts": "// nothing",
  ".env": "one",
};

test("[FIL30] it lists a directory, or several levels, sorted, directories marked", async () => {
  const directory = directoryWith(PROJECT);
  expect((await list(directory)).lines).toEqual([".env", "README.md", "src/"]);
  expect((await list(directory, { path: "src" })).lines).toEqual(["src/deep/", "src/index.ts"]);
  expect((await list(directory, { path: "src", depth: 2 })).lines).toEqual([
    "src/deep/",
    "src/deep/c.ts",
    "src/deep/er/",
    "src/index.ts",
  ]);
  symlinkSync("src/deep", join(directory, "link"));
  expect((await list(directory, { path: "link" })).lines).toEqual(["link/c.ts", "link/er/"]);
  expect((await list(directory, { depth: 9 })).lines).toContain("link (a link)");
  mkdirSync(join(directory, "empty"));
  expect(await list(directory, { path: "empty" })).toMatchObject({
    status: "completed",
    output: '(nothing of that kind in "empty")',
  });
  expect(await list(directory, { path: "none" })).toMatchObject({
    status: "failed",
    output: 'There is no directory "none".',
  });
});

test("[FIL31] with a glob it lists only the files that it names, from the workspace or from the path", async () => {
  const directory = directoryWith(PROJECT);
  expect((await list(directory, { glob: "*.ts" })).lines).toEqual(["src/deep/c.ts", "src/index.ts"]);
  expect((await list(directory, { glob: "src/**/*.{js,ts}" })).lines).toHaveLength(3);
  expect((await list(directory, { path: "src", glob: "src/*.ts" })).lines).toEqual(["src/index.ts"]);
  expect((await list(directory, { path: "src", glob: "deep/*" })).lines).toEqual(["src/deep/c.ts"]);
  expect((await list(directory, { glob: "*.ts", depth: 1 })).output).toBe('(nothing of that kind in ".")');
  expect(await list(directory, { glob: "{a,b}".repeat(90) })).toMatchObject({ status: "failed" });
});

test("[FIL32] of very much the nearest is shown, and it says that there is more", async () => {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, "a/b"), { recursive: true });
  for (let index = 0; index < 990; index++) writeFileSync(join(directory, `a/b/${index}`), "");
  for (let index = 0; index < 50; index++) writeFileSync(join(directory, `z${index}`), "");
  const { lines, truncated } = await list(directory, { depth: 5 });
  expect(truncated).toBe(true);
  expect(lines).toHaveLength(1_001);
  expect(lines.filter((line) => line.startsWith("z"))).toHaveLength(50);
  expect(lines.at(-1)).toBe(
    "[1000 entries are shown. There is more: name a directory further down, fewer levels or a glob.]",
  );
  const long = directoryWith(
    Object.fromEntries(Array.from({ length: 600 }, (_, index) => [`${index}${"x".repeat(200)}`, ""])),
  );
  const cut = await list(long);
  expect(cut.truncated).toBe(true);
  expect(Buffer.byteLength(cut.output)).toBeLessThanOrEqual(65_536);
  expect(cut.lines.at(-1)).toContain("There is more");
});

test("[FIL32] what is in node_modules is left out unless the path names it", async () => {
  const directory = directoryWith({ "node_modules/x/a.js": "one", "b.js": "one", "py/.venv/c.py": "one" });
  expect((await list(directory, { depth: 9 })).lines).toEqual(["b.js", "node_modules/", "py/", "py/.venv/"]);
  expect((await list(directory, { path: "node_modules", depth: 2 })).lines).toEqual([
    "node_modules/x/",
    "node_modules/x/a.js",
  ]);
  expect((await search(directory, "one")).lines).toEqual(["b.js:1: one"]);
  expect((await search(directory, "one", { path: "node_modules/x" })).lines).toEqual([
    "node_modules/x/a.js:1: one",
  ]);
});

test("[FIL33] a name with a line end can't look like several", async () => {
  const directory = directoryWith({ "a\nb.txt": "one", "c\u001b[2J": "one", "日本.txt": "one" });
  expect((await list(directory)).lines).toEqual(['"a\\nb.txt"', '"c\\u001b[2J"', "日本.txt"]);
  expect((await search(directory, "one")).lines).toEqual([
    '"a\\nb.txt":1: one',
    '"c\\u001b[2J":1: one',
    "日本.txt:1: one",
  ]);
});

test("[FIL40] it finds a text or a regular expression in a file or below a directory", async () => {
  const directory = directoryWith(PROJECT);
  expect((await search(directory, "one = 1")).lines).toEqual([
    "src/index.ts:1: export const one = 1;",
    "src/deep/er/b.js:1: const one = 1",
  ]);
  expect((await search(directory, "^export .*one \\+", { regex: true })).lines).toEqual([
    "src/index.ts:2: export const two = one + 1;",
  ]);
  expect((await search(directory, "1;$", { regex: true, path: "src/index.ts" })).lines).toHaveLength(2);
  expect((await search(directory, "hello")).output).toBe('(no match in ".")');
  expect((await search(directory, "HELLO", { ignore_case: true })).lines).toEqual(["README.md:1: Hello"]);
  expect((await search(directory, "one", { include: "*.js" })).lines).toEqual([
    "src/deep/er/b.js:1: const one = 1",
  ]);
  expect((await search(directory, "one", { include: "*.rs" })).output).toBe('(no match in ".")');
  expect((await search(directory, "\\p{L}ello", { regex: true })).lines).toEqual(["README.md:1: Hello"]);
  expect((await search(directory, "Hell\\o\\-?", { regex: true })).lines).toEqual(["README.md:1: Hello"]);
});

test("[FIL41] binary files are passed over, large ones counted, and of a long line the part around the match is shown", async () => {
  const directory = directoryWith({
    binary: "needle\0",
    latin: Buffer.from([0xe9, ...Buffer.from(" needle")]),
    large: `needle${"x".repeat(2 * 1024 * 1024)}`,
    long: `${"a".repeat(50_000)}needle${"b".repeat(50_000)}`,
    empty: "",
  });
  const { lines } = await search(directory, "needle");
  expect(lines).toEqual([
    "latin:1: \ufffd needle",
    `long:1: …${"a".repeat(100)}needle${"b".repeat(194)}…`,
    "[Files over 2 MiB that were passed over: 1.]",
  ]);
});

test("[FIL42] at most 200 lines and 64 KiB are shown, and it says that there is more", async () => {
  const directory = directoryWith({ "a.txt": "needle\n".repeat(150), "b.txt": "needle\n".repeat(51) });
  const many = await search(directory, "needle");
  expect(many.truncated).toBe(true);
  expect(many.lines).toHaveLength(201);
  expect(many.lines.at(-1)).toContain("[200 matches are shown, and not everything was looked at");
  expect((await search(directory, "needle", { path: "a.txt" })).truncated).toBeUndefined();
  const exact = directoryWith({ "a.txt": "needle\n".repeat(200) });
  expect((await search(exact, "needle")).truncated).toBeUndefined();
  const wide = directoryWith({
    "a.txt": `${"\u65e5".repeat(99)}needle${"\u65e5".repeat(300)}\n`.repeat(190),
  });
  const cut = await search(wide, "needle");
  expect(cut.truncated).toBe(true);
  expect(Buffer.byteLength(cut.output)).toBeLessThanOrEqual(65_536);
});

test("[FIL44] what is no regular expression says so, and without regex every text can be looked for", async () => {
  const directory = directoryWith({ "a.txt": "f(x)[0] *+? a|b ^$ {2} \\d -/ end" });
  for (const pattern of ["(", "[z-a]", "(?<n>a)(?<n>b)", "\\"]) {
    const { status, output } = await search(directory, pattern, { regex: true });
    expect({ status, output }).toEqual({
      status: "failed",
      output:
        "files_search was not called: the pattern is no regular expression of JavaScript. Correct it, or leave regex out.",
    });
  }
  for (const text of ["f(x)[0]", "*+?", "a|b ^$", "{2}", "\\d", "-/", "(", "\\"]) {
    for (const ignore_case of [false, true]) {
      const { lines } = await search(directory, text, { ignore_case });
      expect(lines[0], text).toMatch(/^a\.txt:1: /);
    }
  }
  expect((await search(directory, "\ud83e\n[")).status).toBe("completed");
});
