import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { sqliteDriver } from "../../src/base/index.js";
import type { Ledger } from "./ledger.js";
import type { World } from "./world.js";

const GONE_WITHIN_MS = 8_000;

/** No program of a gateway is there that it does not need; those that just died get a moment. */
export async function checkProcesses(world: World, withinMs = GONE_WITHIN_MS): Promise<string[]> {
  for (const until = performance.now() + withinMs; ; ) {
    const left = processesOf(world);
    if (left.length === 0) return [];
    if (performance.now() > until) return left.map((one) => `left: the process ${one}`);
    await sleep(100);
  }
}

function processesOf(world: World): string[] {
  const own = new Set([process.pid, world.gateway?.pid]);
  const { stdout } = spawnSync("ps", ["-A", "-o", "pid=,stat=,args="], { encoding: "utf8" });
  return stdout.split("\n").filter((line) => {
    const [, pid = "", status = "", args = ""] = /^\s*(\d+) (\S+)\s+(.*)$/.exec(line) ?? [];
    if (own.has(Number(pid)) || status.startsWith("Z")) return false;
    return args.includes(world.dir) || directoryOf(pid).startsWith(world.dir);
  });
}

/** Only Linux tells where a process works. */
function directoryOf(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return "";
  }
}

const TEMPORARY = /^\.(new|removed|copy|rescued)-|\.tmp$|-journal$/;

/** What nobody needs any more after a repair (DISK4): drafts, temporary files, worktrees and branches of threads that were never made. */
export function checkLeftOver(world: World, ledger: Ledger): string[] {
  const names = [world.data, world.project].flatMap((dir) =>
    readdirSync(world.path(dir), { recursive: true, withFileTypes: true })
      .filter(({ name, parentPath }) => TEMPORARY.test(name) && !/\/(\.git|trash)\b/.test(parentPath))
      .map(({ name, parentPath }) => join(parentPath, name)),
  );
  const needed = ledger
    .threads()
    .filter(({ inWorktree }) => inWorktree)
    .map(({ id }) => id.slice(-8).toLowerCase());
  const isNeeded = (path: string) => needed.some((end) => path.includes(end));
  const listed = world.git("worktree", "list", "--porcelain").match(/(?<=^worktree ).*$/gm) ?? [];
  const branches = world.git("for-each-ref", "--format=%(refname:short)", "refs/heads/am-*").split("\n");
  const made = join(world.path(world.data), "worktrees");
  const directories = existsSync(made)
    ? readdirSync(made, { recursive: true })
        .map(String)
        .filter((name) => /^[^/]+\/thread-[^/]+$/.test(name))
    : [];
  return [
    ...names.map((name) => `left: ${name}`),
    ...listed
      .slice(1)
      .filter((path) => !isNeeded(path))
      .map((path) => `left: the worktree ${path}`),
    ...directories.filter((path) => !isNeeded(path)).map((path) => `left: the directory worktrees/${path}`),
    ...branches.filter((name) => name !== "" && !isNeeded(name)).map((name) => `left: the branch ${name}`),
    ...notesIn(join(made, ".making")).map((note) => `left: the note ${note}`),
    ...notesIn(join(made, ".removing"))
      .filter((note) => !isNeeded(note.toLowerCase()))
      .map((note) => `left: the note ${note}`),
  ];
}

/** One about a worktree that was to be removed stays as long as the worktree does. */
function notesIn(dir: string): string[] {
  return existsSync(dir) ? readdirSync(dir).map((name) => join(dir, name)) : [];
}

/** The database is whole; a copy is asked, while no gateway runs. */
export function checkDatabase(world: World): string[] {
  if (world.store !== "sqlite") return [];
  const copy = mkdtempSync(join(tmpdir(), "heddle-crash-database-"));
  const files = readdirSync(world.path(world.data)).filter((name) => /^heddle\.db(-wal)?$/.test(name));
  for (const name of files) copyFileSync(join(world.path(world.data), name), join(copy, name));
  const database = sqliteDriver().open(join(copy, "heddle.db"));
  try {
    const said = ["pragma integrity_check", "pragma foreign_key_check"].flatMap((sql) =>
      database.prepare(sql).all([]),
    );
    const wrong = said.map((row) => JSON.stringify(row)).filter((row) => !row.includes('"ok"'));
    return wrong.map((row) => `lost: the database says ${row}`);
  } finally {
    database.close();
    rmSync(copy, { recursive: true });
  }
}

/** The format's own commands, as people use them, find no error. */
export function checkFormat(world: World, verb: "validate" | "repair"): string[] {
  const [program, ...args] = world.command("atsf", verb, world.project, "--json");
  const { status, stdout, stderr } = spawnSync(program as string, args, {
    encoding: "utf8",
    env: world.env(),
  });
  return status === 0 ? [] : [`lost: atsf ${verb} ended with ${status}: ${stdout.slice(0, 2000)}${stderr}`];
}
