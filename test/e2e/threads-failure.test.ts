import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../support/agents-doc.js";
import { postCall } from "../support/http.js";
import { HeddleProcess } from "../support/process.js";
import { onEitherStore } from "../support/stores.js";
import { projectDirectory, settle, soon, threadStage } from "../support/threads.js";

onEitherStore("threads when something fails", (kind) => {
  const stage = threadStage(kind);

  /** Runs work while the store can be read but takes no change: what announces changes is away. */
  async function whileCommitsFail(work: () => Promise<void>): Promise<void> {
    const database = await openDatabase(stage.gateway().place);
    try {
      if (kind.name === "sqlite") await database.all("pragma legacy_alter_table = on");
      await database.all("alter table notification rename to away");
      try {
        await work();
      } finally {
        await database.all("alter table away rename to notification");
      }
    } finally {
      await database.close();
    }
  }

  test("[THR100] a message whose commit failed is on disk; sent again, it is there once", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ title: "T" });
    const message = { id: "m", role: "user" as const, content: "lost?" };
    await whileCommitsFail(async () => {
      const error = await scene.wire.error("message/append", { thread_id: id, message });
      expect(error).toMatchObject({ code: -32603, data: { kind: "internal" } });
      expect(scene.lines(id)).toHaveLength(1);
    });
    expect(await scene.append(id, message)).toMatchObject({ id: "m" });
    expect(scene.lines(id)).toHaveLength(1);
    expect(await scene.get(id)).toMatchObject({ message_count: 1, last_snippet: "lost?" });
    expect(await scene.found("lost")).toEqual(["m"]);
    await scene.wire.settled();
    expect(scene.wire.notifications("message/appended")).toHaveLength(1);
  });

  test("[THR100] a change, a clearing and a deletion whose commit failed can be repeated", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ title: "T" });
    await scene.append(id, "hello");
    const { workspace_id } = scene;
    const calls = [
      ["thread/update", { title: "U", pinned: true }],
      ["thread/clear", {}],
      ["thread/delete", {}],
    ] as const;
    for (const [method, params] of calls) {
      const all = { workspace_id, thread_id: id, ...params };
      await whileCommitsFail(async () => {
        expect((await scene.wire.error(method, all)).code).toBe(-32603);
      });
      const { error } = await scene.wire.call(method, all);
      // The files are in the bin: whoever watches them may have finished the deletion by now.
      const finished = method === "thread/delete" ? [undefined, "thread.not_found"] : [undefined];
      expect(finished).toContain(error?.data.kind);
    }
    expect(await scene.list()).toEqual([]);
    expect((await scene.wire.result("thread/undelete", { thread_id: id })).thread).toMatchObject({
      title: "U",
      pinned_at: expect.any(Number),
      message_count: 0,
    });
  });

  test("[THR100] [THR119] a change whose commit failed leaves the thread as it was; repeated, it succeeds", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ title: "T" });
    await scene.tree();
    await settle();
    await whileCommitsFail(async () => {
      await scene.wire.error("thread/update", { thread_id: id, title: "U" });
    });
    // By then whatever stands in its file is known.
    await settle();
    expect((await scene.get(id)).title).toBe("T");
    await scene.wire.result("thread/update", { thread_id: id, title: "U" });
    expect((await scene.get(id)).title).toBe("U");
  });

  test("[THR104] a deletion or an undeletion whose commit failed leaves the thread as it was", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ title: "T" });
    await scene.append(id, "hello");
    await whileCommitsFail(async () => {
      expect((await scene.wire.error("thread/delete", { thread_id: id })).code).toBe(-32603);
      expect(await scene.messages(id)).toHaveLength(1);
      expect(scene.directories()).toContain(id);
    });
    await scene.append(id, "and on");
    await scene.wire.result("thread/delete", { thread_id: id });
    await whileCommitsFail(async () => {
      expect((await scene.wire.error("thread/undelete", { thread_id: id })).code).toBe(-32603);
      expect(scene.directories()).not.toContain(id);
    });
    await settle();
    expect(await scene.list()).toEqual([]);
    await scene.wire.result("thread/undelete", { thread_id: id });
    expect(await scene.messages(id)).toHaveLength(2);
  });

  test("[THR101] a thread that could not be started leaves nothing", async () => {
    const scene = await stage.scene();
    await scene.tree();
    await whileCommitsFail(async () => {
      const error = await scene.wire.error("thread/start", { workspace_id: scene.workspace_id });
      expect(error.code).toBe(-32603);
    });
    expect(scene.directories()).toEqual([]);
    expect(await scene.list()).toEqual([]);
    const unknown = { workspace_id: scene.workspace_id, folder_id: "fld_unknown" };
    expect((await scene.wire.error("thread/start", unknown)).data.kind).toBe("folder.not_found");
    expect(scene.directories()).toEqual([]);
  });

  test("[THR102] a file where the threads should be is told, and their return is noticed", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ title: "T" });
    await scene.append(id, "hello");
    const { workspace_id } = scene;
    const threads = join(scene.root, ".agent", "threads");
    renameSync(threads, `${threads}.away`);
    writeFileSync(threads, "in the way");
    const start = await scene.wire.error("thread/start", { workspace_id });
    expect(start).toMatchObject({ code: -32602, data: { kind: "atsf.not_a_directory" } });
    const append = { workspace_id, thread_id: id, message: { role: "user", content: "x" } };
    const { data } = await scene.wire.error("message/append", append);
    expect(data).toMatchObject({ kind: "atsf.not_a_directory", dir: threads });
    rmSync(threads);
    renameSync(`${threads}.away`, threads);
    await soon(() => scene.get(id).catch(() => undefined)).toMatchObject({ title: "T", message_count: 1 });
    await scene.append(id, "and on");
    expect(await scene.messages(id)).toHaveLength(2);
  });

  test("[THR102] a directory where the log should be is told, and nothing is lost", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ title: "T" });
    await scene.append(id, "hello");
    const log = scene.path(id, "messages.jsonl");
    renameSync(log, `${log}.away`);
    mkdirSync(log);
    const params = { workspace_id: scene.workspace_id, thread_id: id };
    expect((await scene.wire.error("thread/messages", params)).data.kind).toBe("atsf.invalid_file");
    await scene.wire.error("message/append", { ...params, message: { role: "user", content: "x" } });
    rmSync(log, { recursive: true });
    renameSync(`${log}.away`, log);
    await soon(() => scene.append(id, "and on").catch(() => undefined)).toBeDefined();
    expect(await scene.messages(id)).toHaveLength(2);
  });

  test("[THR102] appending to a directory where the log should be is told as that", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ title: "T" });
    await scene.append(id, "hello");
    renameSync(scene.path(id, "messages.jsonl"), scene.path(id, "away"));
    mkdirSync(scene.path(id, "messages.jsonl"));
    const message = { role: "user", content: "x" };
    const { data } = await scene.wire.error("message/append", { thread_id: id, message });
    expect(data).toMatchObject({ kind: "atsf.invalid_file", problem: "not_a_file" });
  });

  test("[THR103] a gateway that is killed loses no message it acknowledged, and doubles none", async () => {
    const place = await kind.fresh();
    onTestFinished(() => place.remove());
    const root = projectDirectory();
    const args = ["serve", "--json", "--port", "0", "--data", place.dataDir, "--store", place.store];
    const ids = Array.from({ length: 60 }, (_, n) => `m${n}`);
    const acknowledged = new Set<string>();
    let thread_id = "";
    let workspace_id = "";
    for (const round of [0, 1, 2]) {
      const heddle = new HeddleProcess(args);
      try {
        const ready = await heddle.ready();
        const call = async (method: string, params: object) => (await postCall(ready, method, params)).result;
        ({ id: workspace_id } = (await call("workspace/create", { root_path: root })).workspace);
        if (thread_id === "") ({ id: thread_id } = (await call("thread/start", { workspace_id })).thread);
        const missing = ids.filter((id) => !acknowledged.has(id));
        const wanted = round === 2 ? ids : missing;
        let done = 0;
        await Promise.all(
          wanted.map(async (id) => {
            const message = { id, role: "user", content: `avocet ${id}` };
            const answer = await postCall(ready, "message/append", {
              workspace_id,
              thread_id,
              message,
            }).catch(() => undefined);
            if (answer?.result) acknowledged.add(id);
            if (++done === 10 && round < 2) heddle.signal("SIGKILL");
          }),
        );
        if (round < 2) continue;
        const { thread } = await call("thread/get", { workspace_id, thread_id });
        expect(thread).toMatchObject({ message_count: 60, title: expect.stringMatching(/^avocet m\d+$/) });
        const page = await call("thread/messages", { workspace_id, thread_id, limit: 500 });
        const read = page.data.map(({ id }: { id: string }) => id);
        expect([...read].sort()).toEqual([...ids].sort());
        const { data } = await call("thread/search", { workspace_id, query: "avocet", limit: 500 });
        expect(data).toHaveLength(60);
      } finally {
        await heddle.end();
      }
    }
    expect(acknowledged.size).toBe(60);
    const left = readdirSync(join(root, ".agent", "threads"));
    expect(left).toEqual([thread_id]);
    expect(existsSync(join(root, ".agent", "threads", thread_id, "messages.jsonl"))).toBe(true);
  });
});
