import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startApp } from "../../src/app/index.js";
import { MortalGateway, reached } from "../support/mortal-gateway.js";
import { ownGit, Workshop } from "../support/repository.js";
import { runStage, says } from "../support/runs.js";
import { Wire } from "../support/wire.js";

const stage = runStage();

beforeEach(() => {
  ownGit();
});
afterEach(() => {
  vi.unstubAllEnvs();
});

test("[RUN120] a run that waits for its worktree to be set up can be cancelled at once", async () => {
  const shop = await Workshop.open(stage.gateway());
  await shop.trusted({ postSetupCommands: [{ command: "sleep 30" }] });
  const { id } = await shop.startInWorktree();
  const { run } = await shop.wire.result("run/start", { thread_id: id, content: "hello" });
  const began = performance.now();
  const { run: ended } = await shop.wire.result("run/cancel", { run_id: run.id });
  expect(ended.status).toBe("cancelled");
  expect(performance.now() - began).toBeLessThan(10_000);
  expect(await shop.texts(id)).toEqual(["hello"]);
  await shop.wire.result("thread/delete", { thread_id: id });
});

test("[RUN121] two people who edit a queued run at the same time both have their way", async () => {
  const scene = await stage.scene();
  const { id } = await scene.start();
  scene.plays({ steps: [{ text: "Begun" }, { hang: true }] }, says("Done."));
  const first = await scene.startRun(id, "first");
  await vi.waitFor(() => expect(stage.model().requests).toHaveLength(1), { timeout: 20_000 });
  const { run } = await scene.startRun(id, "old words");
  const { wire } = scene;
  await Promise.all([
    wire.result("run/update", { run_id: run.id, content: "new words" }),
    wire.result("run/update", { run_id: run.id, config: { model: "another" } }),
  ]);
  await wire.result("run/cancel", { run_id: first.run.id });
  expect(await scene.ended(run.id)).toMatchObject({ status: "completed", model: "another" });
  const body = stage.model().requests.at(-1)?.body ?? "";
  expect(body).toContain("new words");
  expect(body).not.toContain("old words");
  expect(body).toContain("another");
});

test("[TLD145] what somebody has edited in the log is told as it stands there", async () => {
  const scene = await stage.scene();
  const { id } = await scene.start();
  scene.plays("The first answer.", "The second answer.", "The third answer.");
  await scene.ask(id, "my mistaken question");
  await scene.ask(id, "go on");
  const log = join(scene.root, ".agent/threads", id, "messages.jsonl");
  const text = readFileSync(log, "utf8");
  writeFileSync(
    log,
    text
      .replace("my mistaken question", "my better question")
      .replace("The second answer.", "A mended answer."),
  );
  await scene.ask(id, "and now?");
  const body = stage.model().requests.at(-1)?.body ?? "";
  expect(body).toContain("my better question");
  expect(body).not.toContain("mistaken");
  expect(body).toContain("A mended answer.");
  expect(body).toContain("The first answer.");
});

test("[RCV40] whoever is the first to touch a run that was left behind finds what it had said", async () => {
  const gateway = await MortalGateway.make();
  try {
    const scene = await gateway.start();
    const { id } = await scene.start();
    gateway.plays({ steps: [{ text: ["Half ", "an"] }, { hang: true }] });
    const { run } = await scene.startRun(id, "tell me");
    await reached(async () => {
      const types = (await scene.journal(run.id)).map(({ type }) => type);
      expect(types).toContain("effect.progress");
    });
    await gateway.kill();
    const app = await startApp({ dataDir: gateway.place.dataDir, logLevel: "silent", takeUpRuns: false });
    const { url, token } = await app.listen({ host: "127.0.0.1", port: 0 });
    const wire = await Wire.open(url, token);
    const { run: ended } = await wire.result("run/cancel", { run_id: run.id });
    expect(ended.status).toBe("interrupted");
    const { data } = await wire.result("thread/messages", { thread_id: id, order: "asc" });
    expect(data.map(({ content }) => content[0]?.text)).toEqual(["tell me", "Half an"]);
    wire.close();
    await app.stop();
  } finally {
    await gateway.remove().catch(() => {});
  }
});

test("[RCV41] a gateway that takes nothing up leaves what it only looked at", async () => {
  const gateway = await MortalGateway.make();
  try {
    const scene = await gateway.start();
    const { id } = await scene.start();
    gateway.plays({ steps: [{ hang: true }] }, says("Asked again."));
    const { run } = await scene.startRun(id, "tell me");
    await reached(() => expect(gateway.model.requests).toHaveLength(1));
    await gateway.kill();
    const app = await startApp({ dataDir: gateway.place.dataDir, logLevel: "silent", takeUpRuns: false });
    const { url, token } = await app.listen({ host: "127.0.0.1", port: 0 });
    const wire = await Wire.open(url, token);
    expect((await wire.call("thread/clear", { thread_id: id })).error).toMatchObject({
      data: { kind: "thread.busy" },
    });
    wire.close();
    await app.stop();
    expect(gateway.model.requests).toHaveLength(1);
    const again = await gateway.start();
    await reached(async () => expect((await again.getRun(run.id)).status).toBe("completed"));
  } finally {
    await gateway.remove().catch(() => {});
  }
});
