import { expect, test } from "vitest";
import { openDatabase, recent, type Scene, type Stage, stageOn } from "../support/agents-doc.js";
import { onEachStore } from "../support/stores.js";

onEachStore("resolution of documents", (kind) => {
  const stage = stageOn(kind);
  nearest(stage);
  drafts(stage);
  shape(stage);
  threads(stage);
  placements(stage);
  depth(stage);
  names(stage);
});

/** Folders one below the other. */
async function chain(scene: Scene, ...path: string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const name of path) ids.push(await scene.folder(name, ids.at(-1)));
  return ids;
}

/** What is in effect in a folder and for a thread in it: the same, so told once. */
async function inEffect(scene: Scene, folder_id?: string): Promise<string | undefined> {
  const { effective } = await scene.get(folder_id);
  const thread = await scene.resolve(await scene.thread(folder_id));
  expect({ ...thread.effective, resolved_at: 0 }).toEqual({ ...effective, resolved_at: 0 });
  return effective?.doc.content;
}

function nearest({ scene: open }: Stage): void {
  test("[DOC4] [DOC27] [API2] the nearest active document wins alone", async () => {
    const scene = await open();
    const [a, b, c] = await chain(scene, "A", "B", "C");
    await scene.save("root");
    await scene.save("a", { folder_id: a });
    await scene.save("c", { folder_id: c });
    expect(await inEffect(scene)).toBe("root");
    expect(await inEffect(scene, a)).toBe("a");
    expect(await inEffect(scene, b)).toBe("a");
    expect(await inEffect(scene, c)).toBe("c");
  });

  test("[DOC28] with none in the folders the root's counts", async () => {
    const scene = await open();
    const [, b] = await chain(scene, "A", "B");
    await scene.save("root");
    expect(await inEffect(scene, b)).toBe("root");
  });

  test("[DOC29] [API23] with none at all there is no effective", async () => {
    const scene = await open();
    const [a, b] = await chain(scene, "A", "B");
    await scene.save("elsewhere", { folder_id: await scene.folder("Other") });
    await scene.save("below", { folder_id: await scene.folder("C", b) });
    expect(await scene.get(b)).toEqual({});
    expect(await scene.resolve(await scene.thread(a))).toEqual({});
    expect(await inEffect(scene)).toBe(undefined);
  });

  test("[DOC1] the next to resolve gets each change, without a restart or a reload", async () => {
    const scene = await open();
    const [a, b] = await chain(scene, "A", "B");
    const thread_id = await scene.thread(b);
    const seen: (string | undefined)[] = [];
    const look = async () => seen.push((await scene.resolve(thread_id)).effective?.doc.content);
    await look();
    await scene.save("root");
    await look();
    await scene.save("a", { folder_id: a });
    await look();
    await scene.save("b", { folder_id: b });
    await look();
    await scene.save("", { folder_id: b });
    await look();
    await scene.archive({ folder_id: a });
    await look();
    await scene.archive();
    await look();
    expect(seen).toEqual([undefined, "root", "a", "b", "a", "root", undefined]);
  });

  test("[DOC4] documents of another workspace never count", async () => {
    const scene = await open();
    await (await open()).save("foreign");
    expect(await scene.get()).toEqual({});
  });
}

function drafts({ scene: open }: Stage): void {
  test("[DOC5] [DOC78] [DOC24] drafts at every level neither block nor resolve", async () => {
    const scene = await open();
    const [a, b, c] = await chain(scene, "A", "B", "C");
    await scene.save("root");
    for (const folder_id of [a, b, c]) await scene.save(" \n", { folder_id });
    expect(await inEffect(scene, c)).toBe("root");
    await scene.save("a", { folder_id: a });
    expect(await inEffect(scene, c)).toBe("a");
    await scene.save("", {});
    await scene.save("", { folder_id: a });
    expect(await inEffect(scene, c)).toBe(undefined);
    const rows = (await scene.tree()).agents_docs;
    expect(rows.map(({ status, char_count }) => [status, char_count])).toEqual([
      ["draft", 0],
      ["draft", 0],
      ["draft", 2],
      ["draft", 2],
    ]);
  });
}

function shape({ scene: open }: Stage): void {
  test("[DOC31] [DOC79] [DOC80] [API20] a document inherited from a folder, whole", async () => {
    const scene = await open();
    const [, b, , d] = await chain(scene, "A", "B", "C", "D");
    const doc = await scene.save("b", { folder_id: b });
    expect((await scene.get(d)).effective).toEqual({
      doc,
      source_folder_id: b,
      source_path: ["A", "B"],
      inherited: true,
      resolved_for_folder_id: d,
      resolved_at: recent,
    });
  });

  test("[DOC79] inherited is false for the scope's own document", async () => {
    const scene = await open();
    const [, b] = await chain(scene, "A", "B");
    await scene.save("root");
    await scene.save("b", { folder_id: b });
    const of = async (folder_id?: string) => {
      const own = (await scene.get(folder_id)).effective;
      const { effective } = await scene.resolve(await scene.thread(folder_id));
      return [own?.inherited, effective?.inherited, own?.source_path];
    };
    expect(await of(b)).toEqual([false, false, ["A", "B"]]);
    expect(await of()).toEqual([false, false, []]);
  });

  test("[DOC80] [API19] the root as source: an empty path, no source_folder_id", async () => {
    const scene = await open();
    const [a] = await chain(scene, "A");
    const doc = await scene.save("root");
    const common = { doc, source_path: [], resolved_at: recent };
    expect(await scene.get(a)).toEqual({
      effective: { ...common, inherited: true, resolved_for_folder_id: a },
    });
    expect(await scene.get()).toEqual({ explicit: doc, effective: { ...common, inherited: false } });
  });

  test("[DOC80] names in the path are as they were given", async () => {
    const scene = await open();
    const path = ["a/b", "cafe\u0301", "😀 ", "..", "null", '"<&>"'];
    const ids = await chain(scene, ...path);
    await scene.save("deep", { folder_id: ids.at(-1) });
    expect((await scene.get(ids.at(-1))).effective?.source_path).toEqual(path);
  });
}

function threads({ scene: open }: Stage): void {
  test("[DOC30] a thread resolves from the folder of its placement", async () => {
    const scene = await open();
    const [a, b] = await chain(scene, "A", "B");
    await scene.save("root");
    const doc = await scene.save("a", { folder_id: a });
    expect(await scene.resolve(await scene.thread(b))).toEqual({
      effective: {
        doc,
        source_folder_id: a,
        source_path: ["A"],
        inherited: true,
        resolved_for_folder_id: b,
        resolved_at: recent,
      },
    });
  });

  test("[API7] workspace_id may be left out", async () => {
    const scene = await open();
    const doc = await scene.save("root");
    const thread_id = await scene.thread();
    const { effective } = await scene.wire.result("thread/agents_doc/resolve_for_thread", { thread_id });
    expect(effective?.doc).toEqual(doc);
  });

  test("[DOC81] an unknown, deleted or foreign thread is refused", async () => {
    const scene = await open();
    const { workspace_id, wire } = scene;
    const foreign = await (await open()).thread();
    const deleted = await scene.thread();
    expect(await scene.resolve(deleted)).toEqual({});
    await wire.result("thread/delete", { thread_id: deleted });
    for (const params of [
      { workspace_id, thread_id: "thr_unknown" },
      { workspace_id, thread_id: foreign },
      { workspace_id, thread_id: deleted },
      { thread_id: "thr_unknown" },
      { thread_id: deleted },
    ]) {
      const { code, data } = await wire.error("thread/agents_doc/resolve_for_thread", params);
      expect([code, data]).toEqual([-32602, { kind: "thread.not_found", thread_id: params.thread_id }]);
    }
    const params = { workspace_id: "ws_unknown", thread_id: foreign };
    const { code, data } = await wire.error("thread/agents_doc/resolve_for_thread", params);
    expect([code, data]).toEqual([-32602, { kind: "workspace.not_found", workspace_id: "ws_unknown" }]);
  });
}

function placements({ scene: open, gateway }: Stage): void {
  test("[API34] [DOC30] a thread without any placement resolves against the root", async () => {
    const scene = await open();
    const folder_id = await scene.folder("A");
    await scene.save("a", { folder_id });
    const thread_id = await scene.thread(folder_id);
    const database = await openDatabase(gateway().place);
    try {
      await database.all(`delete from thread_placement where thread_id = '${thread_id}'`);
    } finally {
      await database.close();
    }
    expect(await scene.resolve(thread_id)).toEqual({});
    const doc = await scene.save("root");
    expect(await scene.resolve(thread_id)).toEqual({
      effective: { doc, source_path: [], inherited: false, resolved_at: recent },
    });
    const { threads: listed } = await scene.tree();
    expect(listed.map(({ id, folder_id: place }) => [id, place])).toEqual([[thread_id, undefined]]);
  });
}

function depth({ scene: open }: Stage): void {
  test("[DOC86] 64 levels and no more, and resolution reaches from the deepest", async () => {
    const scene = await open();
    const path = Array.from({ length: 64 }, (_, i) => `level ${i + 1}`);
    const ids = await chain(scene, ...path);
    const params = { workspace_id: scene.workspace_id, name: "65", parent_folder_id: ids.at(-1) };
    const { code, data } = await scene.wire.error("thread/folder/create", params);
    expect([code, data]).toEqual([-32600, { kind: "folder.too_deep", depth: 65, limit: 64 }]);
    await scene.save("root");
    expect(await inEffect(scene, ids.at(-1))).toBe("root");
    await scene.save("first", { folder_id: ids[0] });
    const { effective } = await scene.get(ids.at(-1));
    expect([effective?.doc.content, effective?.source_path, effective?.inherited]).toEqual([
      "first",
      ["level 1"],
      true,
    ]);
    const doc = await scene.save("last", { folder_id: ids.at(-1) });
    expect((await scene.get(ids.at(-1))).effective).toEqual({
      doc,
      source_folder_id: ids.at(-1),
      source_path: path,
      inherited: false,
      resolved_for_folder_id: ids.at(-1),
      resolved_at: recent,
    });
  });
}

function names({ scene: open }: Stage): void {
  test("[DOC84] names have 1 to 255 code points and no control characters", async () => {
    const scene = await open();
    const { workspace_id, wire } = scene;
    const thread_id = await scene.thread();
    for (const name of ["x", "😀".repeat(255), "a".repeat(255)]) {
      expect((await wire.result("thread/folder/create", { workspace_id, name })).folder.name).toBe(name);
      expect((await wire.result("thread/update", { thread_id, title: name })).thread.title).toBe(name);
    }
    for (const name of ["", "a".repeat(256), "😀".repeat(256), "a\nb", "\t", "\u007f", "\u0085"]) {
      expect((await wire.error("thread/folder/create", { workspace_id, name })).code).toBe(-32602);
      expect((await wire.error("thread/update", { thread_id, title: name })).code).toBe(-32602);
    }
  });

  test("[DOC85] folders of one name keep documents of their own, in the order of their places", async () => {
    const scene = await open();
    const { workspace_id, wire } = scene;
    const first = await scene.folder("Same");
    const params = { workspace_id, name: "Same", after_id: null };
    const second = (await wire.result("thread/folder/create", params)).folder.id;
    await scene.save("first", { folder_id: first });
    await scene.save("second", { folder_id: second });
    const order = async () => (await scene.tree()).folders.map((folder) => folder.id);
    expect(await order()).toEqual([second, first]);
    expect([await inEffect(scene, first), await inEffect(scene, second)]).toEqual(["first", "second"]);
    await wire.result("thread/folder/move", { workspace_id, folder_id: second, after_id: first });
    expect(await order()).toEqual([first, second]);
    expect(await inEffect(scene, second)).toBe("second");
  });
}
