import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startGateway, type TestGateway } from "../support/gateway.js";
import { onEachStore } from "../support/stores.js";
import type { Wire } from "../support/wire.js";

onEachStore("folders", (kind) => {
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

  const create = async (name: string, more: { parent_folder_id?: string; after_id?: string | null } = {}) =>
    (await wire.result("thread/folder/create", { workspace_id, name, ...more })).folder.id;
  const tree = () => wire.result("thread/tree", { workspace_id });
  const names = async (parent?: string) =>
    (await tree()).folders.filter((f) => f.parent_folder_id === parent).map((f) => f.name);
  const chain = async (depth: number) => {
    const ids: string[] = [];
    for (let i = 0; i < depth; i++) {
      const parent = ids.at(-1);
      ids.push(await create(`level ${i + 1}`, parent === undefined ? {} : { parent_folder_id: parent }));
    }
    return ids;
  };

  test("[TREE20] a folder comes last, first or after a sibling, and siblings may share a name", async () => {
    const a = await create("a");
    await create("b");
    await create("first", { after_id: null });
    await create("after a", { after_id: a });
    await create("b");
    expect(await names()).toEqual(["first", "a", "after a", "b", "b"]);
    await wire.result("thread/folder/move", { workspace_id, folder_id: a, after_id: null });
    expect(await names()).toEqual(["a", "first", "after a", "b", "b"]);
    await wire.result("thread/folder/move", { workspace_id, folder_id: a });
    expect(await names()).toEqual(["first", "after a", "b", "b", "a"]);
  });

  test("[TREE21] names have 1 to 255 code points and no control characters", async () => {
    const folder_id = await create("x");
    for (const name of ["😀".repeat(255), " ", "..", "a/b", "é\u0301", "‮right to left"]) {
      expect((await wire.result("thread/folder/rename", { workspace_id, folder_id, name })).folder.name).toBe(
        name,
      );
    }
    const before = await tree();
    for (const [name, kindOfError] of [
      ["", "invalid_params"],
      ["😀".repeat(256), "invalid_params"],
      ["a\0b", "invalid_text"],
      ["\ud800", "invalid_text"],
      ["two\nlines", "invalid_text"],
      ["tab\t", "invalid_text"],
      ["\u0085", "invalid_text"],
      [7, "invalid_params"],
    ] as const) {
      for (const [method, params] of [
        ["thread/folder/create", { workspace_id, name }],
        ["thread/folder/rename", { workspace_id, folder_id, name }],
        ["thread/start", { workspace_id, title: name }],
        ["workspace/create", { name }],
      ] as const) {
        const error = await wire.error(method, params);
        expect(error, `${method} ${JSON.stringify(name)}`).toMatchObject({
          code: -32602,
          data: { kind: kindOfError },
        });
      }
    }
    expect(await tree()).toEqual(before);
  });

  test("[TREE22] folders nest 64 deep and no deeper, moved subtrees included", async () => {
    const ids = await chain(64);
    const deepest = ids.at(-1) as string;
    const before = await tree();
    const create65 = { workspace_id, name: "65", parent_folder_id: deepest };
    expect(await wire.error("thread/folder/create", create65)).toMatchObject({
      code: -32600,
      data: { kind: "folder.too_deep", depth: 65, limit: 64 },
    });
    expect(await tree()).toEqual(before);
    const other = await create("other");
    await create("below", { parent_folder_id: other });
    const move = (parent_folder_id: string | undefined) =>
      wire.call("thread/folder/move", { workspace_id, folder_id: other, parent_folder_id });
    expect((await move(ids[62])).error?.data.kind).toBe("folder.too_deep");
    expect((await move(ids[61])).error).toBeUndefined();
  });

  test("[TREE23] a folder can't be moved into itself or below itself", async () => {
    const [top, middle, bottom] = (await chain(3)) as [string, string, string];
    const before = await tree();
    for (const parent_folder_id of [top, middle, bottom]) {
      expect(
        await wire.error("thread/folder/move", { workspace_id, folder_id: top, parent_folder_id }),
      ).toMatchObject({
        code: -32600,
        data: { kind: "folder.cycle", folder_id: top, parent_folder_id },
      });
    }
    expect(await tree()).toEqual(before);
  });

  test("[TREE24] deleting a folder moves what it holds up, in order, deleted threads too", async () => {
    const parent = await create("parent");
    const here = await create("here", { parent_folder_id: parent });
    await create("sibling", { parent_folder_id: parent });
    await create("x", { parent_folder_id: here });
    await create("y", { parent_folder_id: here });
    const start = async (title: string, folder_id: string) =>
      (await wire.result("thread/start", { workspace_id, folder_id, title })).thread.id;
    await start("in parent", parent);
    await start("second", here);
    await start("first", here);
    const gone = await start("gone", here);
    await wire.result("thread/delete", { thread_id: gone });
    await wire.result("thread/folder/delete", { workspace_id, folder_id: here });
    expect(await names(parent)).toEqual(["sibling", "x", "y"]);
    const titles = (await tree()).threads.filter((t) => t.folder_id === parent).map((t) => t.title);
    expect(titles).toEqual(["in parent", "first", "second"]);
    const { thread } = await wire.result("thread/undelete", { thread_id: gone });
    expect(thread.folder_id).toBe(parent);
  });

  test("[TREE5] a change of very many items is announced without saying what changed", async () => {
    const folder_id = await create("big");
    const starts = Array.from({ length: 260 }, () =>
      wire.result("thread/start", { workspace_id, folder_id }),
    );
    await Promise.all(starts);
    await wire.result("thread/folder/delete", { workspace_id, folder_id });
    await wire.settled();
    const last = wire.notifications("thread/tree/changed").at(-1);
    expect(last?.params).toEqual({ workspace_id, seq: expect.any(Number) });
    expect((await tree()).placements.filter((p) => p.folder_id === undefined)).toHaveLength(260);
  });

  test("[TREE25] a folder that is not in the workspace is refused everywhere", async () => {
    const { workspace: other } = await wire.result("workspace/create", { name: "other" });
    const foreign = (await wire.result("thread/folder/create", { workspace_id: other.id, name: "f" })).folder
      .id;
    const own = await create("own");
    const { thread } = await wire.result("thread/start", { workspace_id });
    const before = await tree();
    for (const id of [foreign, "fld_01JUNKNOWN"]) {
      for (const [method, params] of [
        ["thread/folder/create", { name: "x", parent_folder_id: id }],
        ["thread/folder/rename", { folder_id: id, name: "x" }],
        ["thread/folder/move", { folder_id: id }],
        ["thread/folder/move", { folder_id: own, parent_folder_id: id }],
        ["thread/folder/delete", { folder_id: id }],
        ["thread/start", { folder_id: id }],
        ["thread/list", { folder_id: id }],
        ["thread/move", { thread_id: thread.id, folder_id: id }],
        ["thread/agents_doc/get", { folder_id: id }],
        ["thread/agents_doc/save", { folder_id: id, content: "x" }],
        ["thread/agents_doc/archive", { folder_id: id }],
        ["thread/agents_doc/revisions", { folder_id: id }],
      ] as const) {
        const error = await wire.error(method, { workspace_id, ...params });
        expect(error, method).toMatchObject({
          code: -32602,
          data: { kind: "folder.not_found", folder_id: id },
        });
        expect((await wire.error(method, { workspace_id, ...params, ...emptied(params) })).code, method).toBe(
          -32602,
        );
      }
    }
    expect(await tree()).toEqual(before);
  });

  const emptied = (params: object) =>
    "parent_folder_id" in params ? { parent_folder_id: "" } : { folder_id: "" };

  test("[TREE26] after_id must be a sibling at the destination", async () => {
    const a = await create("a");
    const b = await create("b");
    const inA = await create("in a", { parent_folder_id: a });
    const { thread } = await wire.result("thread/start", { workspace_id });
    const before = await tree();
    for (const [method, params] of [
      ["thread/folder/create", { name: "x", after_id: inA }],
      ["thread/folder/create", { name: "x", after_id: thread.id }],
      ["thread/folder/move", { folder_id: b, parent_folder_id: a, after_id: a }],
      ["thread/folder/move", { folder_id: b, after_id: b }],
      ["thread/move", { thread_id: thread.id, after_id: a }],
      ["thread/move", { thread_id: thread.id, folder_id: a, after_id: "" }],
    ] as const) {
      const error = await wire.error(method, { workspace_id, ...params });
      expect(error, method).toMatchObject({ code: -32602, data: { kind: "tree.not_a_sibling" } });
    }
    expect(await tree()).toEqual(before);
  });

  test("[TREE27] renaming to the same name tells nobody", async () => {
    const folder_id = await create("same");
    const { seq } = await tree();
    await wire.result("thread/folder/rename", { workspace_id, folder_id, name: "same" });
    expect((await tree()).seq).toBe(seq);
  });

  test("[TREE28] a hundred insertions between two neighbours keep the order", async () => {
    const first = await create("first");
    await create("last");
    const expected = ["first", "last"];
    for (let i = 0; i < 100; i++) {
      await create(`n${i}`, { after_id: first });
      expected.splice(1, 0, `n${i}`);
    }
    expect(await names()).toEqual(expected);
  });
});
