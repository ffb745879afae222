// Brings a fresh clone to the point where it can start (`build`) or be tested (`test`): installs and builds what is
// missing or out of date, and says what it does. Plain Node, because it runs before anything is installed.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const goal = process.argv[2] ?? "build";
checkNodeVersion();
process.chdir(join(import.meta.dirname, ".."));

const lockHash = hashOf(["package-lock.json"]);
ensure({ name: "install", hash: lockHash, output: "node_modules", label: "Installing packages" }, () =>
  run("npm", ["ci", "--include=dev", "--no-audit", "--no-fund", "--loglevel=error"]),
);

const sources = hashOf([
  ...filesUnder("src"),
  ...filesUnder("web"),
  "package.json",
  "scripts/build.mjs",
  "tsconfig.json",
  "package-lock.json",
]);
ensure({ name: "build", hash: sources, output: "dist/bin/heddle.js", label: "Building" }, () =>
  run(process.execPath, ["scripts/build.mjs"]),
);

if (goal === "test") run(process.execPath, ["scripts/ensure-services.mjs"]);

/** Does the work when its inputs changed since it last succeeded. */
function ensure({ name, hash, output, label }, work) {
  const stamp = join(".cache", `${name}.stamp`);
  if (existsSync(output) && existsSync(stamp) && readFileSync(stamp, "utf8") === hash) return;
  process.stderr.write(`${label} ...\n`);
  work();
  mkdirSync(".cache", { recursive: true });
  writeFileSync(stamp, hash);
}

function hashOf(files) {
  const hash = createHash("sha256").update(process.version);
  for (const file of files) hash.update(file).update("\0").update(readFileSync(file));
  return hash.digest("hex");
}

function filesUnder(dir) {
  return readdirSync(dir, { recursive: true })
    .map((name) => join(dir, name))
    .filter((path) => !/\.test\.tsx?$/.test(path) && statSync(path).isFile())
    .sort();
}

function run(command, args) {
  const { status, error } = spawnSync(command, args, { stdio: ["ignore", 2, 2] });
  if (error) fail(`could not run ${command}: ${error.message}`);
  if (status !== 0) fail(`${command} ${args.join(" ")} ended with ${status}`);
}

function checkNodeVersion() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  const fits = (major === 20 && minor >= 19) || (major === 22 && minor >= 14) || major >= 24;
  if (!fits) fail(`Heddle needs Node.js 20.19, 22.14 or 24 and later; this is ${process.version}.`);
}

function fail(message) {
  process.stderr.write(`heddle: ${message}\n`);
  process.exit(1);
}
