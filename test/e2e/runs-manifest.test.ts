import { writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { takeApart } from "../support/bodies.js";
import { agentAt, apis, calls, FEW_PLUGINS, type RunScene, runStage, says } from "../support/runs.js";
import { sqliteStore } from "../support/stores.js";

const ref = expect.stringMatching(/^sha256:[0-9a-f]{64}$/);
const hash = expect.stringMatching(/^[0-9a-f]{64}$/);
const count = expect.any(Number);
const FILES = ["files_edit", "files_list", "files_read", "files_search", "files_write"];

const scopes = {
  allows: { toolAllowlist: ["files_*"] },
  allowsNone: { toolAllowlist: [] },
  denies: { toolDenylist: ["files_read"] },
  incapable: { capabilityAllowlist: ["lists.*"] },
  barred: { capabilityDenylist: ["files.read"] },
};

const config = (url: string) => ({
  agents: [
    agentAt(url, apis[0], { systemPrompt: "Answer in verse." }),
    ...Object.entries(scopes).map(([agentId, scope]) => agentAt(url, apis[0], { agentId, ...scope })),
  ],
});

const stage = runStage(sqliteStore, { config });

async function answeredRun(scene: RunScene, thread_id: string, content = "Hm?") {
  return scene.manifest((await scene.answered(thread_id, content)).id);
}

describe("a manifest", () => {
  test("[TLD30] it has every field, and the sections in their order", async () => {
    const scene = await stage.scene();
    const doc = await scene.saveDoc("Be brief.");
    const { id } = await scene.start();
    scene.plays("Yes.");
    const manifest = await answeredRun(scene, id);
    const tools = await scene.wire.result("tool/list", { workspace_id: scene.workspace_id });
    expect(tools.data.map(({ name }) => name)).toEqual([...FILES, "system_time"]);
    const size = { chars: count, tokens_estimate: count, truncation: "none" };
    expect(manifest).toEqual({
      compiler_version: "1",
      step: 1,
      agent_id: "openai-compatible",
      provider: "openai-compatible",
      model: "qwen3",
      params: {},
      sections: [
        {
          id: "base",
          title: "System prompt of the agent",
          source: { kind: "agent", ref, agent_id: "openai-compatible", generated: false },
          ...size,
          chars: "Answer in verse.".length,
        },
        {
          id: "agents_md",
          title: "AGENTS.md",
          source: expect.objectContaining({ kind: "hook", ref, documents: [expect.anything()] }),
          ...size,
        },
        {
          id: "tools",
          title: "Available tools",
          source: expect.objectContaining({ kind: "hook", ref, hook_id: "heddle.tools_prompt" }),
          ...size,
        },
      ],
      hook_sources: [
        expect.objectContaining({ section_id: "agents_md", priority: 10, source_count: 1 }),
        expect.objectContaining({ section_id: "tools", priority: 20, source_count: 0 }),
      ],
      message_refs: [ref, ref, ref, ref],
      history: { messages: 1, chars: "Hm?".length, tokens_estimate: count, list_hash: hash },
      window: { context: 128_000, reserved: 4_096, tokens_estimate: count },
      stable_prefix_hash: hash,
      tools: [
        { name: "files_edit", offered: true, approval: "ask" },
        { name: "files_list", offered: true },
        { name: "files_read", offered: true },
        { name: "files_search", offered: true },
        { name: "files_write", offered: true, approval: "ask" },
        { name: "system_time", offered: true },
      ],
      tools_ref: ref,
      request_hash: hash,
    });
    expect(manifest.sections[1]?.source.documents).toEqual([
      { kind: "document", id: doc.id, version: doc.version },
    ]);
  });

  test("[TLD31] the refs are those of the context, and of every message one", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    scene.plays(calls("system_time"), "Late.", "Yes.");
    const first = await scene.answered(id, "What time is it?");
    const second = await scene.answered(id, "Sure?");
    for (const [run, steps] of [
      [first, [1, 2]],
      [second, [1]],
    ] as const) {
      for (const step of steps) {
        const { message_refs, sections, history } = await scene.manifest(run.id, step);
        const { messages } = await scene.context(run.id, step);
        expect(message_refs).toEqual(messages.map((message) => message.ref));
        expect(message_refs.slice(0, sections.length)).toEqual(sections.map(({ source }) => source.ref));
        expect(history.messages).toBe(message_refs.length - sections.length);
      }
    }
    expect((await scene.manifest(second.id)).history.messages).toBe(5);
  });

  test("[TLD32] sizes are characters as they are and tokens by estimate; the provider's own stand on the run", async () => {
    const scene = await stage.scene();
    const text = "Zw\u00f6lf Boxk\u00e4mpfer \u{1F9F5}\u{1F9F5}";
    const { id } = await scene.start();
    scene.plays({ steps: [{ text: "Yes." }, { usage: { input: 321, output: 7, cached_input: 300 } }] });
    const run = await scene.answered(id, text);
    const { sections, history, window } = await scene.manifest(run.id);
    expect(history.chars).toBe([...text].length);
    expect(history.tokens_estimate).toBeGreaterThan(5);
    const before = sections.reduce((sum, section) => sum + section.tokens_estimate, 0);
    expect(window.tokens_estimate).toBeGreaterThanOrEqual(before + history.tokens_estimate);
    expect(run.usage).toMatchObject({ input: 321, output: 7, cached_input: 300 });
  });

  test("[TLD33] the prefix's hash is the same from run to run and in every step, and another after a change", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    scene.plays(calls("system_time"), "1", "2", "3", "4", "5");
    const run = await scene.answered(id, "One?");
    const steps = [await scene.manifest(run.id, 1), await scene.manifest(run.id, 2)];
    const second = await answeredRun(scene, id);
    const hashes = [...steps, second].map(({ stable_prefix_hash }) => stable_prefix_hash);
    expect(new Set(hashes).size).toBe(1);
    expect(second.prefix_changed_at).toBeUndefined();
    await scene.saveDoc("Be brief.");
    const third = await answeredRun(scene, id);
    expect(third.stable_prefix_hash).not.toBe(hashes[0]);
    const other = await scene.start();
    const elsewhere = await answeredRun(scene, other.id);
    expect(elsewhere.stable_prefix_hash).toBe(third.stable_prefix_hash);
  });

  test("[TLD34] prefix_changed_at names the first section that differs from the run before", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    scene.model.play([{ ...says("Yes."), repeat: true }]);
    const changedAt = async (config?: object) =>
      (await scene.manifest((await scene.answered(id, "Hm?", { config })).id)).prefix_changed_at;
    expect(await changedAt()).toBeUndefined();
    await scene.saveDoc("Be brief.");
    expect(await changedAt()).toBe("agents_md");
    expect(await changedAt()).toBeUndefined();
    await scene.saveDoc("Be long.");
    expect(await changedAt()).toBe("agents_md");
    await scene.wire.result("thread/agents_doc/archive", { workspace_id: scene.workspace_id });
    expect(await changedAt()).toBe("agents_md");
    const prompt = await scene.blob({ text: "Another base." });
    expect(await changedAt({ prompt_refs: [prompt] })).toBe("base");
    const more = await scene.blob({ text: "And more." });
    expect(await changedAt({ prompt_refs: [prompt, more] })).toBe("base.2");
    expect(await changedAt({ prompt_refs: [prompt] })).toBe("base.2");
    expect(await changedAt()).toBe("base");
    expect(await changedAt({ model: "qwen4" })).toBe("model");
    expect(await changedAt({ model: "qwen4", max_tokens: 99 })).toBe("model");
  });

  test("[TLD35] tools that are not offered are named with the reason, and are not in the request", async () => {
    const scene = await stage.scene();
    const reasons = {
      allows: undefined,
      allowsNone: "not in the agent's toolAllowlist",
      denies: "in the agent's toolDenylist (files_read)",
      incapable: "its capability files.read is not in the agent's capabilityAllowlist",
      barred: "its capability files.read is in the agent's capabilityDenylist (files.read)",
    };
    for (const [at, [agent_id, reason]] of Object.entries(reasons).entries()) {
      const { id } = await scene.start({ agent_id });
      scene.plays("Yes.");
      const manifest = await answeredRun(scene, id);
      const { tools } = manifest;
      expect(tools.map(({ name }) => name)).toEqual([...FILES, "system_time"]);
      expect(tools.at(-1)).toEqual({ name: "system_time", offered: true });
      expect(tools.find(({ name }) => name === "files_read")).toEqual(
        reason === undefined
          ? { name: "files_read", offered: true }
          : { name: "files_read", offered: false, reason },
      );
      const body = await scene.received(at);
      const offered = takeApart("chat", body).rest.tools.map(
        (tool: { function: { name: string } }) => tool.function.name,
      );
      expect(offered).toEqual(manifest.tools.filter((tool) => tool.offered).map(({ name }) => name));
      expect(body.includes("Available tools:")).toBe(offered.length > 1);
      const blob = await scene.wire.result("blob/get", { ref: manifest.tools_ref as string });
      const kept = JSON.parse(Buffer.from(blob.content_base64, "base64").toString());
      expect(kept.map(({ name }: { name: string }) => name)).toEqual(offered);
    }
  });

  test("[TLD36] the request's hash is a function of what is sent: the same in another thread, another with other words", async () => {
    const scene = await stage.scene();
    scene.model.play([{ ...says("Yes."), repeat: true }]);
    const [one, two] = [await scene.start(), await scene.start()];
    const first = await answeredRun(scene, one.id, "The same.");
    const again = await answeredRun(scene, two.id, "The same.");
    const next = await answeredRun(scene, two.id, "The same.");
    expect(again.request_hash).toBe(first.request_hash);
    expect(next.request_hash).not.toBe(first.request_hash);
    expect((await scene.preview(one.id, { content: "The same." })).manifest.request_hash).toBe(
      next.request_hash,
    );
    const other = await scene.answered(two.id, "x", { config: { max_tokens: 9 } });
    const plain = await scene.preview(one.id, { content: "x", config: { max_tokens: 9 } });
    expect((await scene.manifest(other.id)).request_hash).not.toBe(plain.manifest.request_hash);
  });

  test("[TLD37] model parameters, model and agent are those that were frozen", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ config: { max_tokens: 77, reasoning_effort: "low" } });
    scene.plays("1", "2");
    expect(await answeredRun(scene, id)).toMatchObject({
      params: { max_tokens: 77, reasoning_effort: "low" },
      window: { reserved: 77 },
    });
    expect(takeApart("chat", await scene.received(0)).rest).toMatchObject({ max_tokens: 77 });
    const run = await scene.answered(id, "x", { config: { max_tokens: null, model: "other" } });
    expect(await scene.manifest(run.id)).toMatchObject({
      model: "other",
      params: { reasoning_effort: "low" },
    });
    expect(takeApart("chat", await scene.received(1)).rest).not.toHaveProperty("max_tokens");
  });

  test("[TLD38] a changed configuration counts from the next run after a restart, and the record keeps the old one", async () => {
    const before = await stage.scene();
    const { id } = await before.start();
    before.plays("1", "2");
    const first = await before.answered(id, "One?");
    const manifest = await before.manifest(first.id);
    const { url } = before.model;
    writeFileSync(
      stage.configFile(),
      JSON.stringify({
        plugins: FEW_PLUGINS,
        agents: [agentAt(url, apis[0], { systemPrompt: "New.", toolAllowlist: [] })],
      }),
    );
    await stage.restart();
    const scene = await stage.again(before);
    const second = await answeredRun(scene, id, "Two?");
    expect(second).toMatchObject({
      prefix_changed_at: "base",
      tools: [...FILES.map((name) => ({ name, offered: false })), { name: "system_time", offered: true }],
    });
    expect(takeApart("chat", await scene.received(1)).items[0]).toContain('"content":"New."');
    expect(await scene.manifest(first.id)).toEqual(manifest);
    expect((await scene.context(first.id)).request).toMatchObject({
      body: await scene.received(0),
      exact: true,
    });
    writeFileSync(stage.configFile(), JSON.stringify(config(url)));
    await stage.restart();
  });
});
