import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { pidsIn, runs } from "../../test/atsf/processes.js";
import { askVersion } from "./program-version.js";

const env = { PATH: process.env.PATH };

function directory(): string {
  const dir = mkdtempSync(join(tmpdir(), "heddle-version-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** A program that does this when it is asked; `$DIR` is where it is. */
function program(lines: string, dir = directory()): string {
  const path = join(dir, "program");
  writeFileSync(path, `#!/bin/sh\nDIR=${dir}\necho $$ > $DIR/pid\n${lines}\n`);
  chmodSync(path, 0o755);
  return path;
}

const ask = (path: string, withinMs = 20_000, stop = new AbortController().signal) =>
  askVersion({ path, env, stop, withinMs });

/** Those of its processes that run. */
const living = (path: string) => pidsIn(join(path, "..", "pid")).filter(runs);

test.each<[said: string, version: string | undefined]>([
  ["echo '2.1.325 (Claude Code)'", "2.1.325"],
  ["echo codex-cli 0.166.0; echo 'WARNING: 9.9.9 is old' >&2", "0.166.0"],
  ["echo 0.73.1 >&2", "0.73.1"],
  ["printf 1.18.33", "1.18.33"],
  ["echo v24.1", "24.1"],
  ["echo 1.0.0-rc.2+5", "1.0.0-rc.2+5"],
  ["echo 'warning: 1.2.3 of something' >&2", undefined],
  ["echo unknown", undefined],
  ["echo 127.0.0.1.5", undefined],
  ["", undefined],
  ["echo 1.2.3; exit 1", undefined],
])("[PDT10] %j", async (said, version) => {
  expect(await ask(program(said))).toBe(version);
});

test("[PDT13] it is asked for nothing else, sees what it is given, and works in the root directory", async () => {
  const path = program('echo "$*" > $DIR/args; env > $DIR/env; pwd > $DIR/cwd; echo 1.2.3');
  const given = { ...env, GIVEN: "yes" };
  expect(await askVersion({ path, env: given, stop: new AbortController().signal })).toBe("1.2.3");
  const said = (file: string) => readFileSync(join(path, "..", file), "utf8");
  expect(said("args")).toBe("--version\n");
  expect(said("cwd")).toBe("/\n");
  expect(said("env")).toContain("GIVEN=yes");
  expect(said("env")).not.toContain("VITEST");
});

test("[PDT12] what hangs is ended in time, with what it started, even if it does not listen", async () => {
  const path = program("trap '' TERM; sleep 600 & echo $! >> $DIR/pid; echo 1.2.3; sleep 600; sleep 600");
  expect(await ask(path, 1_500)).toBeUndefined();
  expect(living(path)).toEqual([]);
});

test("[PDT12] what it leaves behind holds up nobody, and is ended", async () => {
  const path = program("sleep 600 & echo $! >> $DIR/pid; echo 1.2.3");
  expect(await ask(path)).toBe("1.2.3");
  expect(living(path)).toEqual([]);
});

test("[PDT12] one that floods is heard to the end, but not kept", async () => {
  const path = program("echo 1.2.3; head -c 50000000 /dev/zero");
  expect(await ask(path)).toBe("1.2.3");
  expect(await ask(program("head -c 5000000 /dev/zero; echo 1.2.3"))).toBeUndefined();
});

test("[PDT12] one that is no program, or gone, has no version", async () => {
  const dir = directory();
  writeFileSync(join(dir, "text"), "no program");
  expect(await ask(join(dir, "text"))).toBeUndefined();
  expect(await ask(join(dir, "missing"))).toBeUndefined();
  writeFileSync(join(dir, "broken"), "\u0000\u0001");
  chmodSync(join(dir, "broken"), 0o755);
  expect(await ask(join(dir, "broken"))).toBeUndefined();
});

test("[PDT12] whoever stops asking leaves nothing running; who has stopped starts nothing", async () => {
  const path = program("sleep 600");
  const stop = new AbortController();
  const asking = ask(path, 20_000, stop.signal);
  await expect.poll(() => existsSync(join(path, "..", "pid"))).toBe(true);
  stop.abort();
  expect(await asking).toBeUndefined();
  expect(living(path)).toEqual([]);
  const other = program("echo 1.2.3");
  expect(await ask(other, 20_000, stop.signal)).toBeUndefined();
  expect(existsSync(join(other, "..", "pid"))).toBe(false);
});
