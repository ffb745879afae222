import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { type RawEntry, soundThread, tarGz, tree } from "../atsf/archive-support.js";
import { startGateway } from "../support/gateway.js";
import { onEitherStore } from "../support/stores.js";
import {
  line,
  projectDirectory,
  soon,
  type ThreadScene,
  textMessage,
  threadStage,
} from "../support/threads.js";

onEitherStore("export and import", (kind) => {
  const stage = threadStage(kind);

  /** A thread with an image, other programs' files and a place in a folder. */
  async function rich(): Promise<{ scene: ThreadScene; id: string }> {
    const scene = await stage.scene();
    const folder_id = await scene.folder("Nested");
    const { id } = await scene.start({ title: "Rich", folder_id, config: { model: "m" } });
    const image = { type: "image", data: "AAEC", mimeType: "image/png" };
    await scene.append(id, { role: "user", content: [{ type: "text", text: "a lapwing" }, image] });
    await scene.update(id, { pinned: true, attributes: { a: 1 } });
    await soon(() => scene.envelope(id).stats.messageCount).toBe(1);
    writeFileSync(scene.path(id, "theirs.bin"), Buffer.from([0, 255]));
    return { scene, id };
  }

  const files = (scene: ThreadScene, id: string) => {
    const { "thread.lock": _, ...rest } = tree(scene.path(id));
    return rest;
  };

  async function exported(scene: ThreadScene, thread_id: string): Promise<string> {
    const { workspace_id } = scene;
    const result = await scene.wire.result("thread/export", { workspace_id, thread_id });
    expect(Buffer.from(result.archive_base64 ?? "", "base64").length).toBe(result.size);
    return result.archive_base64 as string;
  }

  const imported = async (scene: ThreadScene, params: object) =>
    (await scene.wire.result("thread/import", { workspace_id: scene.workspace_id, ...params })).data;

  test("[THR90] a thread is the same in another workspace and in another gateway", async () => {
    const { scene, id } = await rich();
    const archive_base64 = await exported(scene, id);
    const here = await scene.get(id);
    const gateway = await startGateway(kind);
    onTestFinished(() => gateway.stop());
    for (const other of [await stage.scene(), await stage.sceneAt(projectDirectory(), gateway)]) {
      expect(await imported(other, { archive_base64 })).toEqual([{ thread_id: id, status: "imported" }]);
      expect(files(other, id)).toEqual(files(scene, id));
      const { folders, threads } = await other.tree();
      expect(folders.map(({ name }) => name)).toEqual(["Nested"]);
      const moved = { workspace_id: other.workspace_id, folder_id: folders[0]?.id };
      expect(threads).toEqual([{ ...here, ...moved }]);
      expect(await other.found("lapwing")).toHaveLength(1);
      expect(await other.messages(id)).toEqual(await scene.messages(id));
      expect(other.wire.notifications("thread/changed").at(-1)?.params.thread).toEqual(threads[0]);
      await other.append(id, "and on");
    }
  });

  test("[THR91] what is there stays as it is", async () => {
    const { scene, id } = await rich();
    const archive_base64 = await exported(scene, id);
    await scene.append(id, "newer");
    const before = files(scene, id);
    const { seq } = await scene.tree();
    expect(await imported(scene, { archive_base64 })).toEqual([{ thread_id: id, status: "exists" }]);
    expect(files(scene, id)["messages.jsonl"]).toBe(before["messages.jsonl"]);
    expect((await scene.tree()).seq).toBe(seq);
    await scene.wire.result("thread/delete", { thread_id: id, workspace_id: scene.workspace_id });
    expect(await imported(scene, { archive_base64 })).toEqual([{ thread_id: id, status: "imported" }]);
    expect(await scene.messages(id)).toHaveLength(1);
  });

  test("[THR92] an archive goes to a new file and comes from one, or from a directory", async () => {
    const { scene, id } = await rich();
    const { workspace_id } = scene;
    const dir = projectDirectory();
    const path = join(dir, "thread.tar.gz");
    const result = await scene.wire.result("thread/export", { workspace_id, thread_id: id, path });
    expect(result).toEqual({ path, size: readFileSync(path).length });
    expect(readFileSync(path).toString("base64")).toBe(await exported(scene, id));
    const forms = { archive: path, "a thread": scene.path(id), "a project": scene.root };
    for (const [form, from] of Object.entries(forms)) {
      const other = await stage.scene();
      expect(await imported(other, { path: from }), form).toEqual([{ thread_id: id, status: "imported" }]);
      expect(files(other, id)).toEqual(files(scene, id));
    }
    writeFileSync(join(dir, "taken"), "theirs");
    for (const bad of ["relative.tar.gz", join(dir, "taken"), join(dir, "no", "such"), dir]) {
      const params = { workspace_id, thread_id: id, path: bad };
      expect(await scene.wire.error("thread/export", params), bad).toMatchObject({
        code: -32602,
        data: { kind: "archive.path_invalid", path: bad },
      });
    }
    expect(readFileSync(join(dir, "taken"), "utf8")).toBe("theirs");
    for (const bad of ["relative", join(dir, "missing")]) {
      expect((await scene.wire.error("thread/import", { workspace_id, path: bad })).data.kind).toBe(
        "archive.path_invalid",
      );
    }
    for (const params of [{}, { path, archive_base64: "AAAA" }]) {
      expect((await scene.wire.error("thread/import", { workspace_id, ...params })).code).toBe(-32602);
    }
  });

  test("[THR93] what is too large for an answer is refused, and goes to a file", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ title: "T" });
    mkdirSync(scene.path(id, "assets"));
    writeFileSync(scene.path(id, "assets", `sha256-${"0".repeat(16)}.bin`), randomBytes(6 * 1024 * 1024));
    expect(await scene.wire.error("thread/export", { thread_id: id })).toMatchObject({
      code: -32600,
      data: { kind: "archive.too_large", limit: 4 * 1024 * 1024 },
    });
    const path = join(projectDirectory(), "large.tar.gz");
    const { size } = await scene.wire.result("thread/export", { thread_id: id, path });
    expect(size).toBeGreaterThan(6 * 1024 * 1024);
    const other = await stage.scene();
    expect(await imported(other, { path })).toEqual([{ thread_id: id, status: "imported" }]);
    expect(files(other, id)).toEqual(files(scene, id));
  });

  test("[THR94] hostile and damaged archives are refused and leave nothing", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ title: "here before" });
    const outside = readdirSync(scene.root);
    const hostile: [string, Buffer | string][] = [
      ["no base64", "!!!"],
      ["no archive", Buffer.from("just text")],
      ["leads out", tarGz([{ name: "../evil/thread.json", data: "{}" }])],
      ["absolute", tarGz([{ name: "/tmp/evil", data: "x" }])],
      ["leads out later", tarGz([...soundThread("fine"), { name: "fine/../../evil", data: "x" }])],
      ["cut short", tarGz(soundThread("cut")).subarray(0, 60)],
      ["damaged", gzipSync(gunzipSync(tarGz(soundThread("bad"))).fill(0x41, 100, 140))],
    ];
    for (const [what, archive] of hostile) {
      const archive_base64 = typeof archive === "string" ? archive : archive.toString("base64");
      const { workspace_id } = scene;
      const error = await scene.wire.error("thread/import", { workspace_id, archive_base64 });
      expect(error, what).toMatchObject({ code: -32602, data: { kind: "atsf.archive_invalid" } });
    }
    expect(scene.directories()).toEqual([id]);
    expect(readdirSync(scene.root)).toEqual(outside);
    expect(existsSync(join(scene.root, "..", "evil"))).toBe(false);
  });

  test("[THR94] threads that are not sound are told with the reason; the sound ones come in", async () => {
    const scene = await stage.scene();
    const entries: RawEntry[] = [
      ...soundThread("good"),
      { name: "link/thread.json", data: '{"specVersion":"1.1"}' },
      { name: "link/messages.jsonl", type: "2", link: "/etc/passwd" },
      { name: "newer/thread.json", data: '{"specVersion":"2.0"}' },
      { name: "empty/messages.jsonl", data: "" },
      { name: "con/thread.json", data: "{}" },
      ...soundThread("other").map((entry) => ({ ...entry, name: entry.name.replace("other", "renamed") })),
    ];
    const archive_base64 = tarGz(entries).toString("base64");
    const results = await imported(scene, { archive_base64 });
    expect(Object.fromEntries(results.map(({ thread_id, status }) => [thread_id, status]))).toEqual({
      good: "imported",
      link: "invalid",
      newer: "invalid",
      empty: "invalid",
      con: "invalid",
      renamed: "invalid",
    });
    for (const { status, reason } of results) expect(reason !== undefined).toBe(status === "invalid");
    expect(scene.directories()).toEqual(["good"]);
    expect((await scene.list()).map(({ id }) => id)).toEqual(["good"]);
  });

  test("[THR95] links in a thread are not exported, nor followed on import", async () => {
    const scene = await stage.scene();
    const secret = join(projectDirectory(), "secret");
    writeFileSync(secret, "secret");
    scene.foreign("theirs", { log: line(textMessage("m")) });
    await soon(async () => (await scene.list()).length).toBe(1);
    symlinkSync(secret, scene.path("theirs", "link"));
    const archive_base64 = await exported(scene, "theirs");
    expect(gunzipSync(Buffer.from(archive_base64, "base64")).toString("latin1")).not.toContain("secret");
    const other = await stage.scene();
    await imported(other, { path: scene.path("theirs") });
    expect(existsSync(other.path("theirs", "link"))).toBe(false);
  });
});
