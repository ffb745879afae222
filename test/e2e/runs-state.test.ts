import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openDatabase } from "../support/agents-doc.js";
import { heldTool } from "../support/held-tool.js";
import { freshRepository } from "../support/repository.js";
import { agentAt, apis, calls, RunScene, runStage, says, verifyAll, waitOn } from "../support/runs.js";
import { onEitherStore, sqliteStore } from "../support/stores.js";
import { line, looks, soon, textMessage } from "../support/threads.js";

/** A run in the middle of its answer; the gate lets it go on. */
async function answering(scene: RunScene, gate: string) {
  const { id } = await scene.start();
  await scene.wire.result("subscribe", { thread_id: id });
  scene.plays({ steps: [{ text: "I was" }, { gate }, { text: " going to." }] });
  const before = scene.model.requests.length;
  const { run } = await scene.startRun(id, "the question");
  const request = await scene.model.request(before);
  const first = () => scene.wire.notifications("run/delta").find(({ params }) => params.run_id === run.id);
  await waitOn(scene.wire, first, "the first words");
  return { id, run, request };
}

const said = async (scene: RunScene, id: string) =>
  (await scene.messages(id)).map(({ content }) => content.map(({ text }) => text).join(""));

/** The thread takes the next message, and its model is asked in a sound way. */
async function expectUsable(scene: RunScene, id: string): Promise<void> {
  scene.plays("All is well.");
  await scene.answered(id, "and now?");
  expect((await said(scene, id)).slice(-2)).toEqual(["and now?", "All is well."]);
  expect((await scene.get(id)).status).toBe("idle");
}

onEitherStore("runs when the ground gives way", (kind) => {
  const held = heldTool();
  const stage = runStage(kind, { options: { tools: [held.tool] } });

  test("[RUN90] a thread that is deleted, unknown, elsewhere or read-only takes no run", async () => {
    const scene = await stage.scene();
    const { workspace_id } = scene;
    const { id } = await scene.start();
    const { id: gone } = await scene.start();
    await scene.wire.result("thread/delete", { thread_id: gone });
    const { id: newer } = await scene.start();
    scene.edit(newer, (envelope) => {
      envelope.specVersion = "2.0";
    });
    await soon(async () => (await scene.get(newer)).read_only).toBeDefined();
    const refusals = [
      [{ workspace_id, thread_id: gone }, -32602, "thread.not_found"],
      [{ workspace_id, thread_id: "unknown" }, -32602, "thread.not_found"],
      [{ workspace_id: stage.gateway().home, thread_id: id }, -32602, "thread.not_found"],
      [{ workspace_id, thread_id: newer }, -32600, "thread.read_only"],
    ] as const;
    for (const [where, code, refusal] of refusals) {
      const error = await scene.wire.error("run/start", { ...where, content: "Hello?" });
      expect(error).toMatchObject({ code, data: { kind: refusal } });
    }
    expect(await scene.runs()).toEqual([]);
    expect(scene.model.requests).toEqual([]);
  });

  test("[RUN92] a thread deleted in mid-run: the run is cancelled, what it said goes to the bin", async () => {
    const scene = await stage.scene();
    const { id, run, request } = await answering(scene, "never");
    const waiting = await scene.startRun(id, "and then?");
    await scene.wire.result("thread/delete", { thread_id: id });
    expect((await request.closed).byClient).toBe(true);
    expect(await scene.getRun(run.id)).toMatchObject({ status: "cancelled" });
    expect(await scene.getRun(waiting.run.id)).toMatchObject({ status: "cancelled" });
    expect(existsSync(scene.path(id))).toBe(false);
    await scene.wire.result("thread/undelete", { thread_id: id });
    expect(await said(scene, id)).toEqual(["the question", "I was"]);
    await expectUsable(scene, id);
    await verifyAll(scene);
  });

  test("[RUN92] asked and deleted at the same instant, a thread keeps no run under way", async () => {
    const scene = await stage.scene();
    const { workspace_id } = scene;
    scene.plays({ repeat: true, steps: [{ text: "Still here." }, ...calls("system_time").steps] });
    const other = await stage.gateway().wire();
    const asked: string[] = [];
    for (let i = 0; i < 12; i++) {
      const { id: thread_id } = await scene.start();
      const run = { workspace_id, thread_id, content: "Hello?" };
      const [first, second] = await Promise.all([
        other.call("run/start", run),
        other.call("run/start", run),
        new Promise((resolve) => setTimeout(resolve, i)).then(() =>
          scene.wire.result("thread/delete", { thread_id }),
        ),
      ]);
      for (const { result } of [first, second]) if (result) asked.push(result.run.id);
      await soon(() => existsSync(scene.path(thread_id))).toBe(false);
    }
    for (const run_id of asked) {
      await soon(async () => (await scene.getRun(run_id)).status).toMatch(/^(cancelled|failed)$/);
    }
    expect(asked.length).toBeGreaterThan(0);
  });

  test("[RUN93] a log is not cleared from under an agent at work", async () => {
    const scene = await stage.scene();
    const { id, run } = await answering(scene, "clear");
    const busy = await scene.wire.error("thread/clear", { thread_id: id });
    expect(busy).toMatchObject({ code: -32600, data: { kind: "thread.busy", thread_id: id } });
    scene.model.open("clear");
    expect(await scene.ended(run.id)).toMatchObject({ status: "completed" });
    await scene.wire.result("thread/clear", { thread_id: id });
    scene.model.forget();
    await expectUsable(scene, id);
    expect(await said(scene, id)).toEqual(["and now?", "All is well."]);
    expect(await scene.received(0)).not.toContain("the question");
    await verifyAll(scene);
  });

  test("[RUN94] a workspace deleted in mid-run: its runs are cancelled, its files stay", async () => {
    const scene = await stage.scene();
    const { workspace_id } = scene;
    const { id, run, request } = await answering(scene, "never");
    await scene.wire.result("workspace/delete", { workspace_id });
    expect((await request.closed).byClient).toBe(true);
    expect(scene.lines(id)).toMatchObject([{ role: "user" }, { role: "agent", stopReason: "cancelled" }]);
    const refused = await scene.wire.error("run/start", { workspace_id, thread_id: id, content: "x" });
    expect(refused.code).toBe(-32602);
    await scene.wire.result("workspace/undelete", { workspace_id });
    expect(await scene.getRun(run.id)).toMatchObject({ status: "cancelled" });
    expect(await said(scene, id)).toEqual(["the question", "I was"]);
    await expectUsable(scene, id);
  });

  test("[RUN94] asked and deleted at the same instant, a workspace has no run that begins afterwards", async () => {
    const other = await stage.gateway().wire();
    let asked = 0;
    for (let i = 0; i < 12; i++) {
      const scene = await stage.scene();
      scene.plays({ repeat: true, steps: [{ text: "Still here." }, { hang: true }] });
      const { workspace_id } = scene;
      const threads = await Promise.all([1, 2, 3, 4].map(() => scene.start()));
      const [answers] = await Promise.all([
        Promise.all(
          threads.map(({ id: thread_id }) =>
            other.call("run/start", { workspace_id, thread_id, content: "Hello?" }),
          ),
        ),
        new Promise((resolve) => setTimeout(resolve, i / 2)).then(() =>
          scene.wire.result("workspace/delete", { workspace_id }),
        ),
      ]);
      await scene.wire.result("workspace/undelete", { workspace_id });
      const admitted = answers.flatMap(({ result }) => (result ? [result.run.id] : []));
      asked += admitted.length;
      expect((await scene.runs()).map(({ id, status }) => [id, status]).sort()).toEqual(
        admitted.map((id) => [id, "cancelled"]).sort(),
      );
      for (const { error } of answers)
        if (error)
          expect(error.data).toMatchObject({
            kind: expect.stringMatching(/^workspace\.not_found|^thread\.not_found/),
          });
    }
    expect(asked).toBeGreaterThan(0);
    other.close();
  });

  test("[RUN95] files removed from outside in mid-run: the run ends visibly, others go on", async () => {
    const scene = await stage.scene();
    const { id, run } = await answering(scene, "removed");
    const { id: other } = await scene.start();
    const away = join(scene.root, "away");
    renameSync(scene.path(id), away);
    scene.model.open("removed");
    const ended = await scene.ended(run.id);
    expect(ended).toMatchObject({ status: "failed", error: { message: expect.any(String) } });
    expect(ended.error?.code).toMatch(/^(thread|atsf)\./);
    expect(await unheld(scene, run.id)).toEqual([]);
    await expectUsable(scene, other);
    renameSync(away, scene.path(id));
    await soon(() => looks.found(scene, id)).toMatchObject({ id, status: "idle" });
    await expectUsable(scene, id);
    expect((await said(scene, id))[0]).toBe("the question");
    await verifyAll(scene);
  });

  test("[RUN95] files removed while a tool runs: the run ends visibly", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    const words = `removed ${kind.name}`;
    scene.plays(calls("held_work", { words }), says("Never said."));
    const { run } = await scene.startRun(id, "Work!");
    await held.began(1);
    rmSync(join(scene.root, ".agent"), { recursive: true });
    await soon(() => looks.found(scene, id)).toBeUndefined();
    held.release(words);
    const ended = await scene.ended(run.id);
    expect(ended.status).toMatch(/^(failed|completed)$/);
    expect(await scene.wire.error("run/start", { thread_id: id, content: "x" })).toMatchObject({
      code: -32602,
    });
    const { id: next } = await scene.start();
    await expectUsable(scene, next);
  });

  test("[RUN96] a log that can't be written ends the run visibly; when it can, the thread goes on", async () => {
    const scene = await stage.scene();
    const { id, run } = await answering(scene, "log");
    const log = scene.path(id, "messages.jsonl");
    renameSync(log, `${log}.away`);
    mkdirSync(log);
    scene.model.open("log");
    const ended = await scene.ended(run.id);
    expect(ended).toMatchObject({
      status: "failed",
      error: { code: expect.stringMatching(/^(atsf|thread)\./) },
    });
    rmSync(log, { recursive: true });
    renameSync(`${log}.away`, log);
    await soon(async () => (await looks.found(scene, id))?.message_count).toBe(1);
    await expectUsable(scene, id);
    expect(scene.lines(id)).toHaveLength(3);
    await verifyAll(scene);
  });

  /** Blobs that a run's journal names and that nothing keeps from being collected. */
  async function unheld(scene: RunScene, run_id: string): Promise<string[]> {
    const named = JSON.stringify(await scene.journal(run_id)).matchAll(/"sha256:([0-9a-f]{64})"/g);
    const database = await openDatabase(stage.gateway().place);
    const used = "select blob_id from blob_use union select blob_id from history";
    const rows = await database.all(`select hash from blob where id in (${used})`);
    await database.close();
    const held = new Set(rows.map(({ hash }) => hash));
    return [...named].flatMap(([, hash]) => (held.has(hash) ? [] : [hash as string]));
  }

  /** Runs work while the store can be read but takes no change. */
  async function whileCommitsFail(work: () => Promise<void>): Promise<void> {
    const database = await openDatabase(stage.gateway().place);
    if (kind.name === "sqlite") await database.all("pragma legacy_alter_table = on");
    await database.all("alter table notification rename to away");
    try {
      await work();
    } finally {
      await database.all("alter table away rename to notification");
      await database.close();
    }
  }

  test("[RUN97] a store that takes no change for a moment: nothing is lost, nothing is there twice; [RUN98] no tool is called again", async () => {
    const scene = await stage.scene();
    const { workspace_id } = scene;
    const { id, run } = await answering(scene, "store");
    const { id: busy } = await scene.start();
    const words = `unrecorded ${busy}`;
    scene.plays({ steps: [{ text: "I work." }, ...calls("held_work", { words }).steps] });
    const { run: working } = await scene.startRun(busy, "Work!");
    await soon(() => held.begun.includes(words)).toBe(true);
    await scene.wire.result("run/steer", { run_id: working.id, content: "Hurry!" });
    await whileCommitsFail(async () => {
      const refused = await scene.wire.error("run/start", { workspace_id, thread_id: id, content: "later" });
      expect(refused).toMatchObject({ code: -32603, data: { kind: "internal" } });
      scene.model.open("store");
      held.release(words);
      await soon(() => [scene.lines(id).length, scene.lines(busy).length]).toEqual([2, 3]);
      // What stands in the log is committed a moment later: that is what has to fail.
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    });
    expect((await scene.ended(run.id)).status).toMatch(/^(completed|failed)$/);
    const ended = await scene.ended(working.id);
    expect(ended).toMatchObject({ status: "failed", steps: 1, error: { code: "internal" } });
    expect(held.begun.filter((each) => each === words)).toHaveLength(1);
    scene.model.forget();
    for (const each of [id, busy]) await expectUsable(scene, each);
    expect(await said(scene, id)).toEqual(["the question", "I was going to.", "and now?", "All is well."]);
    expect(await said(scene, busy)).toEqual(["Work!", "I work.", "Hurry!", "and now?", "All is well."]);
    expect([scene.lines(id).length, scene.lines(busy).length]).toEqual([4, 5]);
    const { messages } = JSON.parse(await scene.received(1));
    const roles = messages.slice(1).map(({ role }: { role: string }) => role);
    expect(roles).toEqual(["user", "assistant", "tool", "user", "user"]);
    await verifyAll(scene);
  });

  test("[RUN99] a run that could not be admitted leaves nothing, and what is said next is told as it is", async () => {
    const scene = await stage.scene();
    const { workspace_id } = scene;
    const { id } = await scene.start();
    await whileCommitsFail(async () => {
      for (const content of ["later", "never"]) {
        const refused = await scene.wire.error("run/start", { workspace_id, thread_id: id, content });
        expect(refused).toMatchObject({ code: -32603, data: { kind: "internal" } });
      }
    });
    expect(await scene.runs()).toEqual([]);
    expect((await scene.get(id)).status).toBe("idle");
    await scene.append(id, { role: "user", content: "later" });
    scene.plays("Both.", "All three.");
    expect((await scene.answered(id, "other")).number).toBe(1);
    await scene.answered(id, "never");
    const { messages } = JSON.parse(await scene.received(1));
    const told = messages.slice(1).map(({ content }: { content: string }) => content);
    expect(told).toEqual(["later", "other", "Both.", "never"]);
    await verifyAll(scene);
    await stage.restart();
    const later = await stage.again(scene);
    const { request } = await later.context((await later.runs(id))[0]?.id as string);
    expect(request.body).toBe(scene.model.requests[1]?.body);
  });
});

const stage = runStage(sqliteStore, {
  config: (url) => ({
    agents: [
      agentAt(url),
      { agentId: "no-model", chat: { provider: "openai-compatible", config: { baseURL: url } } },
    ],
  }),
});

test("[RUN91] a thread whose agent is unknown here is answered by the first one that can", async () => {
  const scene = await stage.scene();
  const log = line(textMessage("m1", "What I asked elsewhere"));
  scene.foreign("t-else", { envelope: { agent: { id: "else", name: "Else", protocol: "acp" } }, log });
  await soon(() => looks.found(scene, "t-else")).toMatchObject({ agent_id: "else" });
  scene.plays("Here I am.");
  const run = await scene.answered("t-else", "Who is there?");
  expect(run).toMatchObject({ agent_id: apis[0].id, model: apis[0].model });
  expect(await scene.received(0)).toContain("What I asked elsewhere");
});

test("[RUN91] an agent that can't be used is refused at once, with the reason", async () => {
  const scene = await stage.scene();
  const { id } = await scene.start({ agent_id: "no-model" });
  const error = await scene.wire.error("run/start", { thread_id: id, content: "x" });
  expect(error).toMatchObject({ code: -32600, data: { kind: "agent.unavailable" } });
  expect(error.message).toContain("model");
  expect(await scene.runs()).toEqual([]);
  expect(await scene.messages(id)).toEqual([]);
});

test("[RUN93] a worktree is not removed from under an agent at work", async () => {
  const repository = freshRepository();
  const scene = await RunScene.over(stage.gateway(), stage.model(), repository.dir);
  const { id } = await scene.start({ use_worktree: true });
  scene.plays({ steps: [{ gate: "worktree" }, { text: "Done." }] });
  const { run } = await scene.startRun(id, "Work!");
  await scene.model.request(0);
  const busy = await scene.wire.error("thread/worktree/remove", { thread_id: id });
  expect(busy).toMatchObject({ code: -32600, data: { kind: "thread.busy" } });
  scene.model.open("worktree");
  await scene.ended(run.id);
});

test.skipIf(process.getuid?.() === 0)(
  "[RUN96] [permissions] a directory that may not be written to ends the run visibly",
  async () => {
    const scene = await stage.scene();
    const { id, run } = await answering(scene, "chmod");
    await chmod(scene.path(id, "messages.jsonl"), 0o444);
    scene.model.open("chmod");
    const ended = await scene.ended(run.id);
    await chmod(scene.path(id, "messages.jsonl"), 0o644);
    expect(ended).toMatchObject({ status: "failed", error: { code: "atsf.not_writable" } });
    await expectUsable(scene, id);
  },
);
