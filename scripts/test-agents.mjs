// `npm run test:agents [-- NAME …]`: installs the real programs into .cache/agents, each in a folder of its own, and drives
// them against the scripted model server. Ends with `N passed, N failed`, like `npm test`.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

const programs = JSON.parse(readFileSync(new URL("agent-programs.json", import.meta.url), "utf8"));
const wanted = process.argv.slice(2).filter((word) => !word.startsWith("-"));
for (const name of wanted) {
  if (Object.hasOwn(programs, name)) continue;
  console.error(`There is no program "${name}". Known are: ${Object.keys(programs).join(", ")}.`);
  process.exit(2);
}
const chosen = wanted.length > 0 ? wanted : Object.keys(programs);

for (const name of chosen) install(name, programs[name]);

const report = ".cache/test-agents-report.json";
const files = wanted.map((name) => `test/real-programs/${name}`);
// What an earlier run left must not speak for this one.
rmSync(report, { force: true });
const { status } = spawnSync(
  "node_modules/.bin/vitest",
  ["run", "--config", "vitest.agents.config.ts", "--reporter=default", "--reporter=json"].concat(
    `--outputFile.json=${report}`,
    files,
  ),
  { stdio: ["ignore", "inherit", "inherit"] },
);
const { numPassedTests = 0, numFailedTests = 0 } = existsSync(report)
  ? JSON.parse(readFileSync(report, "utf8"))
  : {};
// An error outside of any test counts as well.
const failed = status === 0 ? numFailedTests : Math.max(1, numFailedTests);
console.log(`${numPassedTests} passed, ${failed} failed`);
process.exit(failed === 0 && numPassedTests > 0 ? 0 : 1);

function install(name, { package: from, version }) {
  const folder = join(".cache/agents", name);
  const manifest = join(folder, "node_modules", from, "package.json");
  if (existsSync(manifest) && JSON.parse(readFileSync(manifest, "utf8")).version === version) return;
  console.log(`Installing ${name} ${version} into ${folder} …`);
  mkdirSync(folder, { recursive: true });
  const args = [
    "install",
    "--prefix",
    folder,
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
    `${from}@${version}`,
  ];
  const { status } = spawnSync("npm", args, { stdio: ["ignore", "inherit", "inherit"] });
  if (status !== 0) process.exit(1);
}
