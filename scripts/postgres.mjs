// Runs a throw-away PostgreSQL for the tests: `node scripts/postgres.mjs BIN_DIR` prints its address when it is ready and
// stops it when standard input ends, so that a killed test run leaves no server behind.
import { execFileSync, spawn } from "node:child_process";
import { chownSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const USER = "heddle";
const ENOUGH_BYTES = 512 * 1024 * 1024;

const owner = process.getuid() === 0 ? ordinaryUser() : undefined;
const home = mkdtempSync(join(roomyDirectory(), "heddle-postgres-"));
if (owner) chownSync(home, owner.uid, owner.gid);
const bin = owner ? reachable(process.argv[2]) : process.argv[2];
const data = join(home, "data");
const options = {
  ...owner,
  stdio: ["ignore", "ignore", "pipe"],
  cwd: home,
  env: { LC_ALL: "C", PATH: process.env.PATH },
};

execFileSync(
  join(bin, "initdb"),
  ["-D", data, "-U", USER, "--auth=trust", "--encoding=UTF8", "--no-sync"],
  options,
);
const settings = {
  listen_addresses: "",
  unix_socket_directories: home,
  fsync: "off",
  full_page_writes: "off",
  synchronous_commit: "off",
  max_connections: "300",
};
const server = spawn(
  join(bin, "postgres"),
  ["-D", data, ...Object.entries(settings).flatMap(([key, value]) => ["-c", `${key}=${value}`])],
  options,
);
let log = "";
server.stderr.on("data", (chunk) => {
  log += chunk;
  if (log.includes("ready to accept connections")) {
    process.stdout.write(`postgres://${USER}@localhost/postgres?host=${encodeURIComponent(home)}\n`);
    log = "";
  }
});
server.on("exit", (code) => {
  rmSync(home, { recursive: true, force: true });
  if (code !== 0) process.stderr.write(log);
  process.exit(code ?? 0);
});
process.stdin.resume();
process.stdin.on("end", () => server.kill("SIGINT"));
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => server.kill("SIGINT"));

/** The server refuses to run as root. */
function ordinaryUser() {
  const users = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"));
  const entry = users.find(([name]) => name === "postgres") ?? users.find(([name]) => name === "nobody");
  return { uid: Number(entry[2]), gid: Number(entry[3]) };
}

/** In memory where there is room: the data is thrown away anyway. */
function roomyDirectory() {
  if (!existsSync("/dev/shm")) return tmpdir();
  const { bavail, bsize } = statfsSync("/dev/shm");
  return bavail * bsize > ENOUGH_BYTES ? "/dev/shm" : tmpdir();
}

/** Binaries below a directory that only root may enter are copied to where the server's user can run them. */
function reachable(given) {
  try {
    execFileSync(join(given, "postgres"), ["--version"], { ...owner, stdio: "ignore" });
    return given;
  } catch {
    const copy = join(home, "native");
    cpSync(dirname(given), copy, { recursive: true, verbatimSymlinks: false, dereference: true });
    return join(copy, "bin");
  }
}
