import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { openDatabase } from "../support/agents-doc.js";
import { agentAt, apis, calls, type RunScene, runStage, says, verifyAll, waitOn } from "../support/runs.js";
import { onEitherStore, sqliteStore } from "../support/stores.js";

const UNKNOWN = `sha256:${"0".repeat(64)}`;

const config = (url: string) => ({
  agents: [
    agentAt(url, apis[0], { agentId: "poet", displayName: "Poet", systemPrompt: "Answer in verse." }),
    agentAt(url, apis[0], { agentId: "plain", displayName: "Plain", description: "It answers." }),
    agentAt(url, apis[0], { agentId: "mute", displayName: "Mute", description: "", toolAllowlist: [] }),
    agentAt(url, apis[0], { agentId: "blank", displayName: "Blank", systemPrompt: " \n", description: "B." }),
  ],
});

/** The base prompt as the server got it: what stands before the list of tools. */
async function baseIn(scene: RunScene, index: number): Promise<string> {
  const { messages } = JSON.parse(await scene.received(index));
  return messages[0].content.split("\n\nAvailable tools:")[0];
}

const rowsOf = (stage: ReturnType<typeof runStage>) => async (): Promise<Record<string, number>> => {
  const database = await openDatabase(stage.gateway().place);
  const counts: Record<string, number> = {};
  for (const table of ["run", "journal_event", "history", "notification", "blob_use"]) {
    counts[table] = Number((await database.all(`select count(*) as n from ${table}`))[0]?.n);
  }
  await database.close();
  return counts;
};

onEitherStore("the base prompt of a run", (kind) => {
  const stage = runStage(kind, { config });
  const rows = rowsOf(stage);

  test("[TLD40] direct refs, without a workspace binding, a pack or a sync: a run is told them, in order", async () => {
    const scene = await stage.scene();
    const one = await scene.blob({ text: "One." });
    const several = await scene.blob({
      messages: [
        { role: "developer", content: "Two.", "x-kept": true },
        { role: "user", content: "Three?" },
        { role: "assistant", content: "Four." },
      ],
    });
    const { id } = await scene.start();
    scene.plays("Yes.");
    const run = await scene.answered(id, "Hello?", { config: { prompt_refs: [one, several] } });
    const { messages } = JSON.parse(await scene.received(0));
    expect(messages).toEqual([
      { role: "system", content: expect.stringMatching(/^One\.\n\nTwo\.\n\nAvailable tools:/) },
      { role: "user", content: "Three?" },
      { role: "assistant", content: "Four." },
      { role: "user", content: "Hello?" },
    ]);
    const manifest = await scene.manifest(run.id);
    expect(manifest.sections.slice(0, 2)).toMatchObject([
      { id: "base", title: "Base prompt of the run", source: { kind: "run_refs", ref: one } },
      { id: "base.2", source: { kind: "run_refs", ref: several } },
    ]);
    const context = await scene.context(run.id);
    expect(context.messages.map(({ ref, section_id }) => [ref, section_id]).slice(0, 4)).toEqual([
      [one, "base"],
      [several, "base.2"],
      [several, "base.2"],
      [several, "base.2"],
    ]);
    expect([...new Set(context.messages.map(({ ref }) => ref))]).toEqual(manifest.message_refs);
    expect(context.request).toMatchObject({ body: await scene.received(0), exact: true });
    expect(await scene.wire.result("prompt/status", { workspace_id: scene.workspace_id })).toEqual({
      data: [],
    });
    await verifyAll(scene);
  });

  test("[TLD43] refs that are not there, hold no message or a hostile one are refused, and nothing is left", async () => {
    const scene = await stage.scene();
    const { id: thread_id } = await scene.start();
    const bytes = (text: string | Buffer) =>
      scene.blob({ content_base64: Buffer.from(text as string).toString("base64") });
    const hostile = [
      "",
      "no JSON",
      "[]",
      "null",
      '"You are free."',
      "{}",
      '{"role":"root","content":"x"}',
      '{"role":"system"}',
      '{"role":"system","content":{"toString":"x"}}',
      '{"role":"system","content":[{"type":"image","data":"AAAA","mimeType":"image/png"}]}',
      '{"role":"system","content":[{"type":"script","text":"x"}]}',
      '{"role":"user","content":[{"type":"image","data":"not base64","mimeType":"image/png"}]}',
      '{"role":"tool","content":"x"}',
      '{"role":"user","content":"x","tool_calls":[]}',
      '[{"role":"system","content":"fine"},{"role":"system","content":7}]',
      `{"role":"system","content":"x","deep":${"[".repeat(5_000)}${"]".repeat(5_000)}}`,
      Buffer.from([0x7b, 0xff, 0xfe, 0x7d]),
    ];
    const good = await scene.blob({ text: "Fine." });
    const refs = await Promise.all(hostile.map(bytes));
    const before = await rows();
    const image = { type: "image" as const, data: "iVBORw0KGgo=", mimeType: "image/png" };
    const content = [{ type: "text" as const, text: "Hello?" }, image];
    const refused = async (prompt_refs: unknown) =>
      scene.wire.error("run/start", { thread_id, content, config: { prompt_refs } });
    expect(await refused([good, UNKNOWN])).toMatchObject({
      code: -32602,
      data: { kind: "blob.not_found", ref: UNKNOWN },
    });
    for (const ref of refs) {
      expect(await refused([good, ref])).toMatchObject({
        code: -32602,
        data: { kind: "prompt.invalid", ref },
      });
    }
    for (const wrong of [[], ["x"], "x", {}, [7], [`sha256:${"A".repeat(64)}`], Array(65).fill(good)]) {
      expect(await refused(wrong)).toMatchObject({ code: -32602, data: { kind: "invalid_params" } });
    }
    expect(await rows()).toEqual(before);
    expect(await scene.runs()).toEqual([]);
    expect(await scene.messages(thread_id)).toEqual([]);
    expect(await scene.get(thread_id)).toMatchObject({ status: "idle", message_count: 0 });
    expect(existsSync(scene.path(thread_id, "assets"))).toBe(false);
    expect(scene.model.requests).toEqual([]);
    scene.plays("Yes.");
    expect(await scene.answered(thread_id, "Hello?", { config: { prompt_refs: [good] } })).toMatchObject({
      number: 1,
    });
  });

  test("[TLD46] an apply in mid-run changes nothing of that run; the next one has it", async () => {
    const scene = await stage.scene();
    const { workspace_id } = scene;
    scene.write("prompts/packs/default.json", { role: "system", content: "Pack one." });
    const { id: thread_id } = await scene.start();
    await scene.wire.result("prompt/sync", { workspace_id, thread_id });
    await scene.wire.result("prompt/apply", { workspace_id, thread_id });
    const gate = `tld46-${kind.name}`;
    scene.plays({ steps: [{ gate }, ...calls("system_time").steps] }, "Done.", "Queued.", "Edited.", "Next.");
    const { run } = await scene.startRun(thread_id, "Hello?");
    await scene.model.request(0);
    const queued = await scene.startRun(thread_id, "Queued?");
    const edited = await scene.startRun(thread_id, "To be edited.");
    scene.write("prompts/packs/default.json", [{ role: "system", content: "Pack two." }]);
    const synced = await scene.wire.result("prompt/sync", { workspace_id, thread_id });
    expect(synced).toMatchObject({ status: "pending", pending: { prompt_pack: "default" } });
    const applied = await scene.wire.result("prompt/apply", { workspace_id, thread_id });
    expect(applied).toMatchObject({ applied: true, active: synced.pending });
    await scene.wire.result("run/update", { run_id: edited.run.id, content: "Edited?" });
    scene.model.open(gate);
    await scene.ended(edited.run.id);
    await scene.answered(thread_id, "Next?");
    const told = await Promise.all([0, 1, 2, 3, 4].map((index) => baseIn(scene, index)));
    expect(told).toEqual(["Pack one.", "Pack one.", "Pack one.", "Pack two.", "Pack two."]);
    expect((await scene.manifest(run.id)).sections[0]?.source).toMatchObject({
      kind: "prompt_pack",
      pack: "default",
      root_hash: expect.stringMatching(/^sha256:/),
    });
    expect((await scene.manifest(queued.run.id)).prefix_changed_at).toBeUndefined();
    expect((await scene.manifest(edited.run.id)).prefix_changed_at).toBe("base");
    await verifyAll(scene);
  });

  test("[TLD47] an apply when_idle in mid-run is applied when that run ends", async () => {
    const scene = await stage.scene();
    const { workspace_id } = scene;
    scene.write("prompts/packs/default.json", { role: "system", content: "Pack one." });
    const { id: thread_id } = await scene.start();
    await scene.wire.result("prompt/sync", { workspace_id, thread_id });
    await scene.wire.result("prompt/apply", { workspace_id, thread_id, mode: "when_idle" });
    const gate = `tld47-${kind.name}`;
    scene.plays(calls("system_time"), { steps: [{ gate }, { text: "Done." }] }, "Next.");
    const { run } = await scene.startRun(thread_id, "Hello?");
    await scene.model.request(1);
    scene.write("prompts/packs/default.json", { role: "system", content: "Pack two." });
    const { pending } = await scene.wire.result("prompt/sync", { workspace_id, thread_id });
    const asked = await scene.wire.result("prompt/apply", { workspace_id, thread_id, mode: "when_idle" });
    expect(asked).toMatchObject({ applied: false, waiting: true, pending });
    scene.model.open(gate);
    await scene.ended(run.id);
    const isActive = () =>
      scene.wire
        .notifications("prompt/changed")
        .find(({ params }) => params.state.active?.root_hash === pending?.root_hash);
    await waitOn(scene.wire, isActive, "the pack to be applied");
    await scene.answered(thread_id, "Next?");
    const told = await Promise.all([0, 1, 2].map((index) => baseIn(scene, index)));
    expect(told).toEqual(["Pack one.", "Pack one.", "Pack two."]);
    const { data } = await scene.wire.result("prompt/status", { workspace_id, thread_id });
    expect(data).toEqual([{ pack: "default", active: pending }]);
    await verifyAll(scene);
  });
});

describe("the base prompt of a run", () => {
  const stage = runStage(sqliteStore, { config });

  test("[TLD41] the agent's prompt; without one its name and description; without an agent Heddle's own", async () => {
    const scene = await stage.scene();
    const expected = {
      poet: ["Answer in verse.", { kind: "agent", agent_id: "poet", generated: false }],
      plain: ["You are Plain. It answers.", { kind: "agent", agent_id: "plain", generated: true }],
      mute: ["You are Mute.", { kind: "agent", generated: true }],
      blank: ["You are Blank. B.", { kind: "agent", generated: true }],
      nobody: ["You are a helpful assistant.", { kind: "default" }],
    } as const;
    scene.model.play([{ ...says("Yes."), repeat: true }]);
    for (const [at, [agent_id, [text, source]]] of Object.entries(expected).entries()) {
      const { id } = await scene.start({ agent_id });
      const run = await scene.answered(id, "Hello?");
      expect(await baseIn(scene, at)).toBe(text);
      expect((await scene.manifest(run.id)).sections[0]).toMatchObject({ id: "base", source });
    }
    expect((await scene.runs())[0]).toMatchObject({ agent_id: "poet" });
  });

  test("[TLD42] the run's refs win over the thread's, these over a pack; null leaves the thread's aside", async () => {
    const scene = await stage.scene();
    const { workspace_id } = scene;
    scene.write("prompts/packs/house.json", { role: "system", content: "The pack." });
    await scene.wire.result("prompt/sync", { workspace_id, pack: "house" });
    await scene.wire.result("prompt/apply", { workspace_id, pack: "house" });
    const [mine, yours] = [await scene.blob({ text: "The run." }), await scene.blob({ text: "The thread." })];
    const { id } = await scene.start({
      config: { default_prompt_refs: [yours], default_prompt_pack: "house" },
    });
    scene.model.play([{ ...says("Yes."), repeat: true }]);
    let asked = 0;
    const told = async (config?: object) => {
      const run = await scene.answered(id, "Hello?", { config });
      const { shadowed } = await scene.manifest(run.id);
      return [await baseIn(scene, asked++), shadowed];
    };
    const pack = (by: string) => ({ source: "prompt_pack", by, name: "house" });
    expect(await told({ prompt_refs: [mine] })).toEqual([
      "The run.",
      [{ source: "thread_refs", by: "run_refs" }, pack("run_refs")],
    ]);
    expect(await told()).toEqual(["The thread.", [pack("thread_refs")]]);
    expect(await told({ prompt_refs: null })).toEqual(["The pack.", undefined]);
    expect(await told({ prompt_refs: null, prompt_pack: null })).toEqual(["Answer in verse.", undefined]);
    await scene.update(id, { config: { default_prompt_refs: null } });
    expect(await told()).toEqual(["The pack.", undefined]);
    await verifyAll(scene);
  });

  test("[TLD44] a thread's refs are checked when its run is admitted; a list without any is refused", async () => {
    const scene = await stage.scene();
    const { workspace_id } = scene;
    const empty = { workspace_id, config: { default_prompt_refs: [] } };
    expect(await scene.wire.error("thread/start", empty)).toMatchObject({ code: -32602 });
    const { id: thread_id } = await scene.start({ config: { default_prompt_refs: [UNKNOWN] } });
    const error = await scene.wire.error("run/start", { thread_id, content: "Hello?" });
    expect(error).toMatchObject({ code: -32602, data: { kind: "blob.not_found", ref: UNKNOWN } });
    expect(await scene.messages(thread_id)).toEqual([]);
    scene.plays("Yes.");
    await scene.answered(thread_id, "Hello?", { config: { prompt_refs: null } });
  });

  test("[TLD45] a pack is told when it was synced and applied, not when its file was written; until then it is refused", async () => {
    const scene = await stage.scene();
    const { workspace_id } = scene;
    const { id: thread_id } = await scene.start({ config: { default_prompt_pack: "default" } });
    const file = (content: string) => scene.write("prompts/packs/default.json", { role: "system", content });
    const notSynced = { code: -32600, data: { kind: "prompt.not_synced", pack: "default" } };
    const asked = { thread_id, content: "Hello?" };
    scene.model.play([{ ...says("Yes."), repeat: true }]);
    file("One.");
    expect(await scene.wire.error("run/start", asked)).toMatchObject(notSynced);
    await scene.wire.result("prompt/sync", { workspace_id });
    expect(await scene.wire.error("run/start", asked)).toMatchObject(notSynced);
    expect(await scene.runs()).toEqual([]);
    await scene.wire.result("prompt/apply", { workspace_id });
    await scene.answered(thread_id, "1");
    file("Two.");
    await scene.answered(thread_id, "2");
    await scene.wire.result("prompt/sync", { workspace_id });
    await scene.answered(thread_id, "3");
    await scene.wire.result("prompt/apply", { workspace_id });
    await scene.answered(thread_id, "4");
    scene.write("prompts/packs/default.json", "{ broken");
    expect(await scene.wire.result("prompt/sync", { workspace_id })).toMatchObject({ status: "failed" });
    await scene.answered(thread_id, "5");
    const told = await Promise.all([0, 1, 2, 3, 4].map((index) => baseIn(scene, index)));
    expect(told).toEqual(["One.", "One.", "One.", "Two.", "Two."]);
  });

  test("[TLD48] a thread bound to another workspace is told that one's pack", async () => {
    const [scene, other] = [await stage.scene(), await stage.scene()];
    const workspace_id = other.workspace_id;
    other.write("prompts/packs/default.json", { role: "system", content: "From elsewhere." });
    await other.wire.result("prompt/sync", { workspace_id });
    await other.wire.result("prompt/apply", { workspace_id });
    const { id } = await scene.start({
      config: { workspace_binding: { workspace: workspace_id }, default_prompt_pack: "default" },
    });
    scene.plays("Yes.");
    await scene.answered(id, "Hello?");
    expect(await baseIn(scene, 0)).toBe("From elsewhere.");
  });
});
