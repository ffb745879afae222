import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { canonicalJson } from "../../src/base/index.js";
import { takeApart } from "../support/bodies.js";
import type { ServerTurn } from "../support/model-server/script.js";
import { agentAt, apis, calls, forEachApi, type RunScene, runStage, verifyAll } from "../support/runs.js";
import { onPostgres, sqliteStore } from "../support/stores.js";

const PIXEL = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]).toString("base64");
const question = [
  { type: "text" as const, text: 'What is "this"? </x> \u{1F9F5}\u2028' },
  { type: "image" as const, data: PIXEL, mimeType: "image/png" },
];

/** Thoughts with what their server wants back, words, and calls: everything an answer can have. */
const thoughtful: ServerTurn = {
  steps: [
    { thinking: ["First I ", "look. \u{1F9F5}"], signature: "c2lnbmF0dXJl" },
    { text: ["Let me ", "read it."] },
    {
      tool_call: { id: "call_1", name: "files_read", arguments: ['{"path":', '"a.txt"}'], signature: "c2ln" },
    },
    { tool_call: { id: "call_2", name: "nothing_such", arguments: '{"z":1,"a":{"c":2,"b":3}}' } },
    { usage: { input: 10, output: 5 } },
  ],
};

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** What `run/context` shows of each step is what the server got. */
async function expectExact(scene: RunScene, run_id: string, from = 0): Promise<void> {
  const { steps } = await scene.getRun(run_id);
  for (let step = 1; step <= steps; step++) {
    const sent = await scene.model.request(from + step - 1);
    const context = await scene.context(run_id, step);
    expect(context.step).toBe(step);
    expect(context.request).toEqual({
      url: `${scene.model.url}${sent.path}`,
      body: sent.body,
      sha256: sha256(sent.body),
      exact: true,
    });
  }
}

const config = (url: string) => ({
  agents: [
    ...apis.map((api) => agentAt(url, api, { chat: { reasoningEffort: "low", maxTokens: 9_000 } })),
    { agentId: "demo", chat: { provider: "demo", config: { delayMs: 0 } } },
    {
      agentId: "scripted",
      chat: {
        provider: "scripted",
        model: "s",
        config: {
          turns: [calls("files_read", { path: "a.txt" }), { steps: [{ text: "So." }], repeat: true }],
        },
      },
    },
  ],
});

describe("what was sent", () => {
  const stage = runStage(sqliteStore, { config });

  forEachApi("exact bytes", ({ id: agent_id }) => {
    test("[TLD1] each step's context is what the server got, byte for byte: images, calls, thoughts", async () => {
      const scene = await stage.scene();
      scene.write("a.txt", "the text of a\n");
      const { id } = await scene.start({ agent_id });
      scene.plays(thoughtful, "It says so.", "Indeed.");
      const run = await scene.answered(id, question);
      expect(run.steps).toBe(2);
      expect(scene.model.requests).toHaveLength(2);
      await expectExact(scene, run.id);
      expect(await scene.received(1)).toContain("the text of a");
      const next = await scene.answered(id, "Sure?");
      await expectExact(scene, next.id, 2);
      await verifyAll(scene);
    });
  });

  forEachApi("thoughts", ({ id: agent_id }) => {
    test("[TLD2] what a server wants back with a thought goes back, and with the next run too", async () => {
      const scene = await stage.scene();
      const { id } = await scene.start({ agent_id });
      scene.plays(thoughtful, "It says so.", "Indeed.");
      await scene.answered(id, "Think.");
      await scene.answered(id, "And?");
      const goesBack = agent_id !== "openai-compatible";
      for (const index of [1, 2]) {
        expect((await scene.received(index)).includes("c2lnbmF0dXJl")).toBe(goesBack);
        expect((await scene.received(index)).includes("First I look.")).toBe(goesBack);
      }
    });
  });

  test("[TLD1] providers without a network show what they were given, too", async () => {
    const scene = await stage.scene();
    scene.write("a.txt", "the text of a\n");
    for (const agent_id of ["demo", "scripted"]) {
      const { id } = await scene.start({ agent_id });
      const run = await scene.answered(id, "What time is it?");
      expect(run.steps).toBe(2);
      for (const step of [1, 2]) {
        const { request } = await scene.context(run.id, step);
        expect(request).toMatchObject({ url: `heddle:${agent_id}`, exact: true });
        expect(request.sha256).toBe(sha256(request.body));
      }
    }
  });

  test("[TLD3] messages stand in the order they were sent, by ref, with their section or message", async () => {
    const scene = await stage.scene();
    scene.write("a.txt", "the text of a\n");
    const doc = await scene.saveDoc("Be brief.");
    const { id } = await scene.start();
    scene.plays(thoughtful, "It says so.");
    const { id: run_id, user_message_id, agent_message_id } = await scene.answered(id, question);
    const { messages } = await scene.context(run_id);
    const said = { message_id: agent_message_id };
    expect(messages.map(({ role, section_id, message_id }) => ({ role, section_id, message_id }))).toEqual([
      { role: "system", section_id: "base" },
      { role: "system", section_id: "agents_md" },
      { role: "system", section_id: "tools" },
      { role: "user", message_id: user_message_id },
      { role: "assistant", ...said },
      { role: "tool", ...said },
      { role: "tool", ...said },
    ]);
    expect(messages[1]?.content).toContain(`version="${doc.version}">\nBe brief.\n</AGENTS_MD>`);
    expect(messages[3]?.content).toEqual([question[0], question[1]]);
    expect(messages[4]?.tool_calls).toMatchObject([{ id: "call_1" }, { id: "call_2" }]);
    expect(messages.slice(5).map(({ tool_call_id }) => tool_call_id)).toEqual(["call_1", "call_2"]);
    for (const { ref, section_id: _s, message_id: _m, ...told } of messages) {
      const blob = await scene.wire.result("blob/get", { ref });
      expect(blob.messages).toMatchObject([told]);
      expect(Buffer.from(blob.content_base64, "base64").toString()).toBe(canonicalJson(blob.messages?.[0]));
    }
  });

  test("[TLD4] no key and no header stands in what is shown", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    scene.plays("Yes.");
    const run = await scene.answered(id, "Hm?");
    const shown = [await scene.context(run.id), await scene.manifest(run.id), await scene.journal(run.id)];
    expect(JSON.stringify(shown)).not.toMatch(/test-key|authorization/i);
  });

  test("[TLD5] a step that was not sent, or not yet, says so by having no hash", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    scene.plays({ steps: [{ gate: "tld5" }, { text: "Yes." }] });
    const { run } = await scene.startRun(id, "Hm?");
    const sent = await scene.received(0);
    const { request } = await scene.context(run.id);
    expect(request).toEqual({ url: `${scene.model.url}/v1/chat/completions`, body: sent });
    scene.model.open("tld5");
    await scene.ended(run.id);
    await expectExact(scene, run.id);
  });

  test("[TLD6] a step that does not exist is run.no_step; without a number it is the last one", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    scene.plays(calls("system_time"), "Late.");
    const { id: run_id } = await scene.answered(id, "What time is it?");
    for (const method of ["run/context", "run/manifest"]) {
      const error = await scene.wire.error(method, { run_id, step: 3 });
      expect(error).toMatchObject({ code: -32602, data: { kind: "run.no_step", run_id, step: 3, steps: 2 } });
      expect(await scene.wire.error(method, { run_id, step: 0 })).toMatchObject({ code: -32602 });
    }
    expect(await scene.context(run_id)).toEqual(await scene.context(run_id, 2));
    expect(await scene.manifest(run_id)).toEqual(await scene.manifest(run_id, 2));
    expect((await scene.manifest(run_id, 1)).step).toBe(1);
  });

  test("[TLD7] what was sent stays shown after a restart, and after the thread was cleared", async () => {
    let scene = await stage.scene();
    const { id } = await scene.start();
    scene.plays(calls("system_time"), "Late.", "Later.", "New.");
    const first = await scene.answered(id, question);
    const second = await scene.answered(id, "And now?");
    await stage.restart();
    scene = await stage.again(scene);
    await expectExact(scene, first.id);
    await expectExact(scene, second.id, 2);
    await scene.wire.result("thread/clear", { thread_id: id });
    const third = await scene.answered(id, "Anew.");
    await expectExact(scene, first.id);
    await expectExact(scene, second.id, 2);
    await expectExact(scene, third.id, 3);
    expect(takeApart("chat", await scene.received(3)).items).toHaveLength(2);
    await verifyAll(scene);
  });

  test("[TLD8] a step that was sent again after a refusal is shown once, as it was sent each time", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    scene.plays({ steps: [{ status: 503 }] }, { steps: [{ status: 429 }] }, "Well.");
    const run = await scene.answered(id, "Hm?");
    expect(run.steps).toBe(1);
    const bodies = scene.model.requests.map(({ body }) => body);
    expect(bodies).toHaveLength(3);
    expect(new Set(bodies).size).toBe(1);
    await expectExact(scene, run.id);
  });
});

onPostgres("what was sent", (kind) => {
  const stage = runStage(kind, { config });

  test("[TLD1] the bytes shown are the bytes sent, after a restart too", async () => {
    let scene = await stage.scene();
    scene.write("a.txt", "the text of a\n");
    const { id } = await scene.start({ agent_id: "anthropic" });
    scene.plays(thoughtful, "It says so.", "Indeed.");
    const run = await scene.answered(id, question);
    await expectExact(scene, run.id);
    await stage.restart();
    scene = await stage.again(scene);
    const next = await scene.answered(id, "Sure?");
    await expectExact(scene, run.id);
    await expectExact(scene, next.id, 2);
    await verifyAll(scene);
  });
});
