import { readdirSync, readlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { beforeEach, expect, test } from "vitest";
import { type Doer, doer, doing, isThere } from "../support/programs.js";
import { ownGit, Workshop } from "../support/repository.js";
import { type RunScene, runStage } from "../support/runs.js";

const program: Doer = doer({ stubborn: true });
const forgetful: Doer = doer({ forgets: true });
const stage = runStage(undefined, {
  config: () => ({ agents: [program.agent("doer"), forgetful.agent("forgetful")] }),
});
let scene: RunScene;
beforeEach(async () => {
  scene = await stage.scene();
});

test("[PRG14] a program that ends in the middle fails its run with its last words, and the next message works", async () => {
  const { id } = await scene.start();
  await scene.answered(id, doing({ say: "before" }));
  const run = await scene.ask(id, doing({ say: "half" }, { exit: 3, words: "out of paper\n" }));
  expect(run).toMatchObject({ status: "failed", error: { code: "program.exited" } });
  expect(run.error?.message).toMatch(/exit code 3.*out of paper/);
  const data = await scene.messages(id);
  expect(data.at(-1)).toMatchObject({ content: [{ type: "text", text: "half" }], stopReason: "error" });
  const next = await scene.answered(id, "go on");
  expect(program.prompts().at(-1)).toMatch(/half[\s\S]*go on$/);
  expect(await scene.manifest(next.id)).toMatchObject({ delivery: { session: "new", replayed: 4 } });
});

test("[PRG15] a cancelled run leaves no process behind within a second, whatever the program does", async () => {
  const { id } = await scene.start();
  const { run } = await scene.startRun(id, doing({ say: "busy" }, { child: true }, { hang: true }));
  await expect.poll(() => program.prompts().at(-1)).toContain("busy");
  const pid = program.starts().at(-1) as number;
  const from = performance.now();
  await scene.wire.result("run/cancel", { run_id: run.id });
  expect((await scene.ended(run.id)).status).toBe("cancelled");
  await expect.poll(() => program.living().includes(pid), { interval: 10 }).toBe(false);
  expect(performance.now() - from).toBeLessThan(1_000);
  const next = await scene.answered(id, "go on");
  expect(await scene.manifest(next.id)).toMatchObject({ delivery: { session: "new" } });
});

test("[PRG6] a session that the program has lost is begun anew with the history", async () => {
  const { id } = await scene.start({ agent_id: "forgetful" });
  await scene.answered(id, doing({ say: "KEPT-ANSWER" }));
  for (const pid of forgetful.living()) process.kill(pid, "SIGKILL");
  await expect.poll(() => forgetful.living()).toEqual([]);
  const run = await scene.answered(id, "and now?");
  expect(forgetful.prompts().at(-1)).toContain("KEPT-ANSWER");
  expect(await scene.manifest(run.id)).toMatchObject({ delivery: { session: "new", replayed: 2 } });
});

test("[PRG16] a program that died between turns is started again and goes on with its session", async () => {
  const { id } = await scene.start();
  await scene.answered(id, doing({ say: "one" }));
  const pid = program.starts().at(-1) as number;
  process.kill(pid, "SIGKILL");
  await expect.poll(() => isThere(pid)).toBe(false);
  const run = await scene.answered(id, doing({ say: "two" }));
  expect(program.prompts().at(-1)).toBe(doing({ say: "two" }));
  expect(await scene.manifest(run.id)).toMatchObject({ delivery: { session: "resumed" } });
});

test("[PRG16] 100 turns take one process, and leave no file, socket or process when the thread is deleted", async () => {
  const { id } = await scene.start();
  await scene.answered(id, "first");
  const starts = program.starts().length;
  const open = () => openFiles();
  const files = () => readdirSync(tmpdir()).filter((name) => /^heddle-(?!test|home)/.test(name)).length;
  const before = { open: open(), files: files() };
  for (let turn = 0; turn < 100; turn++) await scene.answered(id, `turn ${turn}`);
  expect(program.starts().length).toBe(starts);
  expect(open() - before.open).toBeLessThanOrEqual(3);
  expect(files() - before.files).toBeLessThanOrEqual(0);
  await scene.wire.result("thread/delete", { workspace_id: scene.workspace_id, thread_id: id });
  const pid = program.starts().at(-1) as number;
  await expect.poll(() => program.living().includes(pid)).toBe(false);
});

test("[PRG16] a gateway that stops ends the programs it keeps", async () => {
  const { id } = await scene.start();
  await scene.answered(id, "hello");
  expect(program.living()).not.toEqual([]);
  await stage.restart();
  expect(program.living()).toEqual([]);
  const again = await stage.again(scene);
  const run = await again.answered(id, "and again");
  expect(await again.manifest(run.id)).toMatchObject({ delivery: { session: "resumed" } });
  expect(program.prompts().at(-1)).toBe("and again");
});

/** Sockets, pipes and files that this process has open. */
function openFiles(): number {
  return readdirSync("/proc/self/fd").filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) !== "";
    } catch {
      return false;
    }
  }).length;
}

test("[PRG16] a kept process ends with its workspace, and with the worktree that it works in", async () => {
  ownGit();
  const shop = await Workshop.open(stage.gateway());
  const { workspace_id, wire } = shop;
  const answered = async (thread_id: string) => {
    const { run } = await wire.result("run/start", {
      workspace_id,
      thread_id,
      content: doing({ say: "hi" }),
    });
    await expect
      .poll(async () => (await wire.result("run/get", { run_id: run.id })).run.status)
      .toBe("completed");
    return program.starts().at(-1) as number;
  };
  const { id } = await shop.start({ use_worktree: true, agent_id: "doer" });
  const inWorktree = await answered(id);
  expect(isThere(inWorktree)).toBe(true);
  await wire.result("thread/worktree/remove", { workspace_id, thread_id: id, force: true });
  await expect.poll(() => isThere(inWorktree)).toBe(false);
  const other = await answered((await shop.start({ use_worktree: false, agent_id: "doer" })).id);
  expect(isThere(other)).toBe(true);
  await wire.result("workspace/delete", { workspace_id });
  await expect.poll(() => isThere(other)).toBe(false);
});
