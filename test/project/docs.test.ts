import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { errorCodes } from "../../src/gateway/index.js";
import { filesUnder } from "../support/files.js";

test("[PRJ5] docs/errors.md lists exactly the kinds the gateway can answer", () => {
  const rows = readFileSync("docs/errors.md", "utf8").matchAll(/^\| `([a-z_.]+)` \| (-\d+)/gm);
  const documented = Object.fromEntries([...rows].map(([, kind, code]) => [kind, Number(code)]));
  expect(documented).toEqual(errorCodes);
});

test("[PRJ6] every rule has a test, and every test names a rule that exists", () => {
  const rules = filesUnder("docs/spec", ".md").flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/^- \*\*([A-Z]{2,6}\d+)\*\*/gm)].map(([, id]) => id as string),
  );
  expect(rules.filter((id, index) => rules.indexOf(id) !== index)).toEqual([]);
  const named = new Set(
    filesUnder(["src", "test"], ".test.ts").flatMap((file) =>
      [...readFileSync(file, "utf8").matchAll(/\[([A-Z]{2,6}\d+)\]/g)].map(([, id]) => id as string),
    ),
  );
  expect(rules.filter((id) => !named.has(id))).toEqual([]);
  expect([...named].filter((id) => !rules.includes(id))).toEqual([]);
});

test("[PRJ7] every module has a short README, and base stays small", () => {
  for (const { name } of readdirSync("src", { withFileTypes: true }).filter((entry) => entry.isDirectory())) {
    const readme = join("src", name, "README.md");
    expect(existsSync(readme), readme).toBe(true);
    expect(readFileSync(readme, "utf8").split("\n").length, readme).toBeLessThanOrEqual(41);
  }
  expect(
    filesUnder("src/base", ".ts").filter((path) => !path.endsWith(".test.ts")).length,
  ).toBeLessThanOrEqual(12);
});

test("[PRJ11] the suite runs on one version of each line of Node that is promised", () => {
  const { engines } = JSON.parse(readFileSync("package.json", "utf8"));
  const promised = [...(engines.node as string).matchAll(/(\d+)\.(\d+)\.\d+/g)].map(([, line, least]) => ({
    line,
    least: Number(least),
  }));
  const tested = Object.entries<string>(JSON.parse(readFileSync("scripts/node-versions.json", "utf8")));
  expect(tested.map(([line]) => line)).toEqual(promised.map(({ line }) => line));
  for (const [line, version] of tested) {
    const [major, minor] = version.split(".");
    expect(major).toBe(line);
    expect(Number(minor)).toBeGreaterThanOrEqual(promised.find((one) => one.line === line)?.least ?? 0);
  }
});

test("[PRJ8] dependencies are pinned and production needs no install script", () => {
  const manifest = JSON.parse(readFileSync("package.json", "utf8"));
  for (const [name, version] of Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })) {
    expect(version, name).toMatch(/^\d+\.\d+\.\d+$/);
  }
  const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8"));
  const scripted = Object.entries(packages as Record<string, { dev?: boolean; hasInstallScript?: boolean }>)
    .filter(([, entry]) => entry.hasInstallScript && !entry.dev)
    .map(([name]) => name);
  expect(scripted).toEqual([]);
});

test("[PRJ9] every relative link in the documentation leads to a file", () => {
  const broken: string[] = [];
  for (const file of ["README.md", "AGENTS.md", "CHANGELOG.md", ...filesUnder(["docs", "src"], ".md")]) {
    for (const [, target] of readFileSync(file, "utf8").matchAll(/\]\((?!https?:|#)([^)#\s]+)[^)]*\)/g)) {
      if (target && !existsSync(join(dirname(file), target))) broken.push(`${file}: ${target}`);
    }
  }
  expect(broken).toEqual([]);
});
