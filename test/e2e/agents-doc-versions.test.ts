import { expect, test } from "vitest";
import { anyDocId, docLike, recent, type Scene, type Stage, sha256, stageOn } from "../support/agents-doc.js";
import { onEachStore } from "../support/stores.js";

onEachStore("versions of documents", (kind) => {
  const stage = stageOn(kind);
  saving(stage);
  identicalSaves(stage);
  expectedVersions(stage);
  conflicts(stage);
  archiving(stage);
  lifecycle(stage);
});

/** The error of a save, archive or restore that must be refused. */
function refused(scene: Scene, verb: string, params: object) {
  return scene.wire.error(`thread/agents_doc/${verb}`, { workspace_id: scene.workspace_id, ...params });
}

function saving({ scene: open, restart, gateway }: Stage): void {
  test("[DOC42] [API5] the first save makes version 1 and its revision", async () => {
    const scene = await open();
    const doc = await scene.save("# One\n");
    expect(doc).toEqual(docLike("# One\n", { workspace_id: scene.workspace_id, version: 1 }));
    expect(await scene.revisions()).toEqual([
      {
        doc_id: doc.id,
        version: 1,
        content_sha256: sha256("# One\n"),
        char_count: 6,
        reason: "autosave",
        saved_at: recent,
      },
    ]);
  });

  test("[DOC42] so does the first save of a draft", async () => {
    const scene = await open();
    const doc = await scene.save("");
    expect([doc.version, doc.status]).toEqual([1, "draft"]);
    expect((await scene.revisions()).map((each) => each.version)).toEqual([1]);
  });

  test("[DOC17] [DOC13] [DOC20] each change raises the version by one under the same id", async () => {
    const scene = await open();
    const saved = [];
    for (const content of ["a", "b", "", "a", " "]) saved.push(await scene.save(content));
    expect(saved.map((doc) => doc.version)).toEqual([1, 2, 3, 4, 5]);
    expect(new Set(saved.map((doc) => doc.id)).size).toBe(1);
    expect((await scene.revisions()).map((each) => each.version)).toEqual([5, 4, 3, 2, 1]);
  });

  test("[DOC3] a scope has one document, and each scope its own", async () => {
    const scene = await open();
    const [a, b] = [await scene.folder("A"), await scene.folder("B")];
    for (const folder_id of [undefined, a, b]) {
      for (const content of ["x", "y"]) await scene.save(`${content} ${folder_id}`, { folder_id });
    }
    const rows = (await scene.tree()).agents_docs;
    expect(rows.map((row) => [row.folder_id, row.version])).toEqual([
      [undefined, 2],
      [a, 2],
      [b, 2],
    ]);
  });

  test("[DOC32] saving in a folder leaves the inherited document alone", async () => {
    const scene = await open();
    const root = await scene.save("# Root\n");
    const folder_id = await scene.folder("A");
    await scene.save("# A\n", { folder_id });
    await scene.archive({ folder_id });
    expect((await scene.get()).explicit).toEqual(root);
  });

  test("[DOC1] [API1] documents outlive a restart", async () => {
    const scene = await open();
    const folder_id = await scene.folder("A");
    const doc = await scene.save("# A\n", { folder_id });
    const draft = await scene.save(" ");
    await restart();
    const wire = await gateway().wire();
    const { workspace_id } = scene;
    const read = (id?: string) => wire.result("thread/agents_doc/get", { workspace_id, folder_id: id });
    expect((await read(folder_id)).explicit).toEqual(doc);
    expect(await read()).toEqual({ explicit: draft });
  });
}

function identicalSaves({ scene: open }: Stage): void {
  test.each(["# Same\n", "", "  \n"])(
    "[DOC44] [DOC71] saving %j again makes no version, revision or notification",
    async (content) => {
      const scene = await open();
      const first = await scene.save(content, { save_reason: "manual" });
      const state = await scene.state();
      await scene.news();
      const { version } = first;
      for (const more of [{}, { save_reason: "manual" } as const, { expected_version: version }]) {
        expect(await scene.save(content, more)).toEqual(first);
      }
      expect(await scene.news()).toEqual([]);
      expect(await scene.state()).toEqual(state);
    },
  );

  test("[DOC44] content that is identical once normalised is identical", async () => {
    const scene = await open();
    const first = await scene.save("a\nb\n");
    expect(await scene.save("\uFEFFa\r\nb\r")).toEqual(first);
  });

  test("[DOC45] an identical save with another expected_version is a conflict", async () => {
    const scene = await open();
    await scene.save("a");
    await scene.save("b");
    const state = await scene.state();
    for (const expected_version of [0, 1, 3]) {
      const error = await refused(scene, "save", { content: "b", expected_version });
      expect(error.data).toEqual({ kind: "version_conflict", expected_version, actual_version: 2 });
    }
    expect(await scene.state()).toEqual(state);
  });

  test("[DOC44] the content of another version is not identical", async () => {
    const scene = await open();
    for (const content of ["a", "b", "a"]) await scene.save(content);
    expect((await scene.get()).explicit).toMatchObject({ version: 3, content: "a" });
  });
}

function expectedVersions({ scene: open }: Stage): void {
  test("[DOC46] [API28] without expected_version the last write wins", async () => {
    const scene = await open();
    const other = await scene.other();
    await scene.save("mine");
    const doc = await other.save("theirs");
    expect(doc.version).toBe(2);
    expect((await scene.get()).explicit).toEqual(doc);
  });

  test("[DOC47] 0 makes the first version, and only that", async () => {
    const scene = await open();
    expect((await scene.save("a", { expected_version: 0 })).version).toBe(1);
    const error = await refused(scene, "save", { content: "b", expected_version: 0 });
    expect(error.data).toEqual({ kind: "version_conflict", expected_version: 0, actual_version: 1 });
    expect((await scene.get()).explicit?.content).toBe("a");
  });

  test("[DOC47] 0 is refused by a draft, and fits again after an archive", async () => {
    const scene = await open();
    await scene.save("");
    expect((await refused(scene, "save", { content: "a", expected_version: 0 })).code).toBe(-32600);
    await scene.archive();
    expect((await scene.save("a", { expected_version: 0 })).version).toBe(1);
  });

  test("[DOC48] N with no document, or another version, writes nothing", async () => {
    const scene = await open();
    await refused(scene, "save", { content: "a", expected_version: 1 });
    expect(await scene.get()).toEqual({});
    await scene.save("a");
    await scene.save("b");
    await scene.news();
    const state = await scene.state();
    for (const expected_version of [1, 3, 2 ** 40]) {
      await refused(scene, "save", { content: "c", expected_version });
      await refused(scene, "archive", { expected_version });
    }
    expect(await scene.state()).toEqual(state);
    expect(await scene.news()).toEqual([]);
    expect((await scene.save("c", { expected_version: 2 })).version).toBe(3);
  });

  test("[DOC48] the version before an archive is not the version after it", async () => {
    const scene = await open();
    await scene.save("a");
    await scene.archive({ expected_version: 1 });
    for (const expected_version of [1, 2]) {
      const { data } = await refused(scene, "save", { content: "b", expected_version });
      expect(data).toEqual({ kind: "version_conflict", expected_version, actual_version: null });
    }
  });

  test("[DOC49] null means absent", async () => {
    const scene = await open();
    const first = await scene.save("a", { expected_version: null, folder_id: null, save_reason: null });
    expect(first).toEqual(docLike("a", { workspace_id: scene.workspace_id }));
    expect((await scene.save("b", { expected_version: null })).version).toBe(2);
    expect((await scene.get(undefined)).explicit?.version).toBe(2);
    expect((await scene.archive({ expected_version: null, folder_id: null })).archived).toBe(true);
    expect((await scene.revisions()).map((each) => each.reason)).toEqual(["archive", "autosave", "autosave"]);
  });
}

function conflicts({ scene: open }: Stage): void {
  test.each([
    ["save", { content: "c" }],
    ["archive", {}],
  ])("[DOC50] [API29] [API45] the error of a conflicting %s", async (verb, params) => {
    const scene = await open();
    for (const content of ["a", "b", "c", "d"]) await scene.save(content);
    const error = await refused(scene, verb, { ...params, expected_version: 17 });
    expect(error).toEqual({
      code: -32600,
      message: expect.stringMatching(/\b17\b.*\b4\b/),
      data: { kind: "version_conflict", expected_version: 17, actual_version: 4 },
    });
  });

  test("[DOC50] actual_version is null when there is no document", async () => {
    const scene = await open();
    const error = await refused(scene, "save", { content: "a", expected_version: 17 });
    expect(error).toEqual({
      code: -32600,
      message: expect.stringMatching(/\b17\b/),
      data: { kind: "version_conflict", expected_version: 17, actual_version: null },
    });
  });

  test("[DOC33] a client that sends the version it has never overwrites what it has not seen", async () => {
    const scene = await open();
    await scene.save("# Start\n");
    const [one, two] = [scene.gateway.client("one"), scene.gateway.client("two")];
    const { workspace_id } = scene;
    const load = (client: typeof one) => client.call("thread/agents_doc/get", { workspace_id });
    const save = (client: typeof one, content: string, expected_version: number | undefined) =>
      client.call("thread/agents_doc/save", {
        workspace_id,
        content,
        expected_version,
        save_reason: "autosave",
      });
    const [seenByOne, seenByTwo] = [await load(one), await load(two)];
    const { doc } = await save(one, "# By one\n", seenByOne.explicit?.version);
    await expect(save(two, "# By two\n", seenByTwo.explicit?.version)).rejects.toMatchObject({
      code: -32600,
    });
    expect((await load(two)).explicit).toEqual(doc);
    expect((await save(two, "# Both\n", doc.version)).doc).toMatchObject({ version: 3, content: "# Both\n" });
    expect((await save(two, "# More\n", 3)).doc.version).toBe(4);
  });
}

function archiving({ scene: open }: Stage): void {
  test("[DOC52] [DOC26] [API6] an archive raises the version and writes a revision", async () => {
    const scene = await open();
    const doc = await scene.save("# A\n");
    const [other, a] = [await scene.folder("B"), await scene.folder("A")];
    await scene.save("# B\n", { folder_id: other });
    await scene.save("# A\n", { folder_id: a });
    await scene.archive({ folder_id: a });
    expect(await scene.archive({ expected_version: 1 })).toEqual({ archived: true });
    expect(await scene.get()).toEqual({});
    expect((await scene.revisions())[0]).toEqual({
      doc_id: doc.id,
      version: 2,
      content_sha256: doc.content_sha256,
      char_count: 4,
      reason: "archive",
      saved_at: recent,
    });
    expect((await scene.get(other)).explicit?.content).toBe("# B\n");
  });

  test("[DOC53] [API32] with no document: archived false whatever expected_version says", async () => {
    const scene = await open();
    const root = await scene.save("# Root\n");
    const folder_id = await scene.folder("A");
    await scene.news();
    const state = await scene.state();
    for (const expected_version of [undefined, null, 0, 1, 99]) {
      const { archived, effective, ...rest } = await scene.archive({ folder_id, expected_version });
      expect({ archived, rest }).toEqual({ archived: false, rest: {} });
      expect(effective).toEqual({
        doc: root,
        source_path: [],
        inherited: true,
        resolved_for_folder_id: folder_id,
        resolved_at: recent,
      });
    }
    expect(await scene.state()).toEqual(state);
    expect(await scene.news()).toEqual([]);
  });

  test("[DOC53] archiving twice: the second finds nothing", async () => {
    const scene = await open();
    await scene.save("a");
    expect(await scene.archive()).toEqual({ archived: true });
    expect(await scene.archive({ expected_version: 2 })).toEqual({ archived: false });
    expect((await scene.revisions()).length).toBe(2);
  });

  test("[DOC24] [DOC52] a draft can be archived too", async () => {
    const scene = await open();
    await scene.save("");
    expect(await scene.archive({ expected_version: 1 })).toEqual({ archived: true });
    expect((await scene.tree()).agents_docs).toEqual([]);
  });
}

function lifecycle({ scene: open }: Stage): void {
  test("[DOC51] [DOC23] a save after an archive makes a new document and keeps the old one", async () => {
    const scene = await open();
    const old = await scene.save("# Old\n");
    await scene.archive();
    const doc = await scene.save("# Old\n");
    expect(doc).toEqual(docLike("# Old\n", { workspace_id: scene.workspace_id, id: anyDocId, version: 1 }));
    expect(doc.id).not.toBe(old.id);
    expect((await scene.revisions()).map((each) => [each.doc_id, each.version])).toEqual([
      [doc.id, 1],
      [old.id, 2],
      [old.id, 1],
    ]);
    expect((await scene.tree()).agents_docs.map((each) => each.id)).toEqual([doc.id]);
  });

  test("[API14] [DOC23] an archived document is in no tree and in effect nowhere", async () => {
    const scene = await open();
    const folder_id = await scene.folder("A");
    await scene.save("# A\n", { folder_id });
    const thread_id = await scene.thread(folder_id);
    await scene.archive({ folder_id });
    expect((await scene.tree()).agents_docs).toEqual([]);
    expect(await scene.resolve(thread_id)).toEqual({});
    expect(await scene.get(folder_id)).toEqual({});
  });

  test("[DOC15] [DOC18] the title is AGENTS.md and created_at stays", async () => {
    const scene = await open();
    const first = await scene.save("a");
    const second = await scene.save("b");
    expect([first.title, second.title]).toEqual(["AGENTS.md", "AGENTS.md"]);
    expect(second.created_at).toBe(first.created_at);
    expect(second.updated_at).toBeGreaterThanOrEqual(first.updated_at);
    expect(Object.keys(second)).not.toContain("archived_at");
  });

  test("[API9] [API36] [DOC6] a row of the tree agrees with get, and no content is in the tree", async () => {
    const scene = await open();
    const folder_id = await scene.folder("A");
    const secret = "a-text-that-stands-nowhere-else";
    await scene.save(`# ${secret} 😀\n`, { folder_id });
    await scene.save(" ");
    await scene.thread(folder_id);
    const tree = await scene.tree();
    expect(JSON.stringify(tree)).not.toContain(secret);
    for (const row of tree.agents_docs) {
      const { explicit } = await scene.get(row.folder_id);
      const { title, content, created_at, ...rest } = docLike("", { ...explicit });
      expect(row).toEqual({ ...rest, char_count: [...content].length });
    }
    expect(tree.agents_docs.length).toBe(2);
    const heard = (await scene.news()).filter(({ method }) => method === "thread/tree/changed");
    expect(JSON.stringify(heard)).not.toContain(secret);
  });
}
