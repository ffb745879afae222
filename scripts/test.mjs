// `npm test`: every check there is. Ends with `N passed, N failed`; suites whose service can't be had are reported as
// `N skipped: why` and do not fail the run, except with --no-skips (as in .ci/run). With --postgres, suites that hold on either
// store run on both.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";

const noSkips = process.argv.includes("--no-skips");
const wholePostgres = process.argv.includes("--postgres");
const NO_MOUNT = "this system lets no user mount a disk of its own";
const NO_LIMITS = "permissions do not stop root, and the tests run as root";
const report = ".cache/test-report.json";
const bin = (name) => `node_modules/.bin/${name}`;

const checks = [
  // Whoever runs it on every version has no need of a part of it on the others.
  ...(process.argv.includes("--this-node") ? [] : [otherVersions()]),
  ["types", bin("tsc"), ["-p", "tsconfig.test.json"]],
  ["types in a browser", bin("tsc"), ["-p", "tsconfig.browser.json"]],
  ["types of the page", bin("tsc"), ["-p", "web/tsconfig.json"]],
  ["types of the page's tests", bin("tsc"), ["-p", "test/page/tsconfig.json"]],
  ["unused code and dependencies", bin("knip"), []],
  ["package", bin("publint"), ["--strict"]],
  ["format and lint", bin("biome"), ["check", "--error-on-warnings", "."]],
];
// By itself, while nothing else runs: only what no disk has a part in.
const speed = [
  "speed as recorded (npm run bench -- --check)",
  bin("tsx"),
  ["bench/run.ts", "--quick", "--check", ...measured()],
];

let passed = 0;
let failed = 0;
await check(...speed);
// The tests wait more than they compute: what only computes goes on beside them.
const [status] = await Promise.all([runTests(), takeChecks()]);
const skips = countTests();
for (const [why, count] of skips) console.log(`${count} skipped: ${why}`);
const skipped = sumOf([...skips.values()]);
// What a script could have installed must not be missing; what the kernel does not allow, nobody can install.
const avoidable = skipped - (skips.get(NO_MOUNT) ?? 0) - (skips.get(NO_LIMITS) ?? 0);
if (!wholePostgres)
  console.log("On PostgreSQL: what depends on the store; `npm test -- --postgres` runs all of it there.");
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed > 0 || (noSkips && avoidable > 0) ? 1 : 0);

async function takeChecks() {
  for (const each of checks) await check(...each);
}

async function runTests() {
  rmSync(report, { force: true });
  const reports = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  // No test leaves this machine, and reading certificates takes 40 ms of each of the thousands of processes.
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
  if (wholePostgres) env.HEDDLE_TEST_POSTGRES = "whole";
  const vitest = spawn(bin("vitest"), ["run", ...reports], { env, stdio: ["ignore", "inherit", "inherit"] });
  const [code] = await once(vitest, "close");
  return code;
}

function check(name, command, args) {
  return new Promise((done) => {
    const told = (error, stdout, stderr) => {
      console.log(`${error ? "FAIL" : "ok  "} ${name}`);
      if (error) console.log(stdout, stderr || error.message);
      if (error) failed++;
      else passed++;
      done();
    };
    execFile(command, args, { maxBuffer: 1 << 26 }, told);
  });
}

function otherVersions() {
  const versions = JSON.parse(readFileSync("scripts/node-versions.json", "utf8"));
  const others = Object.keys(versions).filter((line) => !process.version.startsWith(`v${line}.`));
  return [
    "other versions of Node (npm run test:node)",
    "node",
    ["scripts/test-node.mjs", "--quick", ...others],
  ];
}

function measured() {
  return ["resolve", "tree", "ping", "start"].flatMap((name) => ["--only", name]);
}

function sumOf(counts) {
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Adds up vitest's results. Answers how many tests were skipped for which reason. */
function countTests() {
  const skips = new Map();
  for (const { status, fullName } of readResults()) {
    if (status === "passed") passed++;
    else if (status === "failed") failed++;
    else {
      const why = reason(fullName);
      skips.set(why, (skips.get(why) ?? 0) + 1);
    }
  }
  // A crash of the runner, or an error outside of any test, must not look like success.
  if (status !== 0 && failed === 0) failed++;
  return skips;
}

function readResults() {
  try {
    const { testResults } = JSON.parse(readFileSync(report, "utf8"));
    return testResults.flatMap((file) =>
      file.assertionResults.length > 0
        ? file.assertionResults
        : [{ status: file.status, fullName: file.name }],
    );
  } catch {
    return [{ status: "failed", fullName: "vitest left no report" }];
  }
}

function reason(fullName) {
  const { postgres, chromium } = JSON.parse(readFileSync(".cache/services.json", "utf8"));
  if (fullName.includes("[postgres]") && postgres.missing) return postgres.missing;
  if (fullName.includes("[browser]") && chromium.missing) return chromium.missing;
  if (fullName.includes("[mount]")) return NO_MOUNT;
  if (fullName.includes("[permissions]") && process.getuid?.() === 0) return NO_LIMITS;
  failed++;
  return `${fullName}: skipped without a reason`;
}
