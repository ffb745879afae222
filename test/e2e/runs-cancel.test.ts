import { expect, test } from "vitest";
import type { Run } from "../../src/protocol/index.js";
import { heldTool } from "../support/held-tool.js";
import { calls, forEachApi, type RunScene, runStage, says, verifyAll, waitOn } from "../support/runs.js";
import { onEitherStore, sqliteStore } from "../support/stores.js";

const cancel = async (scene: RunScene, run_id: string): Promise<Run> =>
  (await scene.wire.result("run/cancel", { run_id })).run;

/** Waits until the first words of a run's answer have arrived here. */
async function heard(scene: RunScene, run_id: string): Promise<void> {
  const first = () => scene.wire.notifications("run/delta").find(({ params }) => params.run_id === run_id);
  await waitOn(scene.wire, first, "the first words");
}

forEachApi("cancel", (api) => {
  const stage = runStage(sqliteStore);

  test("[RUN40] cancel ends the provider's request within 200 ms and keeps what was said", async () => {
    const scene = await stage.scene();
    const times: number[] = [];
    for (const attempt of [0, 1, 2]) {
      const { id } = await scene.start({ agent_id: api.id });
      await scene.wire.result("subscribe", { thread_id: id });
      scene.plays({ steps: [{ thinking: "Hm." }, { text: "It was a dark" }, { hang: true }] });
      const { run } = await scene.startRun(id, "A story");
      const request = await scene.model.request(2 * attempt);
      await heard(scene, run.id);
      const asked = performance.now();
      const ended = await cancel(scene, run.id);
      const { at, byClient } = await request.closed;
      expect(byClient).toBe(true);
      times.push(at - asked);
      expect(ended).toMatchObject({ status: "cancelled", steps: 1, ended_at: expect.any(Number) });
      expect(ended).not.toHaveProperty("error");
      expect(await scene.getRun(run.id)).toEqual(ended);
      const [, answer] = await scene.messages(id);
      expect(answer).toMatchObject({
        id: run.agent_message_id,
        role: "agent",
        stopReason: "cancelled",
        run_id: run.id,
        content: [
          { type: "thinking", text: "Hm." },
          { type: "text", text: "It was a dark" },
        ],
      });
      expect((await scene.get(id)).status).toBe("idle");
      scene.plays("and stormy night.");
      await scene.answered(id, "Go on");
      expect(await scene.received(2 * attempt + 1)).toContain("It was a dark");
    }
    // A busy machine may be late now and then, not each time.
    expect(Math.min(...times)).toBeLessThan(200);
    await verifyAll(scene);
  });
});

onEitherStore("cancel", (kind) => {
  const held = heldTool();
  const deaf = heldTool("deaf_work", { deaf: true });
  const stage = runStage(kind, { options: { tools: [held.tool, deaf.tool] } });

  test("[RUN41] cancelled before its first word, a run leaves its question and no answer", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    scene.plays({ steps: [{ hang: true }] });
    const { run } = await scene.startRun(id, "one");
    await scene.model.request(0);
    expect(await cancel(scene, run.id)).toMatchObject({ status: "cancelled" });
    expect((await scene.messages(id)).map(({ role }) => role)).toEqual(["user"]);
    scene.plays("Both.");
    await scene.answered(id, "two");
    const { messages } = JSON.parse(await scene.received(1));
    const asked = messages.filter(({ role }: { role: string }) => role === "user");
    expect(asked.map(({ content }: { content: string }) => content)).toEqual(["one", "two"]);
    await verifyAll(scene);
  });

  test("[RUN42] cancel while a tool runs: it is told to stop, and the model is told what came of each call", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    const two = [
      ...calls("held_work", { words: "slow" }, "call_a").steps,
      ...calls("system_time", {}, "call_b").steps,
    ];
    scene.plays({ steps: [{ text: "I work." }, ...two] });
    const { run } = await scene.startRun(id, "Work!");
    await held.began(1);
    const receipts = async () =>
      (await scene.journal(run.id)).filter(({ type }) => type === "effect.receipt").length;
    await expect.poll(receipts).toBe(2);
    expect(await cancel(scene, run.id)).toMatchObject({ status: "cancelled", steps: 1 });
    expect(held.stopped).toEqual(["slow"]);
    const [, answer] = await scene.messages(id);
    expect(answer).toMatchObject({
      stopReason: "cancelled",
      content: [{ text: "I work." }, { type: "tool_call_ref" }, { type: "tool_call_ref" }],
      toolCalls: [
        { toolCallId: "call_a", status: "failed", output: expect.stringContaining("cancelled") },
        { toolCallId: "call_b", status: "completed" },
      ],
    });
    scene.plays("I stopped.");
    await scene.answered(id, "What happened?");
    const { messages } = JSON.parse(await scene.received(1));
    expect(messages.filter(({ role }: { role: string }) => role !== "system")).toMatchObject([
      { role: "user" },
      { role: "assistant", tool_calls: [{ id: "call_a" }, { id: "call_b" }] },
      { role: "tool", tool_call_id: "call_a", content: expect.stringContaining("cancelled") },
      { role: "tool", tool_call_id: "call_b", content: expect.stringContaining("UTC") },
      { role: "user", content: "What happened?" },
    ]);
    await verifyAll(scene);
  });

  test("[RUN42] a tool that does not listen holds nothing up, and what it does later changes nothing", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    scene.plays(calls("deaf_work", { words: "on" }));
    const { run } = await scene.startRun(id, "Work!");
    await deaf.began(1);
    const ended = await cancel(scene, run.id);
    expect(ended.status).toBe("cancelled");
    const before = await scene.messages(id);
    deaf.release("on");
    scene.plays("Next.");
    await scene.answered(id, "Next?");
    expect((await scene.messages(id)).slice(0, 2)).toEqual(before);
    expect(await scene.getRun(run.id)).toEqual(ended);
  });

  test("[RUN43] a run that has ended is answered unchanged, however often it is cancelled", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    scene.plays(says("Yes."), { steps: [{ status: 400, body: "no" }] }, { steps: [{ hang: true }] });
    const completed = await scene.ask(id, "one");
    const failed = await scene.ask(id, "two");
    const { run } = await scene.startRun(id, "three");
    await scene.model.request(2);
    const both = await Promise.all([cancel(scene, run.id), cancel(scene, run.id)]);
    expect(both[0]).toEqual(both[1]);
    const seq = (await scene.wire.result("subscribe", { workspace_id: scene.workspace_id })).seq;
    for (const each of [completed, failed, both[0]]) expect(await cancel(scene, each.id)).toEqual(each);
    expect([completed, failed, both[0]].map(({ status }) => status)).toEqual([
      "completed",
      "failed",
      "cancelled",
    ]);
    expect((await scene.wire.result("subscribe", { workspace_id: scene.workspace_id })).seq).toBe(seq);
    const unknown = await scene.wire.error("run/cancel", { run_id: "run_00000000000000000000000000" });
    expect(unknown).toMatchObject({ code: -32602, data: { kind: "run.not_found" } });
  });

  test("[RUN44] whenever it is cancelled, a run ends and the thread goes on", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    scene.plays({ repeat: true, steps: [{ text: "so " }, ...calls("system_time").steps] });
    const ends: string[] = [];
    for (let wait = 0; wait < 12; wait++) {
      const { run } = await scene.startRun(id, `question ${wait}`);
      await new Promise((resolve) => setTimeout(resolve, wait * 3));
      ends.push((await cancel(scene, run.id)).status);
      expect((await scene.get(id)).status).toBe("idle");
    }
    expect(new Set(ends)).toEqual(new Set(["cancelled"]));
    const asked = (await scene.messages(id)).filter(({ role }) => role === "user");
    expect(asked.map(({ content }) => content[0]?.text)).toEqual(ends.map((_, i) => `question ${i}`));
    scene.model.forget();
    scene.plays("At last.");
    await scene.answered(id, "last");
    const { messages } = JSON.parse(await scene.received(0));
    expectWellFormed(messages);
    await verifyAll(scene);
  });
});

const stage = runStage(sqliteStore);

test("[RUN45] cancel does not wait for a provider that asks for patience", async () => {
  const scene = await stage.scene();
  const { id } = await scene.start();
  // The server wants to be left alone for as long as it may ask for.
  scene.plays({ repeat: true, steps: [{ status: 429, headers: { "retry-after": "60" } }] });
  const { run } = await scene.startRun(id, "one");
  await scene.model.request(0);
  expect(await cancel(scene, run.id)).toMatchObject({ status: "cancelled" });
  const asked = scene.model.requests.length;
  scene.plays("Now.");
  await scene.answered(id, "two");
  expect(scene.model.requests).toHaveLength(asked + 1);
});

interface Sent {
  readonly role: string;
  readonly tool_calls?: readonly { readonly id: string }[];
  readonly tool_call_id?: string;
}

/** Every call is answered right behind the message that makes it, and nothing is answered that nobody called. */
function expectWellFormed(messages: readonly Sent[]): void {
  let open: string[] = [];
  for (const { role, tool_calls = [], tool_call_id } of messages) {
    if (role === "tool") {
      expect(open).toContain(tool_call_id);
      open = open.filter((each) => each !== tool_call_id);
      continue;
    }
    expect(open).toEqual([]);
    open = tool_calls.map((call) => call.id);
  }
  expect(open).toEqual([]);
}
