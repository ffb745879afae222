import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { Claude, Codex, Opencode, Pi, text, toolUse } from "../imports/sessions.js";
import { newId, old, only, said, snapshot, stage, take, talk } from "../imports/stage.js";
import { onEachStore, sqliteStore } from "../support/stores.js";

onEachStore("importing sessions", (kind) => {
  const at = stage(kind);

  test("[IMP10] [IMP60] [IMP74] sessions of every tool become threads, live in the tree; the second time changes nothing and tells nobody", async () => {
    const scene = await at.scene();
    talk(at.home, scene.root);
    old(
      new Codex(at.home, scene.root, newId())
        .user("Patch")
        .calls("t1", "shell", { a: 1 })
        .output("t1", "ran")
        .says("Ran.")
        .ends()
        .save(),
    );
    old(
      new Pi(at.home, scene.root, newId())
        .user("a", null, "Hi")
        .answer("b", "a", [text("Ho.")])
        .save(),
    );
    new Opencode(at.home, scene.root, `ses_${kind.name}`)
      .begin()
      .message("m1", { role: "user" }, [text("Ask")])
      .message("m2", { role: "assistant", modelID: "m" }, [text("Answer.")]);
    await scene.tree();
    const tools = ["claude", "codex", "pi", "opencode"] as const;
    const threads: string[] = [];
    for (const from of tools) {
      const { status, thread_id, messages } = only(await take(scene, { from }));
      expect({ status, more: (messages ?? 0) > 1 }).toEqual({ status: "imported", more: true });
      threads.push(thread_id);
    }
    const tree = await scene.tree();
    expect(tree.folders.map(({ name }) => name).sort()).toEqual(
      ["Claude Code", "Codex", "OpenCode", "pi"].map((name) => `Imported from ${name}`),
    );
    expect(tree.threads.map(({ title }) => title).sort()).toEqual(["A title", "Hi", "Look", "Patch"]);
    expect(await said(scene, threads[0] as string)).toEqual([
      "Look image",
      "Hm. I look. tool_call_ref",
      "Done.",
    ]);
    const [first] = (await scene.messages(threads[0] as string)).slice(1);
    expect(first?.toolCalls).toMatchObject([
      { name: "Read", input: '{"p":1}', output: "found it", status: "completed" },
    ]);
    expect(scene.envelope(threads[0] as string)).toMatchObject({
      createdAt: "2026-01-02T10:00:00.000Z",
      updatedAt: "2026-01-02T10:03:00.000Z",
      context: { gitBranch: "topic", workingDir: scene.root },
      stats: { messageCount: 3, userMessageCount: 1, agentMessageCount: 2, toolCallCount: 1 },
      metadata: { heddle: { import: { tool: "claude", messages: 3 } } },
    });
    expect(tree.threads.find(({ id }) => id === threads[0])?.updated_at).toBe(
      Date.parse("2026-01-02T10:03:00.000Z") / 1000,
    );
    const made = scene.wire.received.filter(
      (each) => "method" in each && each.method === "thread/tree/changed",
    );
    expect(made.length).toBeGreaterThanOrEqual(4);
    const before = snapshot(scene);
    const { seq } = await scene.tree();
    for (const from of tools) expect(only(await take(scene, { from })).status).toBe("exists");
    expect(snapshot(scene)).toEqual(before);
    expect((await scene.tree()).seq).toBe(seq);
    const again = await at.sceneAt(scene.root);
    expect((await again.search("found")).data.map(({ thread_id }) => thread_id)).toEqual([threads[0]]);
  });

  test("[IMP61] of a session that went on, what is new is appended, in order; images come as files", async () => {
    const scene = await at.scene();
    const session = talk(at.home, scene.root);
    const { thread_id } = only(await take(scene, { from: "claude" }));
    const log = scene.text(thread_id, "messages.jsonl");
    session
      .user("e", "d", "More")
      .answer("f", "e", [text("Of it.")])
      .save();
    old(session);
    expect(only(await take(scene, { from: "claude" }))).toMatchObject({
      status: "updated",
      thread_id,
      added: 2,
      messages: 5,
    });
    expect(scene.text(thread_id, "messages.jsonl").startsWith(log)).toBe(true);
    expect((await said(scene, thread_id)).slice(-2)).toEqual(["More", "Of it."]);
    expect(await scene.get(thread_id)).toMatchObject({ message_count: 5, last_snippet: "Of it." });
    expect(readdirSync(scene.path(thread_id, "assets")).length).toBe(1);
    expect(only(await take(scene, { from: "claude" })).status).toBe("exists");
  });

  test("[IMP14] [IMP15] branches and sub-agents are threads of their own that name their parent", async () => {
    const scene = await at.scene();
    const session = talk(at.home, scene.root).user("e", "b", "Rather").save();
    const sub = new Claude(at.home, scene.root, "agent-1");
    sub.user("x", null, "Search", { isSidechain: true, sessionId: session.id }).save();
    old(session);
    old(sub);
    const { data } = await take(scene, { from: "claude" });
    const [trunk, branch, child] = data;
    expect(data.map(({ title, parent_thread_id }) => [title, parent_thread_id])).toEqual([
      ["Look", undefined],
      ["Look (branch)", trunk?.thread_id],
      ["Search", trunk?.thread_id],
    ]);
    expect((await scene.get(branch?.thread_id as string)).parent_thread_id).toBe(trunk?.thread_id);
    expect(await said(scene, branch?.thread_id as string)).toEqual([
      "Look image",
      "Hm. I look. tool_call_ref",
      "Rather",
    ]);
    expect((await scene.get(child?.thread_id as string)).parent_thread_id).toBe(trunk?.thread_id);
  });
});

describe("a thread and its session", () => {
  const at = stage(sqliteStore);

  test("[IMP62] one that was continued here keeps its messages; what is new in the session is in a thread of its own, and goes on there", async () => {
    const scene = await at.scene();
    const session = talk(at.home, scene.root);
    const { thread_id } = only(await take(scene, { from: "claude" }));
    await scene.append(thread_id, "Mine");
    expect(only(await take(scene, { from: "claude" })).status).toBe("exists");
    session.user("e", "d", "Theirs").save();
    old(session);
    const aside = only(await take(scene, { from: "claude" }));
    expect(aside).toMatchObject({
      status: "imported",
      messages: 4,
      reason: expect.stringContaining("went on here"),
    });
    expect(aside.thread_id).not.toBe(thread_id);
    expect((await scene.get(aside.thread_id)).parent_thread_id).toBe(thread_id);
    expect((await said(scene, thread_id)).at(-1)).toBe("Mine");
    expect((await said(scene, aside.thread_id)).at(-1)).toBe("Theirs");
    session.user("f", "e", "Theirs again").save();
    old(session);
    expect(only(await take(scene, { from: "claude" }))).toMatchObject({
      status: "updated",
      thread_id: aside.thread_id,
      added: 1,
    });
    expect((await scene.messages(thread_id)).length).toBe(4);
    const before = snapshot(scene);
    expect(only(await take(scene, { from: "claude" }))).toMatchObject({
      status: "exists",
      thread_id: aside.thread_id,
    });
    expect(snapshot(scene)).toEqual(before);
  });

  test("[IMP63] a session whose earlier part is another now, or is shorter, is reported and the thread left as it is", async () => {
    const scene = await at.scene();
    const session = talk(at.home, scene.root);
    const { thread_id } = only(await take(scene, { from: "claude" }));
    const before = snapshot(scene);
    const whole = readFileSync(session.path, "utf8");
    for (const rewritten of [
      whole.replace("found it", "found another"),
      whole.split("\n").slice(0, 1).join("\n"),
    ]) {
      writeFileSync(session.path, `${rewritten}\n`);
      old(session);
      expect(only(await take(scene, { from: "claude" }))).toMatchObject({
        status: "skipped",
        thread_id,
        reason: expect.stringContaining("another in the session now"),
      });
    }
    expect(snapshot(scene)).toEqual(before);
  });

  test("[IMP64] one that was deleted here stays deleted, one that was cleared stays empty", async () => {
    const scene = await at.scene();
    const session = talk(at.home, scene.root);
    const { thread_id } = only(await take(scene, { from: "claude" }));
    await scene.wire.result("thread/clear", { thread_id });
    session.user("e", "d", "More").save();
    old(session);
    expect(only(await take(scene, { from: "claude" }))).toMatchObject({
      status: "skipped",
      reason: expect.stringContaining("cleared here"),
    });
    expect(await scene.messages(thread_id)).toEqual([]);
    await scene.wire.result("thread/delete", { thread_id });
    expect(only(await take(scene, { from: "claude" }))).toMatchObject({
      status: "skipped",
      reason: expect.stringContaining("deleted here"),
    });
    expect(await scene.list()).toEqual([]);
  });

  test("[IMP65] an answer that is still being made is left for the next time", async () => {
    const scene = await at.scene();
    const session = new Claude(at.home, scene.root, newId())
      .user("a", null, "Go")
      .answer("b", "a", [text("I go."), toolUse("t1", "Bash", {})], { stop_reason: "tool_use" })
      .save();
    const first = only(await take(scene, { from: "claude" }));
    expect(first).toMatchObject({
      status: "imported",
      messages: 1,
      lossy: [{ what: expect.stringContaining("still being made") }],
    });
    expect(only(await take(scene, { from: "claude" })).status).toBe("exists");
    session
      .result("c", "b", ["t1", "went"])
      .answer("d", "c", [text("Gone.")])
      .save();
    expect(only(await take(scene, { from: "claude" }))).toMatchObject({ status: "updated", added: 2 });
    expect(await said(scene, first.thread_id)).toEqual(["Go", "I go. tool_call_ref", "Gone."]);
    expect((await scene.messages(first.thread_id))[1]?.toolCalls).toMatchObject([{ output: "went" }]);
  });

  test("[IMP65] one that ended without its result is taken as failed; should the result come later, the whole is in a thread of its own", async () => {
    const scene = await at.scene();
    const session = new Claude(at.home, scene.root, newId())
      .user("a", null, "Go")
      .answer("b", "a", [toolUse("t1", "Bash", {})], { stop_reason: "tool_use" })
      .save();
    old(session);
    const { thread_id } = only(await take(scene, { from: "claude" }));
    expect((await scene.messages(thread_id))[1]?.toolCalls).toMatchObject([{ status: "failed" }]);
    const before = snapshot(scene);
    expect(only(await take(scene, { from: "claude" })).status).toBe("exists");
    expect(snapshot(scene)).toEqual(before);
    session.result("c", "b", ["t1", "late"]).save();
    old(session);
    const aside = only(await take(scene, { from: "claude" }));
    expect(aside.status).toBe("imported");
    expect((await scene.messages(aside.thread_id))[1]?.toolCalls).toMatchObject([
      { status: "completed", output: "late" },
    ]);
  });

  test("[IMP66] what an import appended before it died is found again, not doubled", async () => {
    const scene = await at.scene();
    const session = talk(at.home, scene.root);
    const { thread_id } = only(await take(scene, { from: "claude" }));
    const ledger = scene.envelope(thread_id).metadata.heddle.import;
    session.user("e", "d", "Four").user("f", "e", "Five").save();
    old(session);
    await take(scene, { from: "claude" });
    // As it stands when the last message and the note of it were lost.
    const lines = scene.text(thread_id, "messages.jsonl").split("\n");
    await scene.wire.result("workspace/list", {});
    writeFileSync(scene.path(thread_id, "messages.jsonl"), `${lines.slice(0, 4).join("\n")}\n`);
    scene.edit(thread_id, (envelope) => {
      envelope.metadata.heddle.import = ledger;
    });
    expect(only(await take(scene, { from: "claude" }))).toMatchObject({ status: "updated", added: 1 });
    expect((await said(scene, thread_id)).slice(-3)).toEqual(["Done.", "Four", "Five"]);
  });
});
