import { expect, test } from "vitest";
import type { AgentsDocRevision } from "../../src/protocol/index.js";
import { docLike, recent, type Scene, type Stage, sha256, stageOn } from "../support/agents-doc.js";
import { onEachStore } from "../support/stores.js";

onEachStore("revisions of documents", (kind) => {
  const stage = stageOn(kind);
  listing(stage);
  paging(stage);
  reading(stage);
  restoring(stage);
  restoringAgain(stage);
  reasons(stage);
});

const METHOD = "thread/agents_doc";

/** A folder with two archived documents and a living one: 2, 3 and 2 revisions. */
async function longHistory(scene: Scene): Promise<{ folder_id: string; ids: string[] }> {
  const folder_id = await scene.folder("A");
  const ids: string[] = [];
  for (const contents of [["a1"], ["b1", "b2"], ["c1", "c2"]]) {
    for (const content of contents) ids.push((await scene.save(content, { folder_id })).id);
    if (contents[0] !== "c1") await scene.archive({ folder_id });
  }
  return { folder_id, ids: [...new Set(ids)] };
}

const inShort = (revisions: AgentsDocRevision[], ids: string[]) =>
  revisions.map(({ doc_id, version, reason }) => `${"abc"[ids.indexOf(doc_id)]}${version} ${reason}`);

const WHOLE = [
  "c2 autosave",
  "c1 autosave",
  "b3 archive",
  "b2 autosave",
  "b1 autosave",
  "a2 archive",
  "a1 autosave",
];

function listing({ scene: open }: Stage): void {
  test("[DOC54] those of every document the scope ever had, newest first", async () => {
    const scene = await open();
    const { folder_id, ids } = await longHistory(scene);
    await scene.save("root");
    await scene.save("elsewhere", { folder_id: await scene.folder("B", folder_id) });
    expect(inShort(await scene.revisions(folder_id), ids)).toEqual(WHOLE);
    expect((await scene.revisions()).length).toBe(1);
  });

  test("[DOC54] a revision in the list, whole and without content", async () => {
    const scene = await open();
    const doc = await scene.save("# Ä😀\r\n", { save_reason: "manual" });
    const { data, ...rest } = await scene.wire.result(`${METHOD}/revisions`, {
      workspace_id: scene.workspace_id,
    });
    expect(rest).toEqual({});
    expect(data).toEqual([
      {
        doc_id: doc.id,
        version: 1,
        content_sha256: sha256("# Ä😀\n"),
        char_count: 5,
        reason: "manual",
        saved_at: recent,
      },
    ]);
  });

  test("[DOC54] a scope that never had a document has none", async () => {
    const scene = await open();
    expect(await scene.revisions()).toEqual([]);
    expect(await scene.revisions(await scene.folder("A"))).toEqual([]);
  });
}

function paging({ scene: open }: Stage): void {
  async function walk(scene: Scene, folder_id: string, limit: number, between = async () => {}) {
    const pages: AgentsDocRevision[][] = [];
    let cursor: string | undefined;
    do {
      const params = { workspace_id: scene.workspace_id, folder_id, limit, cursor };
      const page = await scene.wire.result(`${METHOD}/revisions`, params);
      pages.push(page.data);
      cursor = page.next_cursor;
      await between();
    } while (cursor !== undefined);
    return pages;
  }

  test.each([1, 2, 3, 6, 7, 8])("[DOC55] by pages of %i, each revision once", async (limit) => {
    const scene = await open();
    const { folder_id, ids } = await longHistory(scene);
    const pages = await walk(scene, folder_id, limit);
    expect(inShort(pages.flat(), ids)).toEqual(WHOLE);
    expect(pages.length).toBe(Math.ceil(7 / limit));
    expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true);
  });

  test("[DOC55] what is added meanwhile does not disturb the walk", async () => {
    const scene = await open();
    const { folder_id, ids } = await longHistory(scene);
    let content = 0;
    const pages = await walk(scene, folder_id, 2, async () => {
      await scene.save(`new ${content++}`, { folder_id });
    });
    expect(inShort(pages.flat(), ids)).toEqual(WHOLE);
  });

  test("[DOC55] a hundred by default", async () => {
    const scene = await open();
    for (let i = 0; i < 101; i++) await scene.save(`${i}`);
    const { workspace_id } = scene;
    const { data, next_cursor } = await scene.wire.result(`${METHOD}/revisions`, { workspace_id });
    expect(data.map(({ version }) => version)).toEqual(Array.from({ length: 100 }, (_, i) => 101 - i));
    const rest = await scene.wire.result(`${METHOD}/revisions`, { workspace_id, cursor: next_cursor });
    expect([rest.data.map(({ version }) => version), "next_cursor" in rest]).toEqual([[1], false]);
  });

  test.each(["", "x", "bm90IGpzb24", "W10", "WzEsMl0", "\u{1f600}"])(
    "[DOC55] [DOC82] a cursor that no list gave is refused: %j",
    async (cursor) => {
      const scene = await open();
      const error = await scene.wire.error(`${METHOD}/revisions`, {
        workspace_id: scene.workspace_id,
        cursor,
      });
      expect([error.code, error.data]).toEqual([-32602, { kind: "cursor_invalid" }]);
    },
  );

  test("[DOC55] a cursor past every version finds them all", async () => {
    const scene = await open();
    const { id } = await scene.save("a");
    await scene.save("b");
    const cursor = Buffer.from(JSON.stringify([id, 2 ** 50])).toString("base64url");
    const { data } = await scene.wire.result(`${METHOD}/revisions`, {
      workspace_id: scene.workspace_id,
      cursor,
    });
    expect(data.map(({ version }) => version)).toEqual([2, 1]);
  });

  test.each([0, -1, 501, 1.5, "10"])("[DOC82] a limit of %j is refused", async (limit) => {
    const scene = await open();
    const error = await scene.wire.error(`${METHOD}/revisions`, {
      workspace_id: scene.workspace_id,
      limit,
    });
    expect([error.code, error.data.kind]).toEqual([-32602, "invalid_params"]);
  });
}

function reading({ scene: open }: Stage): void {
  test("[DOC56] [DOC20] one version with its content, also of an archived document", async () => {
    const scene = await open();
    const { folder_id } = await longHistory(scene);
    const contents = ["c2", "c1", "b2", "b2", "b1", "a1", "a1"];
    const listed = await scene.revisions(folder_id);
    for (const [index, revision] of listed.entries()) {
      const { doc_id, version } = revision;
      const params = { workspace_id: scene.workspace_id, doc_id, version };
      expect(await scene.wire.result(`${METHOD}/revision`, params)).toEqual({
        revision: { ...revision, content: contents[index] },
      });
    }
    expect(listed.length).toBe(7);
  });

  test("[DOC23] revisions of a document stay readable after its folder is gone", async () => {
    const scene = await open();
    const { workspace_id } = scene;
    const folder_id = await scene.folder("A");
    const doc = await scene.save("# A\n", { folder_id });
    await scene.wire.result("thread/folder/delete", { workspace_id, folder_id });
    for (const [version, reason] of [
      [1, "autosave"],
      [2, "archive"],
    ] as const) {
      const params = { workspace_id, doc_id: doc.id, version };
      const { revision } = await scene.wire.result(`${METHOD}/revision`, params);
      expect(revision).toMatchObject({ content: "# A\n", reason });
    }
    const error = await scene.wire.error(`${METHOD}/restore`, { workspace_id, doc_id: doc.id, version: 1 });
    expect([error.code, error.data]).toEqual([-32602, { kind: "folder.not_found", folder_id }]);
  });

  test.each(["revision", "restore"])("[DOC57] %s of what is not there is refused", async (verb) => {
    const scene = await open();
    const other = await open();
    const doc = await scene.save("a");
    const foreign = await other.save("b");
    const state = await scene.state();
    const refuse = async (doc_id: string, version: number) => {
      const params = { workspace_id: scene.workspace_id, doc_id, version };
      const { code, data } = await scene.wire.error(`${METHOD}/${verb}`, params);
      return { code, data };
    };
    const missing = (doc_id: string) => ({ code: -32602, data: { kind: "agents_doc.not_found", doc_id } });
    expect(await refuse("agd_unknown", 1)).toEqual(missing("agd_unknown"));
    expect(await refuse(foreign.id, 1)).toEqual(missing(foreign.id));
    expect(await refuse(doc.id, 2)).toEqual({
      code: -32602,
      data: { kind: "agents_doc.revision_not_found", doc_id: doc.id, version: 2 },
    });
    expect((await refuse(doc.id, 2 ** 50)).code).toBe(-32602);
    expect(await scene.state()).toEqual(state);
  });
}

function restoring({ scene: open }: Stage): void {
  test("[DOC58] an earlier version becomes the next one", async () => {
    const scene = await open();
    const first = await scene.save("# One\n");
    await scene.save("# Two\n");
    await scene.news();
    const doc = await scene.restore(first.id, 1);
    expect(doc).toEqual(docLike("# One\n", { workspace_id: scene.workspace_id, id: first.id, version: 3 }));
    expect((await scene.get()).explicit).toEqual(doc);
    const [latest] = await scene.revisions();
    expect(latest).toMatchObject({ version: 3, reason: "restore", content_sha256: first.content_sha256 });
    const heard = await scene.news();
    expect(heard.map(({ method }) => method)).toEqual(["thread/agents_doc/changed", "thread/tree/changed"]);
    expect(heard[0]?.params.doc).toEqual(doc);
  });

  test("[DOC58] in its own folder, whatever other scopes hold", async () => {
    const scene = await open();
    const folder_id = await scene.folder("A");
    const { id } = await scene.save("one", { folder_id });
    await scene.save("two", { folder_id });
    await scene.save("root");
    expect(await scene.restore(id, 1)).toMatchObject({ folder_id, version: 3, content: "one" });
    expect((await scene.get()).explicit?.content).toBe("root");
  });

  test("[DOC58] exactly as it was, even where it begins with a byte order mark", async () => {
    const scene = await open();
    const { id, content_sha256 } = await scene.save("\uFEFF\uFEFFone");
    await scene.save("two");
    const doc = await scene.restore(id, 1);
    expect([doc.content, doc.content_sha256]).toEqual(["\uFEFFone", content_sha256]);
  });

  test("[DOC58] a draft is restored as a draft, an archived content as text", async () => {
    const scene = await open();
    const { id } = await scene.save("");
    await scene.save("text");
    expect((await scene.restore(id, 1)).status).toBe("draft");
    await scene.restore(id, 2);
    await scene.archive();
    expect(await scene.restore(id, 5)).toMatchObject({ status: "active", content: "text", version: 1 });
  });

  test("[DOC59] after an archive a restore makes a new document", async () => {
    const scene = await open();
    const old = await scene.save("# One\n");
    await scene.archive();
    const doc = await scene.restore(old.id, 1);
    expect(doc).toEqual(docLike("# One\n", { workspace_id: scene.workspace_id, version: 1 }));
    expect(doc.id).not.toBe(old.id);
    expect((await scene.revisions()).map((each) => [each.doc_id, each.version, each.reason])).toEqual([
      [doc.id, 1, "restore"],
      [old.id, 2, "archive"],
      [old.id, 1, "autosave"],
    ]);
  });

  test("[DOC59] a version of an archived document goes onto the one there is", async () => {
    const scene = await open();
    const old = await scene.save("old");
    await scene.archive();
    const current = await scene.save("new");
    const doc = await scene.restore(old.id, 1);
    expect(doc).toMatchObject({ id: current.id, version: 2, content: "old" });
  });
}

function restoringAgain({ scene: open }: Stage): void {
  test("[DOC60] restoring the current content changes nothing", async () => {
    const scene = await open();
    const { id } = await scene.save("same");
    await scene.save("other");
    const doc = await scene.save("same");
    await scene.news();
    const state = await scene.state();
    expect(await scene.restore(id, 1)).toEqual(doc);
    expect(await scene.restore(id, 3, { expected_version: 3 })).toEqual(doc);
    expect(await scene.state()).toEqual(state);
    expect(await scene.news()).toEqual([]);
  });

  test("[DOC61] another expected_version is a conflict, also for identical content", async () => {
    const scene = await open();
    const { id } = await scene.save("one");
    await scene.save("two");
    const state = await scene.state();
    for (const [version, expected_version] of [
      [1, 1],
      [1, 0],
      [1, 3],
      [2, 1],
    ]) {
      const params = { workspace_id: scene.workspace_id, doc_id: id, version, expected_version };
      expect(await scene.wire.error(`${METHOD}/restore`, params)).toEqual({
        code: -32600,
        message: expect.stringMatching(new RegExp(`\\b${expected_version}\\b.*\\b2\\b`)),
        data: { kind: "version_conflict", expected_version, actual_version: 2 },
      });
    }
    expect(await scene.state()).toEqual(state);
    expect((await scene.restore(id, 1, { expected_version: 2 })).version).toBe(3);
  });

  test("[DOC61] after an archive the version to expect is 0", async () => {
    const scene = await open();
    const { id } = await scene.save("one");
    await scene.archive();
    const params = { workspace_id: scene.workspace_id, doc_id: id, version: 1, expected_version: 2 };
    const { code, data } = await scene.wire.error(`${METHOD}/restore`, params);
    expect([code, data]).toEqual([
      -32600,
      { kind: "version_conflict", expected_version: 2, actual_version: null },
    ]);
    expect((await scene.restore(id, 1, { expected_version: 0 })).version).toBe(1);
  });
}

function reasons({ scene: open }: Stage): void {
  test("[DOC62] [DOC63] each revision has its reason; without one it is autosave", async () => {
    const scene = await open();
    const { id } = await scene.save("a");
    await scene.save("b", { save_reason: "autosave" });
    await scene.save("c", { save_reason: "manual" });
    await scene.restore(id, 1);
    await scene.archive();
    expect((await scene.revisions()).map((each) => each.reason)).toEqual([
      "archive",
      "restore",
      "manual",
      "autosave",
      "autosave",
    ]);
  });

  test.each(["archive", "restore", "", "AUTOSAVE", 1, true, {}])(
    "[API11] [DOC62] a save reason %j is refused",
    async (save_reason) => {
      const scene = await open();
      const params = { workspace_id: scene.workspace_id, content: "a", save_reason };
      const error = await scene.wire.error(`${METHOD}/save`, params);
      expect([error.code, error.data.kind]).toEqual([-32602, "invalid_params"]);
      expect(await scene.get()).toEqual({});
    },
  );
}
