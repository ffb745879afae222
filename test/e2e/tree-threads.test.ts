import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Params, Thread } from "../../src/protocol/index.js";
import { startGateway, type TestGateway } from "../support/gateway.js";
import { onEachStore } from "../support/stores.js";
import type { Wire } from "../support/wire.js";

type Start = Omit<Params<"thread/start">, "workspace_id">;

class World {
  constructor(
    readonly wire: Wire,
    readonly workspace_id: string,
  ) {}

  static async make(gateway: TestGateway): Promise<World> {
    const wire = await gateway.wire();
    return new World(wire, (await wire.result("workspace/create", { name: "w" })).workspace.id);
  }

  async start(params: Start = {}): Promise<Thread> {
    return (await this.wire.result("thread/start", { workspace_id: this.workspace_id, ...params })).thread;
  }

  async folder(name: string): Promise<string> {
    return (await this.wire.result("thread/folder/create", { workspace_id: this.workspace_id, name })).folder
      .id;
  }

  tree() {
    return this.wire.result("thread/tree", { workspace_id: this.workspace_id });
  }
}

onEachStore("threads", (kind) => {
  let gateway: TestGateway;
  let world: World;
  beforeAll(async () => {
    gateway = await startGateway(kind);
  });
  afterAll(() => gateway?.stop());
  beforeEach(async () => {
    world = await World.make(gateway);
  });

  test("[TREE30] [TREE3] a new thread is first in its folder, with sensible defaults", async () => {
    const { workspace_id } = world;
    const thread = await world.start();
    expect(thread).toEqual({
      id: expect.stringMatching(/^thr_[0-9A-HJKMNP-TV-Z]{26}$/),
      workspace_id,
      title: "New thread",
      agent_id: "demo",
      status: "idle",
      message_count: 0,
      created_at: thread.created_at,
      updated_at: thread.created_at,
      config: {},
    });
    expect(Math.abs(thread.created_at - Date.now() / 1000)).toBeLessThan(60);
    const folder_id = await world.folder("f");
    const second = await world.start({
      folder_id,
      agent_id: "claude",
      title: "T",
      config: { model: "m", provider: null },
    });
    expect(second).toMatchObject({ folder_id, agent_id: "claude", title: "T", config: { model: "m" } });
    const third = await world.start({ folder_id });
    const { placements } = await world.tree();
    expect(placements.filter((p) => p.folder_id === folder_id).map((p) => p.thread_id)).toEqual([
      third.id,
      second.id,
    ]);
    expect(placements.find((p) => p.thread_id === thread.id)).toEqual({
      thread_id: thread.id,
      workspace_id,
      rank: expect.any(Number),
    });
  });

  test("[TREE31] a worktree outside git is refused rather than left out in silence", async () => {
    const { wire, workspace_id } = world;
    const error = await wire.error("thread/start", { workspace_id, use_worktree: true });
    expect(error).toMatchObject({ code: -32600, data: { kind: "atsf.not_a_repository" } });
    expect((await world.tree()).threads).toEqual([]);
    await world.start({ use_worktree: false });
  });

  test("[TREE32] update changes the given fields and keys only", async () => {
    const { wire } = world;
    const { id: thread_id } = await world.start({ config: { model: "a", max_tokens: 5 } });
    const update = async (params: Omit<Params<"thread/update">, "thread_id">) =>
      (await wire.result("thread/update", { thread_id, ...params })).thread;
    expect(await update({ title: "Fix login" })).toMatchObject({
      title: "Fix login",
      config: { model: "a" },
    });
    const patched = await update({
      config: { model: null, provider: "openai" },
      attributes: { a: 1, b: { c: [2] } },
    });
    expect(patched.config).toEqual({ max_tokens: 5, provider: "openai" });
    expect((await update({ attributes: { a: null, d: "x" } })).attributes).toEqual({ b: { c: [2] }, d: "x" });
    const cleared = await update({ attributes: { b: null, d: null } });
    expect(cleared).not.toHaveProperty("attributes");
    const { seq } = await world.tree();
    expect(await update({ title: "Fix login", config: {} })).toEqual(cleared);
    expect((await world.tree()).seq).toBe(seq);
    expect((await wire.result("thread/get", { thread_id })).thread).toEqual(cleared);
  });

  test("[TREE33] attributes are bounded", async () => {
    const { wire } = world;
    const thread = await world.start();
    const attributes = { big: "x".repeat(70_000) };
    const error = await wire.error("thread/update", { thread_id: thread.id, title: "new", attributes });
    expect(error).toMatchObject({
      code: -32602,
      data: { kind: "thread.attributes_too_large", limit: 65_536 },
    });
    expect((await wire.result("thread/get", { thread_id: thread.id })).thread).toEqual(thread);
  });

  test("[TREE2] [TREE34] pinned threads come first, the latest pinned on top", async () => {
    const { wire } = world;
    const [a, b, c] = [
      await world.start({ title: "a" }),
      await world.start({ title: "b" }),
      await world.start({ title: "c" }),
    ];
    const titles = async () => (await world.tree()).threads.map(({ title }) => title);
    expect(await titles()).toEqual(["c", "b", "a"]);
    const pinned = await wire.result("thread/update", { thread_id: a.id, pinned: true });
    expect(pinned.thread.pinned_at).toBeGreaterThanOrEqual(a.created_at);
    expect(await titles()).toEqual(["a", "c", "b"]);
    expect((await wire.result("thread/update", { thread_id: a.id, pinned: true })).thread).toEqual(
      pinned.thread,
    );
    const unpinned = await wire.result("thread/update", { thread_id: a.id, pinned: false });
    expect(unpinned.thread).not.toHaveProperty("pinned_at");
    expect(await titles()).toEqual(["c", "b", "a"]);
    expect([b, c].length).toBe(2);
  });

  test("[TREE35] a moved thread takes on what is in effect in its new folder", async () => {
    const { wire, workspace_id } = world;
    const [here, there] = [await world.folder("here"), await world.folder("there")];
    await wire.result("thread/agents_doc/save", { workspace_id, folder_id: here, content: "here" });
    await wire.result("thread/agents_doc/save", { workspace_id, folder_id: there, content: "there" });
    const { id: thread_id } = await world.start({ folder_id: here });
    const stays = await world.start({ folder_id: there });
    const resolved = async () =>
      (await wire.result("thread/agents_doc/resolve_for_thread", { thread_id })).effective?.doc.content;
    expect(await resolved()).toBe("here");
    const moved = await wire.result("thread/move", { thread_id, folder_id: there, after_id: stays.id });
    expect(moved.thread.folder_id).toBe(there);
    expect(moved.placement).toMatchObject({ thread_id, workspace_id, folder_id: there });
    expect(await resolved()).toBe("there");
    const order = (await world.tree()).placements
      .filter((p) => p.folder_id === there)
      .map((p) => p.thread_id);
    expect(order).toEqual([stays.id, thread_id]);
    const home = await wire.result("thread/move", { thread_id, folder_id: null });
    expect(home.thread).not.toHaveProperty("folder_id");
    expect(await resolved()).toBeUndefined();
  });

  test("[TREE36] delete hides a thread everywhere, undelete brings it back to its place", async () => {
    const { wire, workspace_id } = world;
    const folder_id = await world.folder("f");
    const [last, thread, top] = [
      await world.start({ folder_id }),
      await world.start({ folder_id }),
      await world.start({ folder_id }),
    ];
    const order = async () => (await world.tree()).placements.map((p) => p.thread_id);
    const before = await order();
    expect(before).toEqual([top.id, thread.id, last.id]);
    const thread_id = thread.id;
    expect(await wire.result("thread/delete", { thread_id })).toEqual({ deleted: true });
    expect(await order()).toEqual([top.id, last.id]);
    expect((await wire.result("thread/list", { workspace_id })).data.map(({ id }) => id)).not.toContain(
      thread_id,
    );
    for (const method of [
      "thread/get",
      "thread/update",
      "thread/move",
      "thread/delete",
      "thread/agents_doc/resolve_for_thread",
    ]) {
      expect(await wire.error(method, { thread_id }), method).toMatchObject({
        code: -32602,
        data: { kind: "thread.not_found" },
      });
    }
    expect((await wire.error("thread/undelete", { thread_id: top.id })).data.kind).toBe("thread.not_found");
    expect((await wire.result("thread/undelete", { thread_id })).thread).toEqual(thread);
    expect(await order()).toEqual(before);
  });

  test("[TREE37] the workspace of a thread is optional, and a wrong one is refused", async () => {
    const { wire, workspace_id } = world;
    const { id: thread_id } = await world.start();
    const { workspace: other } = await wire.result("workspace/create", { name: "other" });
    for (const method of ["thread/get", "thread/update", "thread/agents_doc/resolve_for_thread"]) {
      expect((await wire.call(method, { thread_id })).error).toBeUndefined();
      expect((await wire.call(method, { thread_id, workspace_id })).error).toBeUndefined();
      for (const wrong of [other.id, "ws_unknown"]) {
        expect((await wire.error(method, { thread_id, workspace_id: wrong })).code, method).toBe(-32602);
      }
    }
  });

  test("[TREE41] who is told what of a thread", async () => {
    const { wire, workspace_id } = world;
    const observer = await gateway.wire();
    await observer.result("thread/tree", { workspace_id });
    const { id: thread_id } = await world.start();
    await wire.result("thread/update", { thread_id, title: "t" });
    await wire.result("thread/move", { thread_id });
    await wire.result("thread/delete", { thread_id });
    const heard = (await observer.settled()).map(({ method }) => method);
    expect(heard).toEqual([
      "thread/changed",
      "thread/tree/changed",
      "thread/changed",
      "thread/tree/changed",
      "thread/tree/changed",
      "thread/deleted",
      "thread/tree/changed",
    ]);
    expect(observer.notifications("thread/deleted")[0]?.params).toMatchObject({ workspace_id, thread_id });
  });

  test("[TREE4] the tree of an unknown workspace is refused", async () => {
    expect(await world.wire.error("thread/tree", { workspace_id: "ws_000000000000000009" })).toMatchObject({
      code: -32602,
      data: { kind: "workspace.not_found", workspace_id: "ws_000000000000000009" },
    });
  });
});
