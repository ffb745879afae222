// `npm run test:node [-- 20 22 24] [--quick]`: the whole suite on each version of Node that Heddle promises to run on, and
// with it on both SQLite drivers. Takes the binaries from the registry, and tests a clone of what is committed, so that
// nothing built or installed by one version is used by another. Ends with `N passed, N failed`, like `npm test`.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";

const versions = JSON.parse(readFileSync(new URL("node-versions.json", import.meta.url), "utf8"));
const { quick, chosen } = readWords(process.argv.slice(2));
const folder = resolve(".cache/node");

/** What differs between versions most: the driver, its locks, files, processes, and a turn from end to end. */
const QUICK = [
  "src/base",
  "src/store/sqlite/open.test.ts",
  "src/store/sqlite/group-commit.test.ts",
  "test/contract",
  "test/atsf/thread.test.ts",
  "test/e2e/serve.test.ts",
  "test/e2e/runs-flow.test.ts",
];

if (!quick && said("git", ["status", "--porcelain"]) !== "")
  console.log("What is not committed is not tested: the suite runs in a clone.");
const results = [];
for (const name of chosen) results.push(quick ? quickly(name) : await whole(name));

console.log("\nNode        SQLite driver  result");
for (const { version, driver, last } of results)
  console.log(`${version.padEnd(12)}${driver.padEnd(15)}${last}`);
const sum = (part) => results.reduce((total, result) => total + result[part], 0);
console.log(`${sum("passed")} passed, ${sum("failed")} failed`);
process.exit(sum("failed") > 0 || results.some(({ status }) => status !== 0) ? 1 : 0);

function readWords(words) {
  const names = words.filter((word) => word !== "--quick");
  for (const name of names) {
    if (Object.hasOwn(versions, name)) continue;
    console.error(
      `"${name}" is no version that is tested. Known are: ${Object.keys(versions).join(", ")}; --quick runs a part.`,
    );
    process.exit(2);
  }
  return { quick: words.includes("--quick"), chosen: names.length > 0 ? names : Object.keys(versions) };
}

async function whole(name) {
  const node = install(name);
  // Not below this directory: tools that look for the project above them would find this one.
  const clone = mkdtempSync(join(tmpdir(), `heddle-node-${name}-`));
  run("git", ["clone", "--quiet", ".", clone]);
  console.log(`\n== Node ${node.version}: npm test`);
  const tests = spawn("npm", ["test", "--silent", "--", "--this-node"], spawned(node, clone));
  let end = "";
  tests.stdout.setEncoding("utf8").on("data", (text) => {
    process.stdout.write(text);
    end = (end + text).slice(-1_000);
  });
  const [status] = await once(tests, "close");
  if (status === 0) rmSync(clone, { recursive: true, force: true });
  else console.log(`What was tested is kept in ${clone}`);
  return counted(node, status, end);
}

function quickly(name) {
  const node = install(name);
  console.log(`\n== Node ${node.version}: a part of the suite`);
  const report = join(folder, name, "report.json");
  rmSync(report, { force: true });
  const vitest = ["node_modules/vitest/vitest.mjs", "run", "--reporter=dot", "--reporter=json"];
  // PostgreSQL is the same whichever Node asks it.
  const args = [...vitest, `--outputFile.json=${report}`, "-t", "^(?!.*\\[postgres\\])", ...QUICK];
  const { status } = spawnSync(node.program, args, {
    ...spawned(node),
    stdio: ["ignore", "inherit", "inherit"],
  });
  const counts = existsSync(report) ? JSON.parse(readFileSync(report, "utf8")) : {};
  const [passed, failed] = [counts.numPassedTests ?? 0, counts.numFailedTests ?? 1];
  return { ...node, status, passed, failed, last: `${passed} passed, ${failed} failed` };
}

/** Reads what `npm test` says last. */
function counted(node, status, end) {
  const last = end.trim().split("\n").at(-1) ?? "";
  const [, passed, failed] = /^(\d+) passed, (\d+) failed$/.exec(last) ?? [last, 0, 1];
  return { ...node, status, passed: Number(passed), failed: Number(failed), last };
}

function spawned({ program }, cwd = ".") {
  const env = { ...process.env, PATH: [join(program, ".."), process.env.PATH].join(delimiter) };
  return { cwd, env, stdio: ["ignore", "pipe", "inherit"] };
}

function install(name) {
  const version = versions[name];
  const from = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
  const program = join(folder, name, "node_modules", from, "bin", "node");
  if (!existsSync(program) || said(program, ["--version"]) !== `v${version}`) {
    console.log(`Installing Node ${version} into ${join(".cache/node", name)} …`);
    mkdirSync(join(folder, name), { recursive: true });
    const quiet = ["--no-audit", "--no-fund", "--no-save", "--loglevel=error"];
    run("npm", ["install", "--prefix", join(folder, name), ...quiet, `${from}@${version}`]);
  }
  const builtin = "console.log(process.getBuiltinModule?.('node:sqlite') ? 'node:sqlite' : 'libsql')";
  return { version, program, driver: said(program, ["--no-warnings", "-e", builtin]) };
}

function said(command, args) {
  const { status, stdout, error } = spawnSync(command, args, { encoding: "utf8" });
  if (error || status !== 0) return "";
  return stdout.trim();
}

function run(command, args) {
  const { status } = spawnSync(command, args, { stdio: ["ignore", "inherit", "inherit"] });
  if (status === 0) return;
  console.error(`${command} ${args.join(" ")} ended with ${status}.`);
  process.exit(1);
}
