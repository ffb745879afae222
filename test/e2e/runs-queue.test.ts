import { expect, test } from "vitest";
import type { Message } from "../../src/protocol/index.js";
import { type RunScene, runStage, says } from "../support/runs.js";
import { onEachStore, sqliteStore } from "../support/stores.js";
import { soon } from "../support/threads.js";

const textOf = ({ content }: Message) => content.map((block) => block.text).join("");
const texts = async (scene: RunScene, thread_id: string) => (await scene.messages(thread_id)).map(textOf);

/** A run under way, waiting at a gate, so that whatever is asked next has to queue. */
async function busy(scene: RunScene, gate: string, ...answers: string[]) {
  const { id } = await scene.start();
  scene.plays({ steps: [{ text: "first" }, { gate }] }, ...answers.map((text) => says(text)));
  const { run } = await scene.startRun(id, "one");
  await scene.model.request(0);
  return { id, run };
}

onEachStore("one run at a time per thread", (kind) => {
  const stage = runStage(kind);

  test("[RUN20] three messages at the same instant get three answers, in order", async () => {
    const scene = await stage.scene();
    const { id: thread_id } = await scene.start();
    scene.plays("answer 1", "answer 2", "answer 3");
    const { workspace_id } = scene;
    const wires = await Promise.all([1, 2, 3].map(() => stage.gateway().wire()));
    const started = await Promise.all(
      wires.map((wire, i) => wire.result("run/start", { workspace_id, thread_id, content: `question ${i}` })),
    );
    await Promise.all(started.map(({ run }) => scene.ended(run.id)));
    const inOrder = started.toSorted((a, b) => a.run.number - b.run.number);
    expect(inOrder.map(({ run }) => run.number)).toEqual([1, 2, 3]);
    const asked = inOrder.map(({ message }) => textOf(message));
    const log = [asked[0], "answer 1", asked[1], "answer 2", asked[2], "answer 3"];
    expect(await texts(scene, thread_id)).toEqual(log);
    expect(scene.model.requests).toHaveLength(3);
    const { messages } = JSON.parse(scene.model.requests[2]?.body as string);
    const told = messages.filter(({ role }: { role: string }) => role !== "system");
    expect(told.map(({ content }: { content: string }) => content)).toEqual(log.slice(0, 5));
    for (const run of await scene.runs(thread_id))
      expect(run).toMatchObject({ status: "completed", steps: 1 });
  });

  test("[RUN21] fifty threads at once stay independent", async () => {
    const scene = await stage.scene();
    const count = kind.name === "sqlite" ? 50 : 20;
    const threads = await Promise.all(Array.from({ length: count }, () => scene.start()));
    const turns = threads.map((_, i) => ({ when: `question ${i}.`, steps: [{ text: `answer ${i}.` }] }));
    const gate = [{ when: "question 7.", steps: [{ gate: "seven" }, { text: "answer 7." }] }];
    scene.plays(...gate, ...turns);
    const started = await Promise.all(threads.map(({ id }, i) => scene.startRun(id, `question ${i}.`)));
    const [held] = started.splice(7, 1);
    const ended = await Promise.all(started.map(({ run }) => scene.ended(run.id)));
    expect(ended.map(({ status }) => status)).toEqual(Array(count - 1).fill("completed"));
    expect((await scene.getRun(held?.run.id as string)).status).toBe("running");
    scene.model.open("seven");
    await scene.ended(held?.run.id as string);
    for (const [i, { id }] of threads.entries()) {
      expect(await texts(scene, id)).toEqual([`question ${i}.`, `answer ${i}.`]);
    }
  });

  test("[RUN22] what waits is listed with its words, and is no part of the log yet", async () => {
    const scene = await stage.scene();
    const { id, run } = await busy(scene, "list", "second", "third");
    const [second, third] = [await scene.startRun(id, "two"), await scene.startRun(id, "three")];
    expect(second.run).toMatchObject({ status: "queued", number: 2, content: "two", steps: 0 });
    expect(second.run.started_at).toBeUndefined();
    const { workspace_id } = scene;
    const listed = await scene.wire.result("run/list", {
      workspace_id,
      thread_id: id,
      status: ["queued"],
      order: "created",
    });
    expect(listed.data).toEqual([third.run, second.run]);
    expect(await texts(scene, id)).toEqual(["one"]);
    expect((await scene.get(id)).message_count).toBe(1);
    scene.model.open("list");
    await scene.ended(third.run.id);
    expect(await texts(scene, id)).toEqual(["one", "first", "two", "second", "three", "third"]);
    const log = await scene.messages(id);
    expect(log.map(({ id: message_id }) => message_id).slice(2, 4)).toEqual([
      second.message.id,
      second.run.agent_message_id,
    ]);
    const statuses = scene.wire
      .notifications("run/changed")
      .flatMap(({ params }) => (params.run.id === second.run.id ? [params.run.status] : []));
    expect(statuses).toEqual(["queued", "running", "completed"]);
    expect((await scene.getRun(second.run.id)).content).toBeUndefined();
    expect((await scene.getRun(run.id)).status).toBe("completed");
  });

  test("[RUN23] a run that waits can be edited: it keeps its place, its number and its ids", async () => {
    const scene = await stage.scene();
    const { id } = await busy(scene, "edit", "second", "third");
    const key = { idempotency_key: "edited" };
    const second = await scene.startRun(id, "two", key);
    const third = await scene.startRun(id, "three");
    const { run_id } = { run_id: second.run.id };
    const first = await scene.wire.result("run/update", { run_id, content: "two, but better" });
    expect(first.run).toEqual({ ...second.run, content: "two, but better" });
    expect(first.message).toMatchObject({ id: second.message.id, content: [{ text: "two, but better" }] });
    const more = await scene.wire.result("run/update", { run_id, config: { model: "qwen-large" } });
    expect(more.run).toMatchObject({ model: "qwen-large", content: "two, but better", number: 2 });
    const last = await scene.wire.result("run/update", { run_id, config: { max_tokens: 77 } });
    expect(last.run.model).toBe("qwen-large");
    // Who asks again with its key is told what it says now.
    expect((await scene.startRun(id, "two", key)).message).toEqual(last.message);
    scene.model.open("edit");
    await scene.ended(third.run.id);
    expect(await texts(scene, id)).toEqual(["one", "first", "two, but better", "second", "three", "third"]);
    expect(JSON.parse(scene.model.requests[1]?.body as string)).toMatchObject({
      model: "qwen-large",
      max_tokens: 77,
    });
    expect(JSON.parse(scene.model.requests[2]?.body as string).model).toBe("qwen3");
    expect((await scene.getRun(run_id)).model).toBe("qwen-large");
  });

  test("[RUN24] a run that waits can be cancelled: nothing of it is ever said", async () => {
    const scene = await stage.scene();
    const { id } = await busy(scene, "remove", "third");
    const second = await scene.startRun(id, "two");
    const third = await scene.startRun(id, "three");
    const { run } = await scene.wire.result("run/cancel", { run_id: second.run.id });
    expect(run).toMatchObject({ status: "cancelled", steps: 0, ended_at: expect.any(Number) });
    expect(run).not.toHaveProperty("error");
    expect((await scene.wire.result("run/cancel", { run_id: run.id })).run).toEqual(run);
    scene.model.open("remove");
    await scene.ended(third.run.id);
    expect(await texts(scene, id)).toEqual(["one", "first", "three", "third"]);
    expect(scene.model.requests).toHaveLength(2);
    expect(scene.model.requests[1]?.body).not.toContain("two");
    scene.plays("fourth");
    await scene.answered(id, "four");
    expect((await scene.runs(id)).map(({ number }) => number)).toEqual([4, 3, 2, 1]);
  });

  test("[RUN28] what waits when the gateway stops is asked when it is back, in order", async () => {
    const scene = await stage.scene();
    const { id, run } = await busy(scene, "never");
    const second = await scene.startRun(id, "two");
    const third = await scene.startRun(id, "three");
    scene.plays("second", "third");
    await stage.restart();
    const later = await stage.again(scene);
    await soon(async () => (await later.getRun(third.run.id)).status).toBe("completed");
    expect(await later.getRun(run.id)).toMatchObject({ status: "interrupted" });
    expect(await texts(later, id)).toEqual(["one", "first", "two", "second", "three", "third"]);
    const log = await later.messages(id);
    expect(log[2]).toEqual(second.message);
    expect(log[4]).toEqual(third.message);
  });
});

const stage = runStage(sqliteStore);

test("[RUN23] editing admits anew: what the thread says now counts, also for a message that stays", async () => {
  const scene = await stage.scene();
  const { id } = await busy(scene, "anew", "second", "third");
  const kept = await scene.startRun(id, "two");
  const edited = await scene.startRun(id, "three");
  await scene.update(id, { config: { model: "qwen-new" } });
  const { run } = await scene.wire.result("run/update", { run_id: edited.run.id });
  expect(run).toMatchObject({ model: "qwen-new", content: "three" });
  scene.model.open("anew");
  await scene.ended(edited.run.id);
  const models = scene.model.requests.map(({ body }) => JSON.parse(body).model);
  expect(models).toEqual(["qwen3", "qwen3", "qwen-new"]);
  expect((await scene.getRun(kept.run.id)).model).toBe("qwen3");
});

test("[RUN23] an edit that can't be used is refused and leaves the run as it was", async () => {
  const scene = await stage.scene();
  const { id, run } = await busy(scene, "refuse", "second");
  const second = await scene.startRun(id, "two");
  const run_id = second.run.id;
  const unusable = { run_id, content: "changed", config: { provider: "nobody" } };
  expect((await scene.wire.error("run/update", unusable)).data.kind).toBe("agent.unavailable");
  expect((await scene.wire.error("run/update", { run_id, content: "" })).code).toBe(-32602);
  expect(await scene.getRun(run_id)).toEqual(second.run);
  const running = await scene.wire.error("run/update", { run_id: run.id, content: "too late" });
  expect(running).toMatchObject({ code: -32600, data: { kind: "run.not_queued", status: "running" } });
  scene.model.open("refuse");
  await scene.ended(run_id);
  const ended = await scene.wire.error("run/update", { run_id, content: "too late" });
  expect(ended).toMatchObject({ code: -32600, data: { kind: "run.not_queued", status: "completed" } });
  expect(await texts(scene, id)).toEqual(["one", "first", "two", "second"]);
});

test("[RUN25] a hundred messages may wait; one more is refused, and there is room again", async () => {
  const scene = await stage.scene();
  const { id } = await busy(scene, "full");
  const { workspace_id } = scene;
  const queued = await Promise.all(Array.from({ length: 100 }, (_, i) => scene.startRun(id, `message ${i}`)));
  const more = { workspace_id, thread_id: id, content: "one too many" };
  const refused = await scene.wire.error("run/start", more);
  expect(refused).toMatchObject({ code: -32001, data: { kind: "run.queue_full", limit: 100 } });
  await scene.wire.result("run/cancel", { run_id: queued[0]?.run.id as string });
  const { run } = await scene.wire.result("run/start", { ...more, content: "last" });
  expect(run.number).toBe(102);
  scene.plays({ repeat: true, steps: [{ text: "ok" }] });
  scene.model.open("full");
  await scene.ended(run.id);
  const asked = (await texts(scene, id)).filter((_, at) => at % 2 === 0);
  const waited = queued.toSorted((a, b) => a.run.number - b.run.number).map(({ message }) => textOf(message));
  expect(asked).toEqual([
    "one",
    ...waited.filter((text) => text !== textOf(queued[0]?.message as Message)),
    "last",
  ]);
});

test("[RUN26] a run that fails or is cancelled lets the next one begin", async () => {
  const scene = await stage.scene();
  const { id, run } = await busy(scene, "never opened");
  const second = await scene.startRun(id, "two");
  const third = await scene.startRun(id, "three");
  scene.plays({ steps: [{ status: 400, body: "no" }] }, says("third"));
  await scene.wire.result("run/cancel", { run_id: run.id });
  await scene.ended(third.run.id);
  const statuses = (await scene.runs(id)).map(({ status }) => status);
  expect(statuses).toEqual(["completed", "failed", "cancelled"]);
  expect(await texts(scene, id)).toEqual(["one", "first", "two", "three", "third"]);
  expect((await scene.getRun(second.run.id)).error?.code).toBe("provider.bad_request");
});

test("[RUN27] a message with an image waits with its image", async () => {
  const scene = await stage.scene();
  const { id } = await busy(scene, "image", "A cat.", "A dog.");
  const data = Buffer.from("89504e470d0a1a0a00000001", "hex").toString("base64");
  const image = { type: "image" as const, data, mimeType: "image/png" };
  const { run } = await scene.startRun(id, [{ type: "text", text: "Look" }, image]);
  expect(run.content).toBe("Look\n[image]");
  // Editing its settings alone keeps the image.
  await scene.wire.result("run/update", { run_id: run.id, config: { max_tokens: 50 } });
  scene.model.open("image");
  await scene.ended(run.id);
  expect(scene.model.requests[1]?.body).toContain(data);
  const question = (await scene.messages(id))[2];
  expect(question?.content).toMatchObject([{ text: "Look" }, { type: "image", mimeType: "image/png" }]);
});

test("[RUN29] what waits can be read whole, edited and given back", async () => {
  const scene = await stage.scene();
  const { id, run: busyRun } = await busy(scene, "whole", "Done.", "Done too.");
  const read = (run_id: string) => scene.wire.result("run/get", { run_id, with_content: true });
  const long = "word ".repeat(400);
  const plain = await scene.startRun(id, long);
  expect((await read(plain.run.id)).content).toBe(long);
  const data = Buffer.from("89504e470d0a1a0a00000001", "hex").toString("base64");
  const blocks = [
    { type: "text" as const, text: "Look" },
    { type: "image" as const, data, mimeType: "image/png" },
  ];
  const { run } = await scene.startRun(id, blocks);
  const { content } = await read(run.id);
  expect(content).toEqual(blocks);
  await scene.wire.result("run/update", { run_id: run.id, content });
  expect((await read(run.id)).content).toEqual(blocks);
  expect(await scene.wire.result("run/get", { run_id: run.id })).not.toHaveProperty("content");
  expect(await read(busyRun.id)).not.toHaveProperty("content");
  scene.model.open("whole");
  await scene.ended(run.id);
  expect(scene.model.requests[2]?.body).toContain(data);
});
