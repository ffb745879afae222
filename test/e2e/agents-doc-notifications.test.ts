import { expect, test } from "vitest";
import { docLike, recent, type Scene, type Stage, stageOn } from "../support/agents-doc.js";
import { onEachStore } from "../support/stores.js";

onEachStore("notifications of documents", (kind) => {
  const stage = stageOn(kind);
  order(stage);
  batches(stage);
  recipients(stage);
  contents(stage);
  effects(stage);
  silence(stage);
});

const CHANGED = "thread/agents_doc/changed";
const TREE = "thread/tree/changed";
const save = (id: string, workspace_id: string, content: string) => ({
  jsonrpc: "2.0",
  id,
  method: "thread/agents_doc/save",
  params: { workspace_id, content },
});

/** What came to a client since a point: answers by their id, notifications by their method. */
function since(scene: Scene, start: number): unknown[] {
  const name = (message: object) => ("method" in message ? message.method : "id" in message && message.id);
  return scene.wire.received
    .slice(start)
    .map((message) => (Array.isArray(message) ? message.map(name) : name(message)));
}

function order({ scene: open }: Stage): void {
  test.each([
    ["save", { content: "three" }],
    ["archive", {}],
    ["restore", { version: 1 }],
  ])("[DOC68] [DOC34] %s: the answer, then the document, then the tree", async (verb, params) => {
    const scene = await open();
    const { id: doc_id } = await scene.save("one");
    await scene.save("two");
    const { seq } = await scene.tree();
    await scene.news();
    const start = scene.wire.received.length;
    const all = { workspace_id: scene.workspace_id, ...(verb === "restore" && { doc_id }), ...params };
    await scene.wire.call(`thread/agents_doc/${verb}`, all, "it");
    const heard = await scene.news();
    expect(since(scene, start).slice(0, 3)).toEqual(["it", CHANGED, TREE]);
    expect(heard.map(({ method, params: { seq: number } }) => [method, number])).toEqual([
      [CHANGED, seq + 1],
      [TREE, seq + 2],
    ]);
    expect((await scene.tree()).seq).toBe(seq + 2);
  });

  test("[DOC68] many saves at once on one connection keep that order, each answer before its own", async () => {
    const scene = await open();
    const ids = Array.from({ length: 20 }, (_, i) => `s${i}`);
    await scene.news();
    const start = scene.wire.received.length;
    for (const id of ids) scene.wire.send(JSON.stringify(save(id, scene.workspace_id, id)));
    await Promise.all(ids.map((id) => scene.wire.answerTo(id)));
    const heard = await scene.news();
    expect(heard.map(({ method }) => method)).toEqual(ids.flatMap(() => [CHANGED, TREE]));
    const came = since(scene, start);
    const told = scene.wire.received.slice(start);
    for (const id of ids) {
      const at = told.findIndex((message) => "params" in message && message.params.doc?.content === id);
      expect(came.indexOf(id)).toBeLessThan(at);
    }
  });
}

function batches({ scene: open }: Stage): void {
  test("[DOC68] a batch is answered whole before what it caused is told", async () => {
    const scene = await open();
    const { workspace_id } = scene;
    await scene.news();
    const start = scene.wire.received.length;
    const archive = { jsonrpc: "2.0", method: "thread/agents_doc/archive", params: { workspace_id } };
    const batch = [save("a", workspace_id, "one"), save("b", workspace_id, "two"), { ...archive, id: "c" }];
    scene.wire.send(JSON.stringify(batch));
    await scene.wire.heard(6);
    await scene.news();
    const told = [CHANGED, TREE, CHANGED, TREE, CHANGED, TREE];
    expect(since(scene, start).slice(0, 7)).toEqual([["a", "b", "c"], ...told]);
  });

  test("[DOC68] a request without an id has no answer, only the notifications", async () => {
    const scene = await open();
    const { jsonrpc, method, params } = save("", scene.workspace_id, "quiet");
    await scene.news();
    const start = scene.wire.received.length;
    scene.wire.send(JSON.stringify({ jsonrpc, method, params }));
    await scene.wire.heard(2);
    expect(since(scene, start)).toEqual([CHANGED, TREE]);
    expect((await scene.get()).explicit?.content).toBe("quiet");
  });
}

function recipients({ scene: open, gateway }: Stage): void {
  test("[DOC69] every subscriber gets the same, the caller too, and nobody else", async () => {
    const scene = await open();
    const [second, third, stranger] = [await scene.other(), await scene.other(), await open()];
    const idle = await gateway().wire();
    await scene.news();
    await scene.save("one");
    const heard = await scene.news();
    expect(heard.map(({ method }) => method)).toEqual([CHANGED, TREE]);
    expect(await second.news()).toEqual(heard);
    expect(await third.news()).toEqual(heard);
    expect(await stranger.news()).toEqual([]);
    expect(await idle.settled()).toEqual([]);
  });

  test("[DOC69] any call that names the workspace subscribes, from the change it makes on", async () => {
    const scene = await open();
    const wire = await gateway().wire();
    const { workspace_id } = scene;
    await wire.result("thread/agents_doc/save", { workspace_id, content: "mine" });
    expect((await wire.settled()).map(({ method }) => method)).toEqual([CHANGED, TREE]);
    const reader = await gateway().wire();
    await reader.result("thread/agents_doc/get", { workspace_id });
    await scene.save("theirs");
    expect((await reader.settled()).map(({ method }) => method)).toEqual([CHANGED, TREE]);
  });

  test("[DOC69] resolve_for_thread subscribes to the thread's workspace without naming it", async () => {
    const scene = await open();
    const wire = await gateway().wire();
    const thread_id = await scene.thread();
    expect(await wire.result("thread/agents_doc/resolve_for_thread", { thread_id })).toEqual({});
    await scene.save("one");
    expect((await wire.settled()).map(({ method }) => method)).toEqual([CHANGED, TREE]);
  });
}

function contents({ scene: open }: Stage): void {
  test("[DOC70] a root save: whole notifications, without folder_id", async () => {
    const scene = await open();
    const { workspace_id } = scene;
    await scene.news();
    const doc = await scene.save("# One\n");
    const effective = { doc, source_path: [], inherited: false, resolved_at: recent };
    const [changed, tree] = await scene.news();
    expect(changed).toEqual({
      jsonrpc: "2.0",
      method: CHANGED,
      params: { workspace_id, doc, effective, effective_changed: true, seq: 1 },
    });
    const { agents_docs } = await scene.tree();
    expect(tree).toEqual({
      jsonrpc: "2.0",
      method: TREE,
      params: { workspace_id, changes: { agents_docs }, seq: 2 },
    });
  });

  test("[DOC70] a draft with nothing above it: no effective", async () => {
    const scene = await open();
    const { workspace_id } = scene;
    const doc = await scene.save(" ");
    const [changed] = await scene.news();
    expect(changed?.params).toEqual({ workspace_id, doc, effective_changed: false, seq: 1 });
  });

  test("[DOC70] an archive with nothing above it: the archived document, no effective", async () => {
    const scene = await open();
    const { workspace_id } = scene;
    const doc = await scene.save("# One\n");
    await scene.news();
    await scene.archive();
    const [changed, tree] = await scene.news();
    const archived = docLike("# One\n", { ...doc, status: "archived", version: 2, archived_at: recent });
    expect(changed?.params).toEqual({
      workspace_id,
      doc: { ...archived, updated_at: recent },
      effective_changed: true,
      seq: 3,
    });
    expect(tree?.params).toEqual({ workspace_id, changes: { removed_ids: [doc.id] }, seq: 4 });
  });

  test("[DOC70] a draft below an active document: effective is what it inherits", async () => {
    const scene = await open();
    const root = await scene.save("# Root\n");
    const folder_id = await scene.folder("A");
    await scene.news();
    const doc = await scene.save("", { folder_id });
    const [changed] = await scene.news();
    expect(changed?.params).toMatchObject({ folder_id, doc, effective_changed: false });
    expect(changed?.params.effective).toEqual({
      doc: root,
      source_path: [],
      inherited: true,
      resolved_for_folder_id: folder_id,
      resolved_at: recent,
    });
  });
}

type Step = readonly [
  step: (scene: Scene, folder_id: string | undefined) => Promise<unknown>,
  changed: boolean,
];

const put =
  (content: string): Step[0] =>
  (scene, folder_id) =>
    scene.save(content, { folder_id });
const archive: Step[0] = (scene, folder_id) => scene.archive({ folder_id });
const restore =
  (back: number): Step[0] =>
  async (scene, folder_id) => {
    const revision = (await scene.revisions(folder_id))[back];
    return scene.restore(revision?.doc_id ?? "", revision?.version ?? 0);
  };

/** Steps in one scope, and whether each changes what is in effect there. */
const STEPS: Readonly<Record<string, readonly Step[]>> = {
  "none, draft, draft, archived": [
    [put(""), false],
    [put(" "), false],
    [archive, false],
  ],
  "none, active, other text, draft, active again, archived": [
    [put("one"), true],
    [put("two"), true],
    [put(""), true],
    [put("two"), true],
    [archive, true],
  ],
  "a new document with the text of the archived one": [
    [put("one"), true],
    [archive, true],
    [put("one"), true],
  ],
  "restores: of another text, of a draft, of a text again, after an archive": [
    [put("one"), true],
    [put(""), true],
    [put("two"), true],
    [restore(2), true],
    [restore(2), true],
    [restore(2), true],
    [archive, true],
    [restore(0), true],
  ],
};

function effects({ scene: open }: Stage): void {
  async function told(scene: Scene): Promise<unknown[]> {
    return (await scene.news())
      .filter(({ method }) => method === CHANGED)
      .map(({ params }) => params.effective_changed);
  }

  for (const [where, inherits] of [
    ["at the root", false],
    ["in a folder that inherits nothing", false],
    ["in a folder that inherits", true],
  ] as const) {
    test.each(Object.entries(STEPS))(`[DOC67] ${where}: %s`, async (_, steps) => {
      const scene = await open();
      if (inherits) await scene.save("inherited");
      const folder_id = where === "at the root" ? undefined : await scene.folder("A");
      await scene.news();
      for (const [step, changed] of steps) {
        await step(scene, folder_id);
        expect(await told(scene)).toEqual([changed]);
      }
    });
  }

  test("[DOC67] the same text as the inherited one is still another document", async () => {
    const scene = await open();
    await scene.save("same");
    const folder_id = await scene.folder("A");
    await scene.news();
    await scene.save("same", { folder_id });
    await scene.archive({ folder_id });
    expect(await told(scene)).toEqual([true, true]);
  });

  test("[DOC74] a save tells only of its own scope, whatever inherits from it", async () => {
    const scene = await open();
    const folder_id = await scene.folder("A");
    const below = await scene.folder("B", folder_id);
    const thread_id = await scene.thread(below);
    await scene.news();
    const doc = await scene.save("one", { folder_id });
    const heard = await scene.news();
    expect(heard.map(({ method, params }) => [method, params.folder_id])).toEqual([
      [CHANGED, folder_id],
      [TREE, undefined],
    ]);
    expect((await scene.get(below)).effective?.doc).toEqual(doc);
    expect((await scene.resolve(thread_id)).effective?.doc).toEqual(doc);
  });
}

function silence({ scene: open }: Stage): void {
  test("[DOC71] [DOC11] no-ops, reads and refusals announce nothing", async () => {
    const scene = await open();
    const { workspace_id, wire } = scene;
    const doc = await scene.save("one");
    const folder_id = await scene.folder("A");
    await scene.news();
    const { seq } = await scene.tree();
    await scene.save("one");
    await scene.restore(doc.id, 1);
    await scene.archive({ folder_id });
    await scene.get(folder_id);
    await scene.revisions();
    await wire.error("thread/agents_doc/save", { workspace_id, content: "two", expected_version: 9 });
    await wire.error("thread/agents_doc/save", { workspace_id, content: 1 });
    await wire.error("thread/agents_doc/save", { workspace_id, folder_id: "fld_none", content: "two" });
    await wire.error("thread/agents_doc/archive", { workspace_id, expected_version: 9 });
    await wire.error("thread/agents_doc/restore", { workspace_id, doc_id: doc.id, version: 9 });
    expect(await scene.news()).toEqual([]);
    expect((await scene.tree()).seq).toBe(seq);
  });
}
