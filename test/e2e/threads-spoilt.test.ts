import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { onEitherStore } from "../support/stores.js";
import {
  envelopeOf,
  line,
  looks,
  projectDirectory,
  settle,
  soon,
  textMessage,
  threadStage,
} from "../support/threads.js";

const { found, said } = looks;

onEitherStore("files that other programs spoilt", (kind) => {
  const stage = threadStage(kind);

  test("[THR44] an envelope that goes missing makes a thread read-only until it is back", async () => {
    const scene = await stage.used();
    const { id } = await scene.start({ title: "T" });
    const before = await scene.get(id);
    renameSync(scene.path(id, "thread.json"), scene.path(id, "thread.json.bak"));
    await soon(() => found(scene, id)).toMatchObject({
      title: "T",
      read_only: expect.stringMatching(/there is none/),
    });
    const append = { thread_id: id, message: { role: "user", content: "x" } };
    expect(await scene.wire.error("message/append", append)).toMatchObject({
      code: -32600,
      data: { kind: "thread.read_only" },
    });
    renameSync(scene.path(id, "thread.json.bak"), scene.path(id, "thread.json"));
    await soon(() => found(scene, id)).toEqual(before);
    await scene.append(id, "x");
  });

  test.each([
    ["empty", "", /JSON|empty/i],
    ["no JSON", "{", /JSON/i],
    ["a newer major version", JSON.stringify(envelopeOf("theirs", { specVersion: "2.0" })), /version 2\.0/],
    ["without a title", JSON.stringify({ ...envelopeOf("theirs"), title: undefined }), /title/],
    ["another id", JSON.stringify(envelopeOf("other")), /thread\.json says other/],
  ])(
    "[THR44] an envelope that becomes unusable (%s) makes a thread read-only and stays as it is",
    async (_, text, why) => {
      const scene = await stage.used();
      scene.foreign("theirs", { log: line(textMessage("m", "still readable")) });
      await soon(() => found(scene, "theirs")).toMatchObject({ message_count: 1 });
      writeFileSync(scene.path("theirs", "thread.json"), text);
      await soon(async () => (await scene.get("theirs")).read_only).toMatch(why);
      expect(await said(scene, "theirs")).toEqual(["m"]);
      expect(await scene.found("readable")).toEqual(["m"]);
      for (const [method, params] of Object.entries({
        "thread/update": { title: "x" },
        "thread/clear": {},
        "message/append": { message: { role: "user", content: "x" } },
      })) {
        const error = await scene.wire.error(method, {
          workspace_id: scene.workspace_id,
          thread_id: "theirs",
          ...params,
        });
        expect(error, method).toMatchObject({ code: -32600, data: { kind: "thread.read_only" } });
      }
      expect(scene.text("theirs")).toBe(text);
      scene.foreign("theirs", { envelope: { title: "Mended" } });
      await soon(() => found(scene, "theirs")).toMatchObject({ title: "Mended" });
      expect(await scene.get("theirs")).not.toHaveProperty("read_only");
    },
  );

  test("[THR45] threads that can't be read hide no other and are told by a reindex", async () => {
    const scene = await stage.used();
    const elsewhere = projectDirectory();
    const outside = await stage.sceneAt(elsewhere);
    outside.foreign("linked", { log: line(textMessage("secret")) });
    symlinkSync(outside.path("linked"), scene.path("linked"));
    mkdirSync(scene.path("missing"));
    scene.foreign("empty", { envelope: "" });
    scene.foreign("newer", { envelope: { specVersion: "2.0" } });
    scene.foreign("misnamed", { envelope: JSON.stringify(envelopeOf("other")) });
    scene.foreign("fine");
    writeFileSync(scene.path("a-file"), "not a directory");
    await soon(async () => (await scene.list()).map(({ id }) => id).sort()).toEqual(["fine", "misnamed"]);
    const result = await scene.wire.result("workspace/reindex", { workspace_id: scene.workspace_id });
    expect(result).toMatchObject({ threads: 2, added: 0, removed: 0 });
    const told = Object.fromEntries(
      result.problems.map(({ file, message }) => [file.split("/").at(-1), message]),
    );
    expect(told).toMatchObject({
      linked: expect.stringMatching(/link/),
      missing: expect.stringMatching(/there is none/),
      empty: expect.any(String),
      newer: expect.stringMatching(/2\.0/),
    });
    expect((await scene.wire.error("thread/messages", { ...scene, thread_id: "linked" })).data.kind).toBe(
      "thread.not_found",
    );
  });

  test.each([
    ["a file", (path: string) => writeFileSync(path, "in the way")],
    ["a link in a circle", (path: string) => symlinkSync(path, path)],
  ])(
    "[THR120] %s in place of the threads' directory is told, and takes no thread off the list",
    async (_, make) => {
      const scene = await stage.scene();
      const { id } = await scene.start({ title: "T" });
      await scene.append(id, "hello");
      await soon(() => scene.envelope(id).stats.messageCount).toBe(1);
      const before = await scene.get(id);
      const { workspace_id } = scene;
      const threads = join(scene.root, ".agent", "threads");
      renameSync(threads, `${threads}.away`);
      make(threads);
      const answer = await scene.wire.result("workspace/reindex", { workspace_id });
      expect(answer).toEqual({
        threads: 1,
        added: 0,
        changed: 0,
        removed: 0,
        problems: [{ file: threads, message: expect.stringContaining(threads) }],
      });
      await settle();
      expect(await scene.list()).toEqual([before]);
      const error = await scene.wire.error("thread/messages", { workspace_id, thread_id: id });
      expect(error.message).toContain(threads);
      expect(error.message).not.toMatch(/gone|no thread/);
      await scene.wire.error("thread/delete", { workspace_id, thread_id: id });
      rmSync(threads);
      renameSync(`${threads}.away`, threads);
      expect(await scene.messages(id)).toHaveLength(1);
      await scene.append(id, "and on");
      await soon(() => scene.found("hello")).toHaveLength(1);
      rmSync(scene.path(id), { recursive: true });
      await soon(() => scene.list()).toEqual([]);
    },
  );

  test("[THR120] threads that can't be brought into a project yet stay listed, and come when they can", async () => {
    const { gateway } = stage;
    const wire = await gateway().wire();
    const { workspace } = await wire.result("workspace/create", { name: "No project yet" });
    const workspace_id = workspace.id;
    const { thread } = await wire.result("thread/start", { workspace_id, title: "Waits" });
    const own = join(gateway().place.dataDir, "workspaces", workspace_id, ".agent", "threads");
    renameSync(own, `${own}.away`);
    symlinkSync(own, own);
    const root_path = projectDirectory();
    await wire.result("workspace/update", { workspace_id, root_path });
    const listed = async () => (await wire.result("thread/list", { workspace_id })).data.map(({ id }) => id);
    const reindexed = () => wire.result("workspace/reindex", { workspace_id });
    expect((await reindexed()).problems).toEqual([{ file: own, message: expect.stringContaining(own) }]);
    expect(await listed()).toEqual([thread.id]);
    rmSync(own);
    renameSync(`${own}.away`, own);
    expect(await reindexed()).toMatchObject({ problems: [], removed: 0 });
    expect(await listed()).toEqual([thread.id]);
    expect(existsSync(join(root_path, ".agent", "threads", thread.id))).toBe(true);
  });

  test("[THR46] our own values come back when another program drops them, and its change stays", async () => {
    const scene = await stage.used();
    const folder_id = await scene.folder("F");
    const { id } = await scene.start({ title: "Ours", folder_id, config: { model: "m" } });
    await scene.update(id, { pinned: true, attributes: { a: 1 } });
    const before = await scene.get(id);
    const own = scene.envelope(id).metadata.heddle;
    scene.edit(id, (envelope) => {
      envelope.metadata = { theirs: { kept: true } };
      envelope.agent.version = "9";
    });
    await soon(() => scene.envelope(id).metadata.heddle).toMatchObject({
      ...own,
      pinnedAt: expect.any(String),
    });
    expect(scene.envelope(id)).toMatchObject({
      metadata: { theirs: { kept: true } },
      agent: { version: "9" },
    });
    expect(await scene.get(id)).toEqual(before);
  });

  test("[THR46] a write from a stale copy loses none of our later changes", async () => {
    const scene = await stage.used();
    const { id } = await scene.start({ title: "First" });
    const stale = scene.envelope(id);
    await new Promise((resolve) => setTimeout(resolve, 5));
    await scene.update(id, { title: "Second", pinned: true, attributes: { a: 1 } });
    const before = await scene.get(id);
    writeFileSync(scene.path(id, "thread.json"), JSON.stringify({ ...stale, extra: "theirs" }));
    await soon(() => scene.envelope(id)).toMatchObject({
      title: "Second",
      extra: "theirs",
      metadata: { heddle: { attributes: { a: 1 }, pinnedAt: expect.any(String) } },
    });
    await soon(() => found(scene, id)).toEqual(before);
  });
});
