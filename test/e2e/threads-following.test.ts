import { appendFileSync, mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { onEitherStore } from "../support/stores.js";
import { envelopeOf, line, looks, settle, soon, textMessage, threadStage } from "../support/threads.js";

const { found, said } = looks;

onEitherStore("following other programs", (kind) => {
  const stage = threadStage(kind);

  test("[THR40] a thread another program makes appears, whole, in a project that had none", async () => {
    const scene = await stage.scene();
    expect((await scene.tree()).threads).toEqual([]);
    expect(await scene.found("pelican")).toEqual([]);
    const log = line(textMessage("m1", "a pelican")) + line(textMessage("m2", "a stork"));
    scene.foreign("theirs", { envelope: { title: "Birds", updatedAt: "2026-01-02T03:04:05.000Z" }, log });
    await soon(() => found(scene, "theirs")).toEqual({
      id: "theirs",
      workspace_id: scene.workspace_id,
      title: "Birds",
      agent_id: "demo",
      status: "idle",
      message_count: 2,
      last_snippet: "a stork",
      created_at: 1767225600,
      updated_at: 1767323045,
      config: {},
    });
    expect(await said(scene, "theirs")).toEqual(["m1", "m2"]);
    expect(await scene.found("pelican")).toEqual(["m1"]);
    expect((await scene.tree()).placements.map(({ thread_id }) => thread_id)).toEqual(["theirs"]);
  });

  test("[THR40] file by file, as slowly as it likes: it appears when it can be read", async () => {
    const scene = await stage.used();
    mkdirSync(scene.path("slow"));
    await settle();
    const text = JSON.stringify(envelopeOf("slow", { title: "Slow" }));
    writeFileSync(scene.path("slow", "thread.json"), text.slice(0, 50));
    await settle();
    expect(await scene.list()).toEqual([]);
    writeFileSync(scene.path("slow", "thread.json"), text);
    await soon(() => found(scene, "slow")).toMatchObject({ title: "Slow", message_count: 0 });
    writeFileSync(scene.path("slow", "messages.jsonl"), line(textMessage("m")).slice(0, 20));
    await settle();
    expect((await scene.get("slow")).message_count).toBe(0);
    appendFileSync(scene.path("slow", "messages.jsonl"), line(textMessage("m")).slice(20));
    await soon(() => said(scene, "slow")).toEqual(["m"]);
    await soon(() => found(scene, "slow")).toMatchObject({ message_count: 1, last_snippet: "m" });
  });

  test("[THR118] a thread that was not indexed when its folder was renamed comes to that folder, and no other is made", async () => {
    const scene = await stage.used();
    const folderId = await scene.folder("New name");
    const heddle = { folder: ["Old name"], folderId, updatedAt: "2026-01-02T03:04:05.000Z" };
    scene.foreign("renamed", { envelope: { metadata: { heddle } } });
    scene.foreign("unknown", { envelope: { metadata: { heddle: { ...heddle, folderId: "fld_other" } } } });
    await soon(() => found(scene, "renamed")).toMatchObject({ folder_id: folderId });
    await soon(() => found(scene, "unknown")).toHaveProperty("folder_id");
    const { folders } = await scene.tree();
    expect(folders.map(({ name }) => name).sort()).toEqual(["New name", "Old name"]);
    expect((await scene.get("unknown")).folder_id).not.toBe(folderId);
  });

  test("[THR41] what another program appends is told message by message, then the thread", async () => {
    const scene = await stage.used();
    scene.foreign("theirs", { log: line(textMessage("m1")) });
    await soon(() => found(scene, "theirs")).toMatchObject({ message_count: 1 });
    const before = (await scene.wire.settled()).length;
    const more = [textMessage("m2", "two"), textMessage("m3", "three", { role: "agent" })];
    appendFileSync(scene.path("theirs", "messages.jsonl"), more.map(line).join(""));
    await soon(() => found(scene, "theirs")).toMatchObject({ message_count: 3, last_snippet: "three" });
    const heard = (await scene.wire.settled()).slice(before);
    expect(heard.map(({ method }) => method)).toEqual([
      "message/appended",
      "message/appended",
      "thread/changed",
      "thread/tree/changed",
    ]);
    expect(heard.slice(0, 2).map(({ params }) => params.message)).toEqual(more);
  });

  test("[THR41] a thread made over the wire is followed as well", async () => {
    const scene = await stage.used();
    const { id } = await scene.start({ title: "T" });
    await settle();
    appendFileSync(scene.path(id, "messages.jsonl"), line(textMessage("m", "from elsewhere")));
    await soon(() => found(scene, id)).toMatchObject({ message_count: 1, last_snippet: "from elsewhere" });
  });

  test("[THR41] our own writes are told once", async () => {
    const scene = await stage.used();
    const { id } = await scene.start({ title: "T" });
    await scene.append(id, "one");
    await scene.update(id, { title: "U" });
    await soon(() => scene.envelope(id).stats.messageCount).toBe(1);
    await settle();
    const heard = (await scene.wire.settled()).map(({ method }) => method);
    expect(heard).toEqual([
      "thread/changed",
      "thread/tree/changed",
      "message/appended",
      "thread/changed",
      "thread/tree/changed",
      "thread/changed",
      "thread/tree/changed",
    ]);
  });

  test("[THR42] an edited envelope and a rewritten log show up", async () => {
    const scene = await stage.used();
    const log = line(textMessage("m1", "apple")) + line(textMessage("m2", "pear"));
    scene.foreign("theirs", { log });
    await soon(() => found(scene, "theirs")).toMatchObject({ message_count: 2 });
    expect(await scene.found("pear")).toEqual(["m2"]);
    scene.edit("theirs", (envelope) => {
      envelope.title = "Renamed";
      envelope.agent = { id: "another", name: "A" };
    });
    await soon(() => found(scene, "theirs")).toMatchObject({ title: "Renamed", agent_id: "another" });
    writeFileSync(scene.path("theirs", "messages.jsonl"), line(textMessage("m9", "a plum now")));
    await soon(() => found(scene, "theirs")).toMatchObject({ message_count: 1, last_snippet: "a plum now" });
    expect(await said(scene, "theirs")).toEqual(["m9"]);
    expect([await scene.found("pear"), await scene.found("plum")]).toEqual([[], ["m9"]]);
    const next = line(textMessage("n1", "melon")) + line(textMessage("n2", "mango"));
    writeFileSync(scene.path("theirs", "new.tmp"), next);
    renameSync(scene.path("theirs", "new.tmp"), scene.path("theirs", "messages.jsonl"));
    await soon(() => found(scene, "theirs")).toMatchObject({ message_count: 2, last_snippet: "mango" });
    expect([await scene.found("plum"), await scene.found("melon")]).toEqual([[], ["n1"]]);
  });

  test("[THR42] of many edits in a row the last one stands", async () => {
    const scene = await stage.used();
    scene.foreign("theirs", { log: "" });
    await soon(() => found(scene, "theirs")).toBeDefined();
    for (let n = 0; n < 150; n++) {
      scene.foreign("theirs", { envelope: { title: `Edit ${n}` } });
      appendFileSync(scene.path("theirs", "messages.jsonl"), line(textMessage(`m${n}`)));
      await new Promise((resolve) => setTimeout(resolve, (n * 7) % 20));
    }
    await soon(() => found(scene, "theirs")).toMatchObject({ title: "Edit 149", message_count: 150 });
    await scene.wire.settled();
    const told = scene.wire.notifications("message/appended").map(({ params }) => params.message.id);
    expect(told).toEqual(Array.from({ length: 150 }, (_, n) => `m${n}`));
  });

  test("[THR43] a thread that is deleted leaves the lists; made again, it is followed again", async () => {
    const scene = await stage.used();
    scene.foreign("theirs", { log: line(textMessage("m1")) });
    await soon(() => found(scene, "theirs")).toMatchObject({ message_count: 1 });
    rmSync(scene.path("theirs"), { recursive: true });
    await soon(() => scene.list()).toEqual([]);
    expect((await scene.wire.settled()).map(({ method }) => method)).toContain("thread/deleted");
    scene.foreign("theirs", { log: line(textMessage("m1", "again")) });
    await soon(() => found(scene, "theirs")).toMatchObject({ last_snippet: "again" });
    appendFileSync(scene.path("theirs", "messages.jsonl"), line(textMessage("m2", "and more")));
    await soon(() => found(scene, "theirs")).toMatchObject({ message_count: 2, last_snippet: "and more" });
  });

  test("[THR43] a thread that is moved away and back is there again", async () => {
    const scene = await stage.used();
    const { id } = await scene.start({ title: "Wanders" });
    await scene.append(id, "hello");
    await soon(() => scene.envelope(id).stats.messageCount).toBe(1);
    await settle();
    const before = await scene.get(id);
    renameSync(scene.path(id), join(scene.root, "away"));
    await soon(() => scene.list()).toEqual([]);
    renameSync(join(scene.root, "away"), scene.path(id));
    await soon(() => found(scene, id)).toEqual(before);
    expect(await scene.found("hello")).toHaveLength(1);
  });

  test("[THR47] `.agent` deleted and made again is followed", async () => {
    const scene = await stage.used();
    scene.foreign("one");
    await soon(() => found(scene, "one")).toBeDefined();
    rmSync(join(scene.root, ".agent"), { recursive: true });
    await soon(() => scene.list()).toEqual([]);
    scene.foreign("two", { log: line(textMessage("m", "heron")) });
    await soon(() => found(scene, "two")).toMatchObject({ message_count: 1 });
    appendFileSync(scene.path("two", "messages.jsonl"), line(textMessage("n", "egret")));
    await soon(() => found(scene, "two")).toMatchObject({ message_count: 2 });
    expect(await scene.found("egret")).toEqual(["n"]);
    const { id } = await scene.start({ title: "ours" });
    expect((await scene.list()).map((thread) => thread.id).sort()).toEqual([id, "two"].sort());
  });

  test("[THR47] `.agent` moved away and made again is followed", async () => {
    const scene = await stage.used();
    scene.foreign("one");
    await soon(() => found(scene, "one")).toBeDefined();
    renameSync(join(scene.root, ".agent"), join(scene.root, ".hidden"));
    scene.foreign("two");
    await soon(() => scene.list().then((all) => all.map(({ id }) => id))).toEqual(["two"]);
    await settle();
    scene.foreign("three");
    await soon(() => found(scene, "three")).toBeDefined();
  });

  test("[THR48] a project directory that is away keeps its threads listed until it is back", async () => {
    const scene = await stage.used();
    const { id } = await scene.start({ title: "T" });
    await scene.append(id, "hello");
    await soon(() => scene.envelope(id).stats.messageCount).toBe(1);
    const before = await scene.get(id);
    renameSync(scene.root, `${scene.root}.away`);
    await settle();
    expect(await scene.get(id)).toEqual(before);
    const { workspace_id } = scene;
    for (const [method, params] of [
      ["thread/messages", { thread_id: id }],
      ["thread/start", { workspace_id }],
      ["message/append", { thread_id: id, message: { role: "user", content: "x" } }],
      ["workspace/reindex", { workspace_id }],
    ] as const) {
      expect(await scene.wire.error(method, params), method).toMatchObject({
        code: -32600,
        data: { kind: "workspace.directory_missing", workspace_id, path: scene.root },
      });
    }
    renameSync(`${scene.root}.away`, scene.root);
    expect(await said(scene, id)).toHaveLength(1);
    appendFileSync(scene.path(id, "messages.jsonl"), line(textMessage("m2", "back")));
    await soon(() => found(scene, id)).toMatchObject({ message_count: 2, last_snippet: "back" });
    expect(await scene.found("hello")).toHaveLength(1);
  });

  test("[THR49] what happened while the gateway was down is known before the first answer", async () => {
    const scene = await stage.used();
    const { id } = await scene.start({ title: "T" });
    const { id: gone } = await scene.start({ title: "goes" });
    await scene.append(id, "one");
    await soon(() => scene.envelope(id).stats.messageCount).toBe(1);
    const { seq } = await scene.tree();
    const restarted = stage.restart();
    // The gateway stops first: what is written here may come before, within or after its absence.
    appendFileSync(scene.path(id, "messages.jsonl"), line(textMessage("m2", "while down")));
    rmSync(scene.path(gone), { recursive: true });
    scene.foreign("new", { log: line(textMessage("n")) });
    await restarted;
    const again = await stage.sceneAt(scene.root);
    expect((await again.list()).map((thread) => thread.id).sort()).toEqual(["new", id].sort());
    expect(await again.get(id)).toMatchObject({ message_count: 2, last_snippet: "while down" });
    expect(await again.found("while")).toEqual(["m2"]);
    expect((await again.tree()).seq).toBeGreaterThan(seq);
  });

  test("[THR41] a message is told however many other threads' files were touched meanwhile", async () => {
    const scene = await stage.used();
    const ids = Array.from({ length: 40 }, (_, number) => `touched-${number}`);
    for (const id of ids) scene.foreign(id, { log: line(textMessage(`${id}-m`)) });
    await soon(async () => (await scene.list()).length).toBe(40);
    await scene.wire.result("subscribe", { workspace_id: scene.workspace_id });
    for (const id of ids) utimesSync(scene.path(id, "thread.json"), 1_700_000_000, 1_700_000_000);
    await settle();
    appendFileSync(scene.path("touched-7", "messages.jsonl"), line(textMessage("news", "one more")));
    await scene.wire.result("workspace/reindex", { workspace_id: scene.workspace_id });
    const told = () => scene.wire.notifications("message/appended").map(({ params }) => params.message.id);
    await soon(told).toEqual(["news"]);
  });

  test("[THR50] two hundred threads made at once all appear", async () => {
    const scene = await stage.used();
    const ids = Array.from({ length: 200 }, (_, number) => `t-${String(number).padStart(3, "0")}`);
    for (const id of ids) scene.foreign(id, { log: line(textMessage(`${id}-m`, `bird ${id}`)) });
    await soon(async () => (await scene.list()).length).toBe(200);
    expect((await scene.list()).map(({ id }) => id).sort()).toEqual(ids);
    await soon(async () => (await scene.search("bird", { limit: 500 })).data.length).toBe(200);
  });

  test("[THR51] odd ids, titles and agents of other programs pass over the wire", async () => {
    const scene = await stage.used();
    const id = `a.B_${"x".repeat(124)}`;
    const title = `nul \0, half \ud800, ${"😀".repeat(600)}`;
    scene.foreign(id, {
      envelope: { title, agent: { id: "@scope/näme \0", name: "" }, createdAt: "2026-03-04 05:06:07+02:00" },
    });
    await soon(() => found(scene, id)).toMatchObject({ agent_id: "@scope/näme \uFFFD" });
    const thread = await scene.get(id);
    expect(thread.title.startsWith("nul \uFFFD, half \uFFFD, 😀")).toBe(true);
    expect(thread.title.isWellFormed()).toBe(true);
    expect(thread.created_at).toBe(1772593567);
    await scene.update(id, { pinned: true });
    expect(scene.envelope(id).title).toBe(title);
    expect((await scene.list())[0]?.title).toBe(thread.title);
  });

  test("[THR51] however long an agent's id or a message's is, the thread and its neighbours are found", async () => {
    const scene = await stage.scene();
    const long = Array.from({ length: 4_000 }, (_, n) =>
      String.fromCodePoint(0x4e00 + ((n * 7919) % 20_000)),
    ).join("");
    scene.foreign("long", {
      envelope: { agent: { id: long, name: "n" }, metadata: { heddle: { parentThreadId: "no id \0" } } },
      log: line(textMessage(long, "spoonbill")) + line(textMessage("short", "spoonbill too")),
    });
    scene.foreign("neighbour");
    await soon(async () => (await scene.list()).map(({ id }) => id).sort()).toEqual(["long", "neighbour"]);
    expect(await scene.found("too")).toEqual(["short"]);
    expect((await said(scene, "long"))[0]).toBe(long);
  });
});
