import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openDatabase } from "../support/agents-doc.js";
import { startGateway, type TestGateway } from "../support/gateway.js";
import { onEachStore } from "../support/stores.js";
import type { Wire } from "../support/wire.js";

onEachStore("the tree, found by review", (kind) => {
  let gateway: TestGateway;
  let wire: Wire;
  let workspace_id: string;
  beforeAll(async () => {
    gateway = await startGateway(kind);
  });
  afterAll(() => gateway?.stop());
  beforeEach(async () => {
    wire = await gateway.wire();
    workspace_id = (await wire.result("workspace/create", { name: "w" })).workspace.id;
  });

  test("[TREE50] the tree reads from top to bottom, parents first", async () => {
    const folder = async (name: string, parent_folder_id?: string) =>
      (await wire.result("thread/folder/create", { workspace_id, name, parent_folder_id })).folder.id;
    const a = await folder("A");
    const b = await folder("B");
    const inB = await folder("B1", b);
    const deep = await folder("B1a", inB);
    const inA = await folder("A1", a);
    for (const folder_id of [inB, a, null, deep]) {
      await wire.result("thread/agents_doc/save", { workspace_id, folder_id, content: "x" });
    }
    for (const [title, folder_id] of [
      ["root", null],
      ["in B1", inB],
      ["in A", a],
      ["in A1", inA],
    ] as const) {
      await wire.result("thread/start", { workspace_id, title, folder_id });
    }
    const tree = await wire.result("thread/tree", { workspace_id });
    expect(tree.folders.map(({ name }) => name)).toEqual(["A", "A1", "B", "B1", "B1a"]);
    expect(tree.agents_docs.map(({ folder_id }) => folder_id)).toEqual([undefined, a, inB, deep]);
    expect(tree.threads.map(({ title }) => title)).toEqual(["in A1", "in A", "in B1", "root"]);
    expect(tree.placements.map(({ thread_id }) => thread_id)).toEqual(tree.threads.map(({ id }) => id));
  });

  test("[TREE51] after_id is checked like any text, and a deleted thread is no neighbour", async () => {
    for (const after_id of ["\0", "\ud800"]) {
      const error = await wire.error("thread/folder/create", { workspace_id, name: "x", after_id });
      expect(error).toMatchObject({ code: -32602, data: { kind: "invalid_text" } });
    }
    const [gone, stays] = [
      (await wire.result("thread/start", { workspace_id })).thread.id,
      (await wire.result("thread/start", { workspace_id })).thread.id,
    ];
    await wire.result("thread/delete", { thread_id: gone });
    const error = await wire.error("thread/move", { thread_id: stays, after_id: gone });
    expect(error).toMatchObject({ code: -32602, data: { kind: "tree.not_a_sibling" } });
  });

  test("[TREE52] an id of five workspaces is found in each", async () => {
    const ids: string[] = [];
    for (let i = 0; i < 5; i++)
      ids.push((await wire.result("workspace/create", { name: `w${i}` })).workspace.id);
    const database = await openDatabase(gateway.place);
    for (const id of ids) {
      await database.all(
        `insert into thread (workspace_id, id, title, title_search, agent_id, status, message_count, created_at, updated_at) values ('${id}', 'thr_same', 't', 't', 'demo', 'idle', 0, 1, 1)`,
      );
    }
    await database.close();
    for (const id of ids) {
      const { thread } = await wire.result("thread/get", { workspace_id: id, thread_id: "thr_same" });
      expect(thread.workspace_id).toBe(id);
    }
    expect((await wire.error("thread/get", { thread_id: "thr_same" })).data.kind).toBe("thread.ambiguous");
  });

  test("[TREE53] a binding without a version may say so", async () => {
    const config = { workspace_binding: { workspace: "a", version: null } };
    const { thread } = await wire.result("thread/start", { workspace_id, config });
    expect(thread.config).toEqual({ workspace_binding: { workspace: "a" } });
  });
});
