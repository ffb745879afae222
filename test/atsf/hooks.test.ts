import { spawn } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { type HookProgress, type HooksToRun, hooksContent, runHooks } from "../../src/atsf/index.js";
import { linkType } from "../../src/atsf/worktree-hooks/make-symlink.js";
import { timeoutOf } from "../../src/atsf/worktree-hooks/run.js";
import { sha256 } from "../../src/base/index.js";
import { temporaryDirectory } from "../support/stores.js";
import { pidsIn, runs } from "./processes.js";

type Hooks = NonNullable<HooksToRun["hooks"]>;
type Command = NonNullable<Hooks["postSetupCommands"]>[number];

function places() {
  const root = realpathSync(temporaryDirectory());
  const [repository, worktree, outside] = ["repository", "worktree", "outside"].map((name) =>
    join(root, name),
  );
  for (const dir of [repository, worktree, outside]) mkdirSync(dir as string);
  return { repository, worktree, outside } as Record<"repository" | "worktree" | "outside", string>;
}

function link(given: ReturnType<typeof places>, symlinks: NonNullable<Hooks["symlinks"]>) {
  return runHooks({ hooks: { symlinks }, repository: given.repository, worktree: given.worktree });
}

function run(commands: Command[], more: Partial<HooksToRun> = {}) {
  const { repository, worktree } = places();
  return runHooks({ hooks: { postSetupCommands: commands }, repository, worktree, ...more });
}

const statuses = ({ steps }: Awaited<ReturnType<typeof runHooks>>) => steps.map(({ status }) => status);

test("[HOOK1] links lead from the worktree to the repository's files and directories, first of all steps", async () => {
  const given = places();
  mkdirSync(join(given.repository, "node_modules/x"), { recursive: true });
  writeFileSync(join(given.repository, ".env.local"), "A=1");
  symlinkSync(join(given.outside), join(given.repository, "shared"));
  const end = await runHooks({
    hooks: {
      postSetupCommands: [{ command: "cat .env.local" }],
      symlinks: [
        { source: ".env.local" },
        { source: "./node_modules/", target: "packages/app/node_modules" },
        { source: "shared" },
      ],
    },
    repository: given.repository,
    worktree: given.worktree,
  });
  expect(end).toEqual({
    ok: true,
    steps: [
      { kind: "symlink", label: ".env.local", status: "done" },
      { kind: "symlink", label: "./node_modules/ -> packages/app/node_modules", status: "done" },
      { kind: "symlink", label: "shared", status: "done" },
      {
        kind: "command",
        label: "cat .env.local",
        status: "done",
        exitCode: 0,
        output: "A=1",
        outputBytes: 3,
        durationMs: expect.any(Number),
      },
    ],
  });
  const made = join(given.worktree, "packages/app/node_modules");
  expect(readlinkSync(made)).toBe(join(given.repository, "node_modules"));
  expect(readdirSync(made)).toEqual(["x"]);
  expect(linkType(true, "win32")).toBe("junction");
  expect([linkType(true, "linux"), linkType(false, "win32")]).toEqual(["dir", "file"]);
});

test("[HOOK2] a source or target that leads out, by any way, is refused and makes nothing, and the rest goes on", async () => {
  const given = places();
  const { repository, worktree, outside } = given;
  for (const root of [repository, worktree]) symlinkSync(outside, join(root, "leads-out"));
  symlinkSync(join(outside, "missing"), join(worktree, "dangling"));
  writeFileSync(join(outside, "secret"), "s");
  writeFileSync(join(repository, "a"), "a");
  writeFileSync(join(worktree, "file"), "");
  const before = readdirSync(worktree);
  const end = await link(given, [
    { source: "../outside/secret" },
    { source: join(outside, "secret"), target: "secret" },
    { source: "leads-out/secret", target: "secret" },
    { source: "a/../../outside/secret", target: "secret" },
    { source: "C:\\secret", target: "secret" },
    { source: "missing" },
    { source: "", target: "x" },
    { source: ".", target: "x" },
    { source: "a", target: "../outside/a" },
    { source: "a", target: join(outside, "a") },
    { source: "a", target: "leads-out/a" },
    { source: "a", target: "leads-out/deeper/a" },
    { source: "a", target: "dangling/a" },
    { source: "a", target: "file/a" },
  ]);
  expect(statuses(end)).toEqual(Array(14).fill("failed"));
  expect(end.ok).toBe(false);
  expect(end.steps[2]?.reason).toBe("leads-out/secret leads out of the repository");
  expect(end.steps[5]?.reason).toBe("missing does not exist in the repository");
  expect(end.steps[11]?.reason).toBe("leads-out/deeper/a leads out of the worktree");
  expect(readdirSync(worktree)).toEqual(before);
  expect(readdirSync(outside)).toEqual(["secret"]);
  const rest = await link(given, [{ source: "missing" }, { source: "a" }]);
  expect(statuses(rest)).toEqual(["failed", "done"]);
});

test("[HOOK3] what stands at a target stays, be it a file, a directory or a link that leads nowhere", async () => {
  const given = places();
  const { repository, worktree } = given;
  for (const name of ["file", "dir", "link"]) writeFileSync(join(repository, name), "theirs");
  writeFileSync(join(worktree, "file"), "mine");
  mkdirSync(join(worktree, "dir"));
  symlinkSync("nowhere", join(worktree, "link"));
  const end = await link(given, [{ source: "file" }, { source: "dir" }, { source: "link" }]);
  expect(end.ok).toBe(true);
  expect(end.steps.map(({ status, reason }) => [status, reason])).toEqual([
    ["skipped", "file is there already"],
    ["skipped", "dir is there already"],
    ["skipped", "link is there already"],
  ]);
  expect(readFileSync(join(worktree, "file"), "utf8")).toBe("mine");
  expect(lstatSync(join(worktree, "dir")).isDirectory()).toBe(true);
  expect(readlinkSync(join(worktree, "link"))).toBe("nowhere");
});

test("[HOOK4] commands run in order, by a shell, in the worktree, without input, with the given environment", async () => {
  const { repository, worktree } = places();
  const commands = ["pwd && echo $GIVEN", "cat; echo read >&2", "echo one > made && cat made"];
  const end = await runHooks({
    hooks: { postSetupCommands: commands.map((command) => ({ command })) },
    repository,
    worktree,
    env: { PATH: process.env.PATH, GIVEN: "given" },
  });
  expect(end.ok).toBe(true);
  expect(end.steps.map(({ output }) => output)).toEqual([`${worktree}\ngiven\n`, "read\n", "one\n"]);
});

test("[HOOK5] a failure skips the commands after it, unless it may fail; nothing is thrown", async () => {
  const end = await run([
    { command: "exit 3", label: "may fail", continueOnError: true },
    { command: "kill -9 $$", label: "killed", continueOnError: true },
    { command: "a\0b", label: "nul", continueOnError: true },
    { command: "echo no; exit 4", label: "fails" },
    { command: "echo never", label: "skipped" },
  ]);
  expect(end.ok).toBe(false);
  expect(end.steps.map(({ status, reason, exitCode }) => [status, reason, exitCode])).toEqual([
    ["failed", "exit code 3", 3],
    ["failed", "ended by SIGKILL", undefined],
    ["failed", expect.stringContaining("could not be started"), undefined],
    ["failed", "exit code 4", 4],
    ["skipped", "an earlier command did not succeed: fails", undefined],
  ]);
  expect(end.steps[3]).toMatchObject({ output: "no\n", outputBytes: 3 });
  const nowhere = await run([{ command: "true" }], { worktree: join(temporaryDirectory(), "nowhere") });
  expect(statuses(nowhere)).toEqual(["failed"]);
  expect(await run([], { hooks: undefined })).toEqual({ ok: true, steps: [] });
});

test("[HOOK6] commands for other platforms are left out", async () => {
  const commands: Command[] = [
    { command: "true", platforms: ["win32"] },
    { command: "true", platforms: ["darwin", "linux"] },
    { command: "true", platforms: [] },
    { command: "true" },
  ];
  const linux = await run(commands, { platform: "linux" });
  expect(statuses(linux)).toEqual(["skipped", "done", "done", "done"]);
  expect(linux).toMatchObject({ ok: true, steps: [{ reason: "not for linux" }, {}, {}, {}] });
  expect(statuses(await run(commands, { platform: "win32" }))).toEqual(["done", "skipped", "done", "done"]);
});

test("[HOOK7] output of any length is drained, its end kept and all of it counted", async () => {
  const end = await run([
    { command: "head -c 100000000 /dev/zero; printf 'the end'" },
    { command: "head -c 16384 /dev/zero | sed 's/\\x00/é/g'; printf '!'" },
  ]);
  expect(end.ok).toBe(true);
  const [flood, split] = end.steps;
  expect(flood?.outputBytes).toBe(100_000_007);
  expect(flood?.output).toHaveLength(16 * 1024);
  expect(flood?.output?.endsWith("\0the end")).toBe(true);
  expect(split?.outputBytes).toBe(2 * 16_384 + 1);
  expect(split?.output).toMatch(/^é+!$/);
});

test("[HOOK8] a command's time has a default, a longest and no way around it", () => {
  expect([undefined, 0, 5, 1_800_000, 1e12].map((given) => timeoutOf(given))).toEqual([
    120_000, 1_800_000, 5, 1_800_000, 1_800_000,
  ]);
});

test("[HOOK9] a command that takes too long is ended with all it started, also what ignores being asked", async () => {
  const { repository, worktree } = places();
  const stubborn = `sh -c "trap '' TERM; while :; do sleep 1; done"`;
  const end = await runHooks({
    hooks: {
      postSetupCommands: [
        {
          command: `trap '' TERM; echo begun; ${stubborn} & echo $! > pids; (${stubborn} & echo $! >> pids); echo $$ >> pids; wait; wait`,
          timeout: 500,
          continueOnError: true,
        },
        { command: "echo next" },
      ],
    },
    repository,
    worktree,
  });
  expect(end).toMatchObject({
    ok: false,
    steps: [{ status: "timed_out", reason: "not done after 500 ms", output: "begun\n" }, { status: "done" }],
  });
  expect(pidsIn(join(worktree, "pids")).map(runs)).toEqual([false, false, false]);
});

test("[HOOK10] a process left in the background does not outlive its command", async () => {
  const { repository, worktree } = places();
  const command = "sleep 300 & echo $! > pids; (trap '' TERM; sleep 300) & echo $! >> pids; echo done";
  const end = await runHooks({ hooks: { postSetupCommands: [{ command }] }, repository, worktree });
  expect(end).toMatchObject({ ok: true, steps: [{ status: "done", output: "done\n" }] });
  expect(pidsIn(join(worktree, "pids")).map(runs)).toEqual([false, false]);
});

test("[HOOK11] a process that left its group is out of reach, and its hold on the output keeps nobody waiting", async () => {
  const { repository, worktree } = places();
  const command =
    "setsid sh -c 'echo $$ > pid; while :; do echo flood; done' & while ! test -s pid; do :; done";
  const end = await runHooks({
    hooks: { postSetupCommands: [{ command, timeout: 30_000 }] },
    repository,
    worktree,
  });
  const [escaped = 0] = pidsIn(join(worktree, "pid"));
  try {
    expect(end).toMatchObject({ ok: true, steps: [{ status: "done", exitCode: 0 }] });
    const quiet = "setsid sh -c 'echo $$ > quiet; sleep 300' & while ! test -s quiet; do :; done";
    const silent = await runHooks({
      hooks: { postSetupCommands: [{ command: quiet, timeout: 30_000 }] },
      repository,
      worktree,
    });
    expect(silent.steps[0]?.status).toBe("done");
    expect(pidsIn(join(worktree, "quiet")).map(runs)).toEqual([true]);
  } finally {
    for (const pid of [
      escaped,
      ...(existsSync(join(worktree, "quiet")) ? pidsIn(join(worktree, "quiet")) : []),
    ]) {
      if (runs(pid)) process.kill(-pid, "SIGKILL");
    }
  }
});

test("[HOOK12] who gives up ends the command that runs and skips the rest", async () => {
  const { repository, worktree } = places();
  const giveUp = new AbortController();
  const end = await runHooks({
    hooks: {
      symlinks: [],
      postSetupCommands: [
        { command: "echo $$ > pids; sleep 300 & echo $! >> pids; echo up; wait", continueOnError: true },
        { command: "echo never > made" },
      ],
    },
    repository,
    worktree,
    signal: giveUp.signal,
    onProgress: ({ output }) => output && giveUp.abort(),
  });
  expect(end).toMatchObject({
    ok: false,
    steps: [
      { status: "failed", reason: "cancelled", output: "up\n" },
      { status: "skipped", reason: "cancelled" },
    ],
  });
  expect(pidsIn(join(worktree, "pids")).map(runs)).toEqual([false, false]);
  writeFileSync(join(repository, "a"), "");
  const before = await runHooks({
    hooks: { symlinks: [{ source: "a" }], postSetupCommands: [{ command: "echo never > made" }] },
    repository,
    worktree,
    signal: giveUp.signal,
  });
  expect(before.ok).toBe(false);
  expect(statuses(before)).toEqual(["skipped", "skipped"]);
  expect(readdirSync(worktree)).toEqual(["pids"]);
});

test("[HOOK13] progress is told at the start and end of a step and while it writes; a listener that throws stops nothing", async () => {
  const told: HookProgress[] = [];
  const { repository, worktree } = places();
  writeFileSync(join(repository, "a"), "");
  const end = await runHooks({
    hooks: {
      symlinks: [{ source: "a" }],
      postSetupCommands: [
        { command: "for i in 1 2 3 4 5 6 7 8 9; do echo $i; sleep 0.2; done", label: "Counting" },
        { command: "true", platforms: ["win32"], label: "Elsewhere" },
      ],
    },
    repository,
    worktree,
    platform: "linux",
    onProgress: (progress) => {
      told.push(progress);
      throw new Error("listener");
    },
  });
  expect(end.ok).toBe(true);
  const [start, linked, begun, ...rest] = told;
  expect([start, linked]).toEqual([
    { step: 1, of: 3, label: "a", status: "running" },
    { step: 1, of: 3, label: "a", status: "done" },
  ]);
  expect(begun).toEqual({ step: 2, of: 3, label: "Counting", status: "running" });
  expect(rest.slice(-2)).toEqual([
    { step: 2, of: 3, label: "Counting", status: "done", output: "1\n2\n3\n4\n5\n6\n7\n8\n9\n" },
    { step: 3, of: 3, label: "Elsewhere", status: "skipped" },
  ]);
  const between = rest.slice(0, -2);
  expect(between.length).toBeGreaterThanOrEqual(1);
  expect(between.length).toBeLessThanOrEqual((end.steps[1]?.durationMs ?? 0) / 1_000);
  for (const { status, output } of between) {
    expect(status).toBe("running");
    expect(output).toMatch(/^1\n/);
  }
});

test("[HOOK14] what a user trusts is the hooks word for word; any change changes the hash, and none means none", () => {
  const hooks = { symlinks: [{ source: "a" }], postSetupCommands: [{ command: "b", own: 1 }] };
  const config = { specVersion: "1.1", worktreeHooks: hooks };
  const content = hooksContent(config);
  expect(content).toEqual({ text: JSON.stringify(hooks), sha256: sha256(JSON.stringify(hooks)) });
  expect(hooksContent({ ...config, defaults: { agentId: "x" } })).toEqual(content);
  for (const worktreeHooks of [
    { ...hooks, initialPrompt: "c" },
    { ...hooks, postSetupCommands: [{ command: "b " }] },
    { ...hooks, symlinks: [] },
  ]) {
    expect(hooksContent({ ...config, worktreeHooks })?.sha256).not.toBe(content?.sha256);
  }
  expect(hooksContent(undefined)).toBeUndefined();
  expect(hooksContent({ specVersion: "1.1" })).toBeUndefined();
  expect(hooksContent({ specVersion: "1.1", worktreeHooks: { symlinks: [], own: 1 } })).toBeUndefined();
  expect(hooksContent({ specVersion: "1.1", worktreeHooks: { initialPrompt: "c" } })).toBeDefined();
});

test("[HOOK15] a command ends with the program that runs it, also when that is killed", async () => {
  const { repository, worktree } = places();
  const command = "sleep 300 & echo $$ $! > pids.new; mv pids.new pids; wait";
  const args = ["--import", "tsx", "test/atsf/children/run-hooks.ts", repository, worktree, command];
  const program = spawn(process.execPath, args, { stdio: "ignore" });
  await vi.waitFor(() => expect(existsSync(join(worktree, "pids"))).toBe(true), 20_000);
  const pids = pidsIn(join(worktree, "pids"));
  expect(pids.map(runs)).toEqual([true, true]);
  program.kill("SIGKILL");
  await vi.waitFor(() => expect(pids.map(runs)).toEqual([false, false]), 10_000);
});
