import { expect, test } from "vitest";
import type { Message } from "../../src/protocol/index.js";
import { heldTool } from "../support/held-tool.js";
import { calls, type RunScene, runStage, says, verifyAll } from "../support/runs.js";
import { onEitherStore, sqliteStore } from "../support/stores.js";

const saying = ({ role, content, stopReason }: Message) => ({
  role,
  said: content.map((block) => block.text ?? block.type).join(" "),
  ...(role === "agent" && { stopReason }),
});
const log = async (scene: RunScene, thread_id: string) => (await scene.messages(thread_id)).map(saying);

interface Sent {
  role: string;
  content: unknown;
  tool_calls?: unknown[];
}

/** What a request tells the model after its instructions. */
const told = (body: string | undefined): Sent[] =>
  (JSON.parse(body ?? "{}").messages as Sent[]).filter(({ role }) => role !== "system");

onEitherStore("steering", (kind) => {
  const held = heldTool();
  const stage = runStage(kind, { options: { tools: [held.tool] } });

  test("[RUN30] a steering message reaches the model with the next step", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    const words = `steer ${kind.name}`;
    scene.plays(
      { steps: [{ text: "I begin." }, ...calls("held_work", { words }).steps] },
      says("As you wish."),
    );
    const { run } = await scene.startRun(id, "Work!");
    await held.began(1);
    const steered = await scene.wire.result("run/steer", { run_id: run.id, content: "Be brief." });
    expect(steered.run).toMatchObject({ id: run.id, status: "running", steps: 1 });
    expect(steered.message).toMatchObject({ role: "user", run_id: run.id, content: [{ text: "Be brief." }] });
    held.release(words);
    const ended = await scene.ended(run.id);
    expect(ended).toMatchObject({ status: "completed", steps: 2 });
    expect(told(scene.model.requests[1]?.body)).toMatchObject([
      { role: "user", content: "Work!" },
      { role: "assistant", content: "I begin.", tool_calls: [{}] },
      { role: "tool", content: `done: ${words}` },
      { role: "user", content: "Be brief." },
    ]);
    expect(await log(scene, id)).toEqual([
      { role: "user", said: "Work!" },
      { role: "agent", said: "I begin. tool_call_ref", stopReason: "steered" },
      { role: "user", said: "Be brief." },
      { role: "agent", said: "As you wish.", stopReason: "end_turn" },
    ]);
    const messages = await scene.messages(id);
    expect(messages.map(({ run_id }) => run_id)).toEqual(Array(4).fill(run.id));
    expect(messages[1]).toMatchObject({ id: run.agent_message_id, toolCalls: [{ status: "completed" }] });
    expect(messages[2]).toEqual(steered.message);
    expect(new Set(messages.map((message) => message.id)).size).toBe(4);
  });

  test("[RUN36] what it was steered with is seen until it is told", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    scene.plays({ steps: [{ text: "I begin" }, { gate: "seen" }, { text: "." }] }, says("As you wish."));
    const { run } = await scene.startRun(id, "Work!");
    await scene.model.request(0);
    const sent: Message[] = [];
    for (const content of ["Be brief.", `Mind this. ${"x".repeat(1_000)}`])
      sent.push((await scene.wire.result("run/steer", { run_id: run.id, content })).message);
    const steering = [
      { message_id: sent[0]?.id, content: "Be brief.", created_at: expect.any(Number) },
      {
        message_id: sent[1]?.id,
        content: expect.stringMatching(/^Mind this\. x+…?$/),
        created_at: expect.any(Number),
      },
    ];
    const { workspace_id } = scene;
    expect((await scene.getRun(run.id)).steering).toEqual(steering);
    expect((await scene.wire.result("run/list", { workspace_id, thread_id: id })).data[0]?.steering).toEqual(
      steering,
    );
    scene.model.open("seen");
    expect(await scene.ended(run.id)).not.toHaveProperty("steering");
    const waiting = () =>
      scene.wire
        .notifications("run/changed")
        .filter(({ params }) => params.run.id === run.id)
        .map(({ params }) => params.run.steering?.length ?? 0);
    await expect.poll(waiting).toEqual([0, 1, 2, 0, 0]);
  });

  test("[RUN31] a run that had no next step gets one", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    scene.plays({ steps: [{ text: "The end" }, { gate: "last" }, { text: "." }] }, says("One more thing."));
    const { run } = await scene.startRun(id, "Tell me a story");
    await scene.model.request(0);
    await scene.wire.result("run/steer", { run_id: run.id, content: "Go on!" });
    scene.model.open("last");
    expect(await scene.ended(run.id)).toMatchObject({ status: "completed", steps: 2 });
    expect(await log(scene, id)).toEqual([
      { role: "user", said: "Tell me a story" },
      { role: "agent", said: "The end.", stopReason: "steered" },
      { role: "user", said: "Go on!" },
      { role: "agent", said: "One more thing.", stopReason: "end_turn" },
    ]);
    expect(told(scene.model.requests[1]?.body)).toMatchObject([
      { role: "user", content: "Tell me a story" },
      { role: "assistant", content: "The end." },
      { role: "user", content: "Go on!" },
    ]);
    scene.plays("Nothing.");
    await scene.answered(id, "What now?");
    const first = scene.model.requests[1]?.body as string;
    const next = told(scene.model.requests[2]?.body);
    expect(next.slice(0, 3)).toEqual(told(first));
    expect(next.slice(3)).toMatchObject([{ content: "One more thing." }, { content: "What now?" }]);
    await verifyAll(scene);
  });

  test("[RUN32] several steering messages are told in the order they came", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    scene.plays({ steps: [{ gate: "several" }, { text: "So far." }] }, says("All of it."));
    const { run } = await scene.startRun(id, "Begin");
    await scene.model.request(0);
    for (const content of ["a", "b", "c"]) await scene.wire.result("run/steer", { run_id: run.id, content });
    scene.model.open("several");
    await scene.ended(run.id);
    expect((await log(scene, id)).map(({ said }) => said)).toEqual([
      "Begin",
      "So far.",
      "a",
      "b",
      "c",
      "All of it.",
    ]);
    const { content } = { content: told(scene.model.requests[1]?.body).map(({ content }) => content) };
    expect(content).toEqual(["Begin", "So far.", "a", "b", "c"]);
  });

  test("[RUN34] what was steered too late is kept in the log and told with the next run", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    scene.plays({ steps: [{ text: "I was" }, { hang: true }] });
    const { run } = await scene.startRun(id, "Begin");
    await scene.wire.result("subscribe", { thread_id: id });
    await scene.model.request(0);
    await scene.wire.result("run/steer", { run_id: run.id, content: "Wait!" });
    await expect.poll(() => scene.wire.notifications("run/delta").length).toBeGreaterThan(0);
    expect((await scene.wire.result("run/cancel", { run_id: run.id })).run.status).toBe("cancelled");
    expect(await log(scene, id)).toEqual([
      { role: "user", said: "Begin" },
      { role: "agent", said: "I was", stopReason: "cancelled" },
      { role: "user", said: "Wait!" },
    ]);
    scene.plays("Here I am.");
    await scene.answered(id, "And now?");
    expect(told(scene.model.requests[1]?.body).map(({ content }) => content)).toEqual([
      "Begin",
      "I was",
      "Wait!",
      "And now?",
    ]);
    await verifyAll(scene);
  });
});

const stage = runStage(sqliteStore);

test("[RUN33] only a run that is under way can be steered", async () => {
  const scene = await stage.scene();
  const { id } = await scene.start();
  scene.plays({ steps: [{ gate: "steered" }, { text: "Yes." }] }, says("No."));
  const { run } = await scene.startRun(id, "one");
  const second = await scene.startRun(id, "two");
  await scene.model.request(0);
  const queued = await scene.wire.error("run/steer", { run_id: second.run.id, content: "x" });
  expect(queued).toMatchObject({ code: -32600, data: { kind: "run.not_running", status: "queued" } });
  for (const content of ["", [], "a\0"]) {
    expect((await scene.wire.error("run/steer", { run_id: run.id, content })).code).toBe(-32602);
  }
  scene.model.open("steered");
  await scene.ended(second.run.id);
  const ended = await scene.wire.error("run/steer", { run_id: run.id, content: "x" });
  expect(ended).toMatchObject({ code: -32600, data: { kind: "run.not_running", status: "completed" } });
  const unknown = await scene.wire.error("run/steer", { run_id: "run_0", content: "x" });
  expect(unknown.code).toBe(-32602);
  expect(await scene.messages(id)).toHaveLength(4);
});

test("[RUN34] a steering message of a run that fails is not lost", async () => {
  const scene = await stage.scene();
  const { id } = await scene.start();
  scene.plays({ steps: [{ text: "I was" }, { gate: "broken" }, { cut: true }] });
  const { run } = await scene.startRun(id, "Begin");
  await scene.model.request(0);
  await scene.wire.result("run/steer", { run_id: run.id, content: "Hurry!" });
  scene.model.open("broken");
  expect(await scene.ended(run.id)).toMatchObject({
    status: "failed",
    error: { code: "provider.broken_stream" },
  });
  expect((await log(scene, id)).map(({ said }) => said)).toEqual(["Begin", "I was", "Hurry!"]);
  scene.plays("Sorry.");
  await scene.answered(id, "Again");
  expect(told(scene.model.requests[1]?.body).map(({ content }) => content)).toEqual([
    "Begin",
    "I was",
    "Hurry!",
    "Again",
  ]);
});

test("[RUN35] each part of a steered answer has its own tokens and calls; the run has the sum", async () => {
  const scene = await stage.scene();
  const { id } = await scene.start();
  const usage = (input: number, output: number) => ({ usage: { input, output } });
  scene.plays(
    { steps: [{ gate: "tokens" }, ...calls("system_time", {}, "call_a").steps, usage(10, 1)] },
    { steps: [...calls("system_time", {}, "call_b").steps, usage(20, 2)] },
    { steps: [{ text: "Late." }, usage(30, 3)] },
  );
  const { run } = await scene.startRun(id, "When?");
  await scene.model.request(0);
  const picture = { type: "image" as const, data: "iVBORw0KGgo=", mimeType: "image/png" };
  await scene.wire.result("run/steer", { run_id: run.id, content: [picture] });
  scene.model.open("tokens");
  expect(await scene.ended(run.id)).toMatchObject({ steps: 3, usage: { input: 60, output: 6 } });
  const [, first, steered, second] = await scene.messages(id);
  expect(first).toMatchObject({ tokens: { input: 10, output: 1 }, toolCalls: [{ toolCallId: "call_a" }] });
  expect(steered?.content).toMatchObject([{ type: "image", assetRef: expect.any(String) }]);
  expect(second).toMatchObject({ tokens: { input: 50, output: 5 }, toolCalls: [{ toolCallId: "call_b" }] });
  expect(scene.model.requests[1]?.body).toContain(picture.data);
  await verifyAll(scene);
});
