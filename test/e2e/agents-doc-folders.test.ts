import { expect, test } from "vitest";
import { openDatabase, recent, type Scene, type Stage, stageOn } from "../support/agents-doc.js";
import { onEachStore } from "../support/stores.js";

onEachStore("documents of folders that move or go", (kind) => {
  const stage = stageOn(kind);
  moves(stage);
  movesWithoutEffect(stage);
  deletions(stage);
  whatADeletionLeaves(stage);
});

const CHANGED = "thread/agents_doc/changed";
const TREE = "thread/tree/changed";

async function move(scene: Scene, folder_id: string, parent_folder_id?: string): Promise<void> {
  const { workspace_id } = scene;
  await scene.wire.result("thread/folder/move", { workspace_id, folder_id, parent_folder_id });
}

async function remove(scene: Scene, folder_id: string): Promise<void> {
  const { workspace_id } = scene;
  await scene.wire.result("thread/folder/delete", { workspace_id, folder_id });
}

function moves({ scene: open }: Stage): void {
  test("[DOC72] [DOC74] a folder moved under an active document: one notification for itself", async () => {
    const scene = await open();
    const { workspace_id } = scene;
    const [target, folder_id] = [await scene.folder("Target"), await scene.folder("Moved")];
    const below = await scene.folder("Below", folder_id);
    const thread_id = await scene.thread(below);
    const doc = await scene.save("# Target\n", { folder_id: target });
    await scene.news();
    const { seq } = await scene.tree();
    await move(scene, folder_id, target);
    const [changed, tree, ...more] = await scene.news();
    const effective = {
      doc,
      source_folder_id: target,
      source_path: ["Target"],
      inherited: true,
      resolved_for_folder_id: folder_id,
      resolved_at: recent,
    };
    expect(changed).toEqual({
      jsonrpc: "2.0",
      method: CHANGED,
      params: { workspace_id, folder_id, effective, effective_changed: true, seq: seq + 1 },
    });
    expect([tree?.method, tree?.params.seq, more]).toEqual([TREE, seq + 2, []]);
    expect((await scene.get(below)).effective?.doc).toEqual(doc);
    expect((await scene.resolve(thread_id)).effective?.doc).toEqual(doc);
  });

  test("[DOC72] moved away: effective is left out, a draft of its own is named", async () => {
    const scene = await open();
    const { workspace_id } = scene;
    const target = await scene.folder("Target");
    const folder_id = await scene.folder("Moved", target);
    await scene.save("# Target\n", { folder_id: target });
    const doc = await scene.save("", { folder_id });
    await scene.news();
    const { seq } = await scene.tree();
    await move(scene, folder_id);
    const [changed] = await scene.news();
    expect(changed).toMatchObject({ method: CHANGED });
    expect(changed?.params).toEqual({ workspace_id, folder_id, doc, effective_changed: true, seq: seq + 1 });
  });

  test("[DOC68] the answer comes before both", async () => {
    const scene = await open();
    const target = await scene.folder("Target");
    const folder_id = await scene.folder("Moved");
    await scene.save("# Target\n", { folder_id: target });
    await scene.news();
    const start = scene.wire.received.length;
    const params = { workspace_id: scene.workspace_id, folder_id, parent_folder_id: target };
    await scene.wire.call("thread/folder/move", params, "move");
    await scene.news();
    const came = scene.wire.received.slice(start, start + 3);
    expect(came.map((each) => ("method" in each ? each.method : each.id))).toEqual(["move", CHANGED, TREE]);
  });

  test("[DOC80] source_path has the names as they are after a move and a rename", async () => {
    const scene = await open();
    const { workspace_id } = scene;
    const [target, folder_id] = [await scene.folder("Target"), await scene.folder("Moved")];
    await scene.save("# Moved\n", { folder_id });
    const thread_id = await scene.thread(folder_id);
    expect((await scene.resolve(thread_id)).effective?.source_path).toEqual(["Moved"]);
    await move(scene, folder_id, target);
    expect((await scene.resolve(thread_id)).effective?.source_path).toEqual(["Target", "Moved"]);
    await scene.wire.result("thread/folder/rename", { workspace_id, folder_id: target, name: "Ziel" });
    expect((await scene.resolve(thread_id)).effective?.source_path).toEqual(["Ziel", "Moved"]);
    expect((await scene.get(folder_id)).effective?.source_path).toEqual(["Ziel", "Moved"]);
  });
}

function movesWithoutEffect({ scene: open }: Stage): void {
  async function methodsOf(scene: Scene): Promise<string[]> {
    return (await scene.news()).map(({ method }) => method);
  }

  test("[DOC72] a folder with an active document of its own: only the tree", async () => {
    const scene = await open();
    const [target, folder_id] = [await scene.folder("Target"), await scene.folder("Moved")];
    await scene.save("# Target\n", { folder_id: target });
    await scene.save("# Moved\n", { folder_id });
    await scene.news();
    await move(scene, folder_id, target);
    expect(await methodsOf(scene)).toEqual([TREE]);
  });

  test("[DOC72] the same document in effect before and after: only the tree", async () => {
    const scene = await open();
    const [target, folder_id] = [await scene.folder("Target"), await scene.folder("Moved")];
    await scene.save("# Root\n");
    await scene.save(" ", { folder_id: target });
    await scene.news();
    await move(scene, folder_id, target);
    expect(await methodsOf(scene)).toEqual([TREE]);
  });

  test("[DOC74] a moved thread: only the tree, and it resolves anew", async () => {
    const scene = await open();
    const folder_id = await scene.folder("A");
    const doc = await scene.save("# A\n", { folder_id });
    const thread_id = await scene.thread();
    expect(await scene.resolve(thread_id)).toEqual({});
    await scene.news();
    await scene.wire.result("thread/move", { thread_id, folder_id });
    expect(await methodsOf(scene)).toEqual([TREE]);
    expect((await scene.resolve(thread_id)).effective?.doc).toEqual(doc);
    await scene.wire.result("thread/move", { thread_id, folder_id: null });
    expect(await scene.resolve(thread_id)).toEqual({});
  });

  test("[DOC87] a move into its own subtree is refused, and nothing changes", async () => {
    const scene = await open();
    const { workspace_id } = scene;
    const folder_id = await scene.folder("A");
    const below = await scene.folder("B", await scene.folder("C", folder_id));
    await scene.save("# A\n", { folder_id });
    await scene.news();
    const before = [await scene.state(), await scene.get(below)];
    for (const parent_folder_id of [folder_id, below]) {
      const params = { workspace_id, folder_id, parent_folder_id };
      const { code, data } = await scene.wire.error("thread/folder/move", params);
      expect([code, data]).toEqual([-32600, { kind: "folder.cycle", folder_id, parent_folder_id }]);
    }
    const [, { effective }] = [await scene.news(), await scene.get(below)];
    expect(effective?.source_path).toEqual(["A"]);
    expect(await scene.state()).toEqual(before[0]);
  });
}

function deletions({ scene: open }: Stage): void {
  test("[DOC73] [DOC76] with a document: one notification with the archived one", async () => {
    const scene = await open();
    const { workspace_id } = scene;
    await scene.save("# Root\n");
    const folder_id = await scene.folder("A");
    const doc = await scene.save("# A\n", { folder_id });
    await scene.news();
    const { seq } = await scene.tree();
    await remove(scene, folder_id);
    const archived = { ...doc, status: "archived", version: 2, updated_at: recent, archived_at: recent };
    expect(await scene.news()).toEqual([
      {
        jsonrpc: "2.0",
        method: CHANGED,
        params: { workspace_id, folder_id, doc: archived, effective_changed: true, seq: seq + 1 },
      },
      {
        jsonrpc: "2.0",
        method: TREE,
        params: { workspace_id, changes: { removed_ids: [folder_id, doc.id] }, seq: seq + 2 },
      },
    ]);
    const params = { workspace_id, doc_id: doc.id, version: 2 };
    const { revision } = await scene.wire.result("thread/agents_doc/revision", params);
    expect([revision.reason, revision.content]).toEqual(["archive", "# A\n"]);
  });

  test("[DOC73] with a draft and nothing above it: nothing in effect changed", async () => {
    const scene = await open();
    const folder_id = await scene.folder("A");
    await scene.save("", { folder_id });
    await scene.news();
    await remove(scene, folder_id);
    const [changed] = await scene.news();
    expect(changed?.params).toMatchObject({ doc: { status: "archived" }, effective_changed: false });
    expect(changed?.params).not.toHaveProperty("effective");
  });

  test("[DOC73] without a document: only the tree, though it inherited one", async () => {
    const scene = await open();
    await scene.save("# Root\n");
    const folder_id = await scene.folder("A");
    await scene.news();
    await remove(scene, folder_id);
    expect((await scene.news()).map(({ method }) => method)).toEqual([TREE]);
  });

  test("[DOC73] without a document of its own, but with an archived one: only the tree", async () => {
    const scene = await open();
    const folder_id = await scene.folder("A");
    await scene.save("# A\n", { folder_id });
    await scene.archive({ folder_id });
    await scene.news();
    await remove(scene, folder_id);
    expect((await scene.news()).map(({ method }) => method)).toEqual([TREE]);
  });
}

function whatADeletionLeaves({ scene: open, gateway }: Stage): void {
  test("[DOC75] folders and threads move up and resolve from the parent", async () => {
    const scene = await open();
    const parent = await scene.folder("Parent");
    const folder_id = await scene.folder("Gone", parent);
    const below = await scene.folder("Below", folder_id);
    const [thread, deeper] = [await scene.thread(folder_id), await scene.thread(below)];
    const doc = await scene.save("# Parent\n", { folder_id: parent });
    await scene.save("# Gone\n", { folder_id });
    expect((await scene.resolve(deeper)).effective?.source_path).toEqual(["Parent", "Gone"]);
    await scene.news();
    await remove(scene, folder_id);
    const heard = await scene.news();
    expect(heard.map(({ method, params }) => [method, params.folder_id])).toEqual([
      [CHANGED, folder_id],
      [TREE, undefined],
    ]);
    const seen = (inherited: boolean, folder: string) => ({
      doc,
      source_folder_id: parent,
      source_path: ["Parent"],
      inherited,
      resolved_for_folder_id: folder,
      resolved_at: recent,
    });
    expect(await scene.resolve(thread)).toEqual({ effective: seen(false, parent) });
    expect(await scene.resolve(deeper)).toEqual({ effective: seen(true, below) });
    expect((await scene.get(below)).effective).toEqual(seen(true, below));
  });

  test("[DOC75] from a folder at the root they move to the root", async () => {
    const scene = await open();
    const folder_id = await scene.folder("Gone");
    const thread_id = await scene.thread(folder_id);
    await scene.save("# Gone\n", { folder_id });
    await remove(scene, folder_id);
    expect(await scene.resolve(thread_id)).toEqual({});
    const { placements, folders, agents_docs } = await scene.tree();
    expect([placements[0]?.folder_id, folders, agents_docs]).toEqual([undefined, [], []]);
  });

  test("[DOC76] no living document is left without its folder", async () => {
    const scene = await open();
    const folder_id = await scene.folder("Gone");
    await scene.save("# Gone\n", { folder_id });
    await remove(scene, folder_id);
    const database = await openDatabase(gateway().place);
    try {
      const [row] = await database.all(
        `select status, archived_at from thread_agents_doc where folder_id = '${folder_id}'`,
      );
      expect({ ...row }).toEqual({
        status: "archived",
        archived_at: recent,
      });
    } finally {
      await database.close();
    }
    const error = await scene.wire.error("thread/agents_doc/get", {
      workspace_id: scene.workspace_id,
      folder_id,
    });
    expect([error.code, error.data]).toEqual([-32602, { kind: "folder.not_found", folder_id }]);
  });
}
