import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openDatabase } from "../support/agents-doc.js";
import { onEachStore } from "../support/stores.js";
import {
  line,
  projectDirectory,
  soon,
  type ThreadScene,
  textMessage,
  threadStage,
} from "../support/threads.js";

const DAY_MS = 24 * 3600 * 1000;

onEachStore("clearing, deleting, binding", (kind) => {
  const stage = threadStage(kind);
  const trash = (scene: ThreadScene, ...rest: string[]) =>
    join(stage.gateway().place.dataDir, "trash", scene.workspace_id, ...rest);

  test("[THR70] clear empties the log, keeps the old one beside it, and everything else", async () => {
    const scene = await stage.scene();
    const folder_id = await scene.folder("F");
    const { id } = await scene.start({ title: "Kept", folder_id, config: { model: "m" } });
    await scene.append(id, "one");
    await scene.update(id, { pinned: true, attributes: { a: 1 } });
    scene.edit(id, (envelope) => {
      envelope.metadata.heddle.agentSession = { demo: "session" };
      envelope.theirs = 1;
    });
    await soon(() => scene.envelope(id).stats.messageCount).toBe(1);
    const log = scene.text(id, "messages.jsonl");
    const before = await scene.get(id);
    const { thread } = await scene.wire.result("thread/clear", { thread_id: id });
    const { last_snippet, ...kept } = before;
    expect(last_snippet).toBe("one");
    expect(thread).toEqual({ ...kept, message_count: 0, updated_at: thread.updated_at });
    expect(await scene.page(id)).toEqual({ data: [] });
    const aside = readdirSync(scene.path(id)).filter((name) => name.startsWith("messages.jsonl"));
    expect(aside).toEqual([
      expect.stringMatching(/^messages\.jsonl\.cleared-\d{4}-\d\d-\d\dT[\d-]+\.\d{3}Z$/),
    ]);
    expect(scene.text(id, aside[0])).toBe(log);
    expect(scene.envelope(id)).toMatchObject({ title: "Kept", theirs: 1, stats: { messageCount: 0 } });
    expect(scene.envelope(id).metadata.heddle).not.toHaveProperty("agentSession");
    await scene.append(id, "two");
    expect((await scene.messages(id)).length).toBe(1);
    expect((await scene.get(id)).title).toBe("Kept");
    const { seq } = await scene.tree();
    const late = await stage.gateway().wire();
    await late.result("subscribe", { workspace_id: scene.workspace_id, after_seq: seq - 1 });
    await late.heard(1);
  });

  test("[THR70] an empty thread can be cleared too, and again", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    for (let n = 0; n < 2; n++) {
      expect((await scene.wire.result("thread/clear", { thread_id: id })).thread.message_count).toBe(0);
    }
    await scene.append(id, "first words");
    expect((await scene.get(id)).title).toBe("first words");
  });

  test("[THR74] what was cleared comes back, with its messages and their words; clients hear of it", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ title: "Back" });
    for (const text of ["uncommon words", "and more"]) await scene.append(id, text);
    const [log, before] = [scene.text(id, "messages.jsonl"), await scene.messages(id)];
    await scene.wire.result("thread/clear", { thread_id: id });
    const found = async () =>
      (await scene.wire.result("thread/search", { workspace_id: scene.workspace_id, query: "uncommon" })).data
        .length;
    await soon(found).toBe(0);
    const { seq } = await scene.tree();
    const { thread } = await scene.wire.result("thread/unclear", { thread_id: id });
    expect(thread).toMatchObject({ id, title: "Back", message_count: 2, last_snippet: "and more" });
    expect(scene.text(id, "messages.jsonl")).toBe(log);
    expect(await scene.messages(id)).toEqual(before);
    expect(readdirSync(scene.path(id)).filter((name) => name.includes("cleared"))).toEqual([]);
    await soon(found).toBe(1);
    await soon(() => scene.envelope(id).stats.messageCount).toBe(2);
    const late = await stage.gateway().wire();
    await late.result("subscribe", { workspace_id: scene.workspace_id, after_seq: seq });
    await late.heard(2);
    expect(late.notifications("thread/changed")[0]?.params.thread.message_count).toBe(2);
  });

  test("[THR74] where something was said since, or nothing was cleared, it is refused and nothing is changed", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    const unclear = () => scene.wire.error("thread/unclear", { thread_id: id });
    expect((await unclear()).data.kind).toBe("thread.not_cleared");
    await scene.append(id, "one");
    expect((await unclear()).data.kind).toBe("thread.not_cleared");
    await scene.wire.result("thread/clear", { thread_id: id });
    await scene.append(id, "two");
    expect((await unclear()).data.kind).toBe("thread.said_since");
    expect((await scene.messages(id)).length).toBe(1);
    expect(readdirSync(scene.path(id)).filter((name) => name.includes("cleared"))).toHaveLength(1);
  });

  test("[THR71] delete moves the files to the bin, undelete brings them back, byte for byte", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ title: "T" });
    await scene.append(id, { role: "user", content: "hello" });
    await soon(() => scene.envelope(id).stats.messageCount).toBe(1);
    writeFileSync(scene.path(id, "theirs.bin"), Buffer.from([0, 1, 2]));
    const [text, log] = [scene.text(id), scene.text(id, "messages.jsonl")];
    const before = await scene.get(id);
    expect(await scene.wire.result("thread/delete", { thread_id: id })).toEqual({ deleted: true });
    expect(scene.directories()).toEqual([]);
    expect(readFileSync(trash(scene, id, "thread.json"), "utf8")).toBe(text);
    for (const method of ["thread/messages", "thread/clear", "thread/export", "thread/delete"]) {
      expect((await scene.wire.error(method, { thread_id: id })).data.kind).toBe("thread.not_found");
    }
    await stage.restart();
    const again = await stage.sceneAt(scene.root);
    expect(await again.list()).toEqual([]);
    expect((await again.wire.result("thread/undelete", { thread_id: id })).thread).toEqual(before);
    expect([again.text(id), again.text(id, "messages.jsonl")]).toEqual([text, log]);
    expect(readdirSync(again.path(id))).toContain("theirs.bin");
    expect(existsSync(trash(scene, id))).toBe(false);
    await again.append(id, "and on");
    expect(await again.get(id)).toMatchObject({ message_count: 2, last_snippet: "and on" });
  });

  test("[THR72] a thread whose files are gone can be deleted; what is lost is told", async () => {
    const scene = await stage.scene();
    const [one, two] = [await scene.start({ title: "1" }), await scene.start({ title: "2" })];
    renameSync(scene.root, `${scene.root}.away`);
    expect(await scene.wire.result("thread/delete", { thread_id: one.id })).toEqual({ deleted: true });
    renameSync(`${scene.root}.away`, scene.root);
    await scene.wire.result("thread/delete", { thread_id: two.id });
    rmSync(trash(scene, two.id), { recursive: true });
    expect(await scene.wire.error("thread/undelete", { thread_id: two.id })).toMatchObject({
      code: -32600,
      data: { kind: "thread.files_missing", thread_id: two.id },
    });
  });

  test("[THR72] undelete never replaces a thread that is there again", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ title: "Old" });
    await scene.wire.result("thread/delete", { thread_id: id });
    renameSync(join(scene.root, ".agent"), join(scene.root, ".hidden"));
    await scene.wire.result("thread/undelete", { thread_id: id });
    expect(existsSync(join(scene.root, ".agent", ".gitignore"))).toBe(true);
    await scene.wire.result("thread/delete", { thread_id: id });
    scene.foreign(id, { envelope: { title: "New" } });
    const { error } = await scene.wire.call("thread/undelete", { thread_id: id });
    // Seen in time it is the thread of this id, else it is in the way.
    expect(["thread.not_found", "thread.exists"]).toContain(error?.data.kind);
    await soon(() => scene.get(id).catch(() => undefined)).toMatchObject({ title: "New" });
    expect(readFileSync(trash(scene, id, "thread.json"), "utf8")).toContain("Old");
  });

  test("[THR73] after thirty days the bin and cleared logs are emptied, and nothing else", async () => {
    const scene = await stage.scene();
    const [old, young] = [await scene.start({ title: "old" }), await scene.start({ title: "young" })];
    const kept = await scene.start({ title: "kept" });
    for (const { id } of [old, young]) await scene.wire.result("thread/delete", { thread_id: id });
    const name = (days: number) =>
      `messages.jsonl.cleared-${new Date(Date.now() - days * DAY_MS).toISOString().replaceAll(":", "-")}`;
    for (const days of [29, 31]) writeFileSync(scene.path(kept.id, name(days)), "x");
    writeFileSync(scene.path(kept.id, "messages.jsonl.torn-2020"), "x");
    const database = await openDatabase(stage.gateway().place);
    await database.all(
      `update thread set deleted_at = ${Math.floor(Date.now() / 1000) - 31 * 86_400} where id = '${old.id}'`,
    );
    await database.close();
    await stage.restart();
    await soon(() => existsSync(trash(scene, old.id))).toBe(false);
    await soon(() => readdirSync(scene.path(kept.id)).filter((each) => each !== "thread.lock")).toEqual([
      expect.stringMatching(/cleared/),
      "messages.jsonl.torn-2020",
      "thread.json",
    ]);
    const again = await stage.sceneAt(scene.root);
    const { data } = await again.wire.error("thread/undelete", { thread_id: old.id });
    expect(data.kind).toBe("thread.not_found");
    expect((await again.wire.result("thread/undelete", { thread_id: young.id })).thread.title).toBe("young");
  });

  test("[THR80] reindex reads everything again, tells how far it is, and changes nothing that is right", async () => {
    const scene = await stage.scene();
    const { workspace_id } = scene;
    for (let n = 0; n < 130; n++) scene.foreign(`t${n}`, { log: line(textMessage(`m${n}`, `rook ${n}`)) });
    await soon(async () => (await scene.list()).length).toBe(130);
    const before = await scene.tree();
    const observer = await stage.gateway().wire();
    await observer.result("subscribe", { workspace_id });
    const result = await scene.wire.result("workspace/reindex", { workspace_id });
    expect(result).toEqual({ threads: 130, added: 0, changed: 0, removed: 0, problems: [] });
    expect(await scene.tree()).toEqual(before);
    await observer.settled();
    expect(observer.notifications("workspace/indexing").map(({ params }) => params)).toEqual([
      { workspace_id, done: 100, total: 130 },
      { workspace_id, done: 130, total: 130 },
    ]);
    expect((await scene.search("rook", { limit: 500 })).data).toHaveLength(130);
    const unknown = await scene.wire.error("workspace/reindex", { workspace_id: "ws_unknown" });
    expect(unknown.data.kind).toBe("workspace.not_found");
  });

  test("[THR80] what reindex is the first to find is told message by message", async () => {
    const scene = await stage.scene();
    const { workspace_id } = scene;
    const { id } = await scene.start({ title: "T" });
    await scene.append(id, "one");
    appendFileSync(scene.path(id, "messages.jsonl"), line(textMessage("late", "two")));
    await scene.wire.result("workspace/reindex", { workspace_id });
    const told = scene.wire.notifications("message/appended").map(({ params }) => params.message.content);
    expect(told).toEqual([[{ type: "text", text: "one" }], [{ type: "text", text: "two" }]]);
    expect(await scene.get(id)).toMatchObject({ message_count: 2 });
  });

  test("[THR80] reindex finds what the index has lost or never saw", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ title: "T" });
    await scene.append(id, "magpie");
    const database = await openDatabase(stage.gateway().place);
    await database.all(`update thread set title = 'wrong', message_count = 7 where id = '${id}'`);
    await database.all(`delete from message where thread_id = '${id}'`);
    await database.close();
    const result = await scene.wire.result("workspace/reindex", { workspace_id: scene.workspace_id });
    expect(result).toMatchObject({ threads: 1, added: 0, changed: 1, removed: 0 });
    expect(await scene.get(id)).toMatchObject({ title: "T", message_count: 1 });
    expect(await scene.found("magpie")).toHaveLength(1);
  });

  test("[THR81] a workspace without a project takes its threads along into one", async () => {
    const wire = await stage.gateway().wire();
    const { workspace } = await wire.result("workspace/create", { name: "loose" });
    const root_path = projectDirectory();
    const inside = join(stage.gateway().place.dataDir, "workspaces", workspace.id);
    const { thread } = await wire.result("thread/start", { workspace_id: workspace.id, title: "T" });
    await wire.result("message/append", {
      thread_id: thread.id,
      message: { role: "user", content: "stork" },
    });
    const { thread: before } = await wire.result("thread/get", { thread_id: thread.id });
    await wire.result("workspace/update", { workspace_id: workspace.id, root_path });
    const scene = await stage.sceneAt(root_path);
    expect(scene.workspace_id).toBe(workspace.id);
    expect(scene.directories()).toEqual([thread.id]);
    expect(readdirSync(join(inside, ".agent", "threads"))).toEqual([]);
    expect(await scene.get(thread.id)).toEqual(before);
    expect(await scene.found("stork")).toHaveLength(1);
    await scene.append(thread.id, "and on");
    expect(await scene.get(thread.id)).toMatchObject({ message_count: 2 });
    expect(existsSync(join(root_path, ".agent", ".gitignore"))).toBe(true);
  });

  test("[THR81] a project's threads stay in it when its workspace is bound elsewhere, and come back with it", async () => {
    const scene = await stage.scene();
    const { wire, workspace_id } = scene;
    const { id } = await scene.start({ title: "first" });
    const next = projectDirectory();
    const other = await stage.sceneAt(next);
    other.foreign("second", {});
    await wire.result("workspace/delete", { workspace_id: other.workspace_id });
    await wire.result("workspace/update", { workspace_id, root_path: next });
    await soon(async () => (await scene.list()).map((thread) => thread.id)).toEqual(["second"]);
    expect(existsSync(scene.path(id, "thread.json"))).toBe(true);
    await wire.result("workspace/update", { workspace_id, root_path: scene.root });
    await soon(async () => (await scene.list()).map((thread) => thread.id)).toEqual([id]);
  });

  test("[THR82] deleting a workspace touches no file; undeleted, it knows what happened meanwhile", async () => {
    const scene = await stage.scene();
    const { workspace_id, wire } = scene;
    const { id } = await scene.start({ title: "T" });
    await scene.append(id, "one");
    await soon(() => scene.envelope(id).stats.messageCount).toBe(1);
    const text = scene.text(id);
    await wire.result("workspace/delete", { workspace_id });
    expect((await wire.error("thread/messages", { workspace_id, thread_id: id })).code).toBe(-32602);
    expect((await wire.error("thread/messages", { thread_id: id })).data.kind).toBe("thread.not_found");
    expect(scene.text(id)).toBe(text);
    scene.foreign("meanwhile", {});
    await wire.result("workspace/undelete", { workspace_id });
    await soon(async () => (await scene.list()).map((thread) => thread.id).sort()).toEqual(
      ["meanwhile", id].sort(),
    );
    expect(await scene.messages(id)).toHaveLength(1);
    mkdirSync(scene.path("later"), { recursive: true });
    scene.foreign("later", {});
    await soon(async () => (await scene.list()).length).toBe(3);
  });
});
