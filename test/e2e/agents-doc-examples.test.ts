import { expect, test } from "vitest";
import { type Scene, type Stage, sha256, stageOn } from "../support/agents-doc.js";
import * as examples from "../support/agents-doc-examples.js";
import { onEitherStore } from "../support/stores.js";
import type { Answer } from "../support/wire.js";

const WS = "ws_000000000000000001";
const FOLDER = "fld_000000000000000001";
const DOC = "agd_000000000000000001";
const BACKEND = "# Backend instructions\n";
const ROOT = "# Root instructions\n";

interface Request {
  readonly jsonrpc: string;
  readonly id: string;
  readonly method: string;
  readonly params: object;
}

/** Sends an example's request with the ids put in, and nothing else changed. */
function send(scene: Scene, example: Request, ids: Record<string, string>): Promise<Answer> {
  const { method, params, id } = examples.real(example, ids);
  return scene.wire.call(method, params, id);
}

function answered(example: Request, result: unknown) {
  return { jsonrpc: "2.0", id: example.id, result };
}

/** A folder Backend whose document is at version 2. */
async function backendAtTwo(scene: Scene): Promise<Record<string, string>> {
  const folder_id = await scene.folder("Backend");
  await scene.save("one", { folder_id });
  const doc = await scene.save("two", { folder_id });
  return { [WS]: scene.workspace_id, [FOLDER]: folder_id, [DOC]: doc.id };
}

onEitherStore("the examples of 001", (kind) => {
  const stage = stageOn(kind);
  reading(stage);
  writing(stage);
  resolving(stage);
  telling(stage);
});

function reading({ scene: open }: Stage): void {
  test("[API4] [API21] the example of get: a draft in a folder, and the root's document in effect", async () => {
    const scene = await open();
    const root = await scene.save(ROOT);
    const folder_id = await scene.folder("Backend");
    const draft = await scene.save("", { folder_id });
    const { request, response } = examples.get;
    const ids = { [WS]: scene.workspace_id, [FOLDER]: folder_id };
    const answer = await send(scene, request, ids);
    const result = examples.real(response, { ...ids, agd_000000000000000002: draft.id, [DOC]: root.id });
    expect(answer).toEqual(answered(request, result));
  });

  test("[API24] [API16] the example of get without folder_id reads the root, which has none", async () => {
    const scene = await open();
    const ids = { [WS]: scene.workspace_id };
    const root = await scene.save(ROOT);
    const answer = await send(scene, examples.getRoot, ids);
    const doc = examples.real(examples.resolved.doc, { ...ids, [DOC]: root.id });
    const effective = { doc, source_path: [], inherited: false, resolved_at: expect.any(Number) };
    expect(answer).toEqual(answered(examples.getRoot, { explicit: doc, effective }));
  });

  test("[API22] [API23] get answers an empty object where nothing is", async () => {
    const scene = await open();
    const ids = { [WS]: scene.workspace_id, [FOLDER]: await scene.folder("Backend") };
    expect(await send(scene, examples.getRoot, ids)).toEqual(answered(examples.getRoot, {}));
    expect(await send(scene, examples.get.request, ids)).toEqual(answered(examples.get.request, {}));
  });

  test("[API8] [API17] [API35] the example of thread/tree", async () => {
    const scene = await open();
    const ids = await backendAtTwo(scene);
    // 001 says 42 characters: its content without the last line end.
    const content = examples.payload.content.trimEnd();
    await scene.save(content, { folder_id: ids[FOLDER] });
    const { jsonrpc, id, result } = await scene.wire.call("thread/tree", {
      workspace_id: scene.workspace_id,
    });
    const expected = examples.real(examples.tree, ids);
    const row = { ...expected.agents_docs[0], content_sha256: sha256(content) };
    const { folders, seq, ...rest } = result;
    expect({ jsonrpc, id: typeof id }).toEqual({ jsonrpc: "2.0", id: "number" });
    expect({ ...rest, folders: [] }).toEqual({ ...expected, agents_docs: [row] });
    expect(folders.map((folder: { id: string }) => folder.id)).toEqual([ids[FOLDER]]);
    expect(seq).toBeGreaterThan(0);
  });
}

function writing({ scene: open }: Stage): void {
  test("[API5] [API15] [API25] the example of save: version 2 becomes version 3", async () => {
    const scene = await open();
    const ids = await backendAtTwo(scene);
    const { request, response } = examples.save;
    const answer = await send(scene, request, ids);
    expect(answer).toEqual(answered(request, examples.real(response, ids)));
    expect((await scene.get(ids[FOLDER])).explicit).toEqual(answer.result.doc);
  });

  test("[API6] [API31] the example of archive: the root's document is in effect again", async () => {
    const scene = await open();
    const ids = await backendAtTwo(scene);
    await scene.save("three", { folder_id: ids[FOLDER] });
    const root = await scene.save(ROOT);
    const { request, response } = examples.archive;
    const answer = await send(scene, request, ids);
    const expected = examples.real(response, { ...ids, agd_000000000000000010: root.id });
    expect(answer).toEqual(answered(request, expected));
    expect((await scene.tree()).agents_docs.map((doc) => doc.id)).toEqual([root.id]);
  });

  test("[API32] archive answers archived: false where there was no document", async () => {
    const scene = await open();
    const ids = { [WS]: scene.workspace_id, [FOLDER]: await scene.folder("Backend") };
    const { request } = examples.archive;
    expect(await send(scene, request, ids)).toEqual(answered(request, { archived: false }));
  });
}

function resolving({ scene: open }: Stage): void {
  test("[API7] [API18] [API33] the example of resolve_for_thread", async () => {
    const scene = await open();
    const ids = await backendAtTwo(scene);
    await scene.save(BACKEND, { folder_id: ids[FOLDER] });
    const all = { ...ids, thr_000000000000000001: await scene.thread(ids[FOLDER]) };
    const { request, response } = examples.resolveForThread;
    const answer = await send(scene, request, all);
    expect(answer).toEqual(answered(request, examples.real(response, all)));
  });

  test("[API18] [API19] [API20] the example of a resolved root document, seen from a thread", async () => {
    const scene = await open();
    const root = await scene.save(ROOT);
    const folder_id = await scene.folder("Backend");
    const ids = { [WS]: scene.workspace_id, [FOLDER]: folder_id, [DOC]: root.id };
    const { effective } = await scene.resolve(await scene.thread(folder_id));
    expect(effective).toEqual(examples.real(examples.resolved, ids));
  });
}

function telling({ scene: open }: Stage): void {
  test("[API37] the example of thread/agents_doc/changed after a save", async () => {
    const scene = await open();
    const ids = await backendAtTwo(scene);
    await scene.news();
    const { seq } = await scene.tree();
    await scene.save(BACKEND, { folder_id: ids[FOLDER] });
    const expected = examples.real(examples.changed, ids);
    const [first, second, ...more] = await scene.news();
    expect(first).toEqual({ ...expected, params: { ...expected.params, seq: seq + 1 } });
    expect([second?.method, more]).toEqual(["thread/tree/changed", []]);
  });

  test("[API38] [API39] after an archive: the archived document, what is in effect now, and the tree", async () => {
    const scene = await open();
    const root = await scene.save(ROOT);
    const ids = await backendAtTwo(scene);
    const three = await scene.save(BACKEND, { folder_id: ids[FOLDER] });
    await scene.news();
    const { seq } = await scene.tree();
    const { effective } = await scene.archive({ folder_id: ids[FOLDER] });
    const scope = { workspace_id: scene.workspace_id, folder_id: ids[FOLDER] };
    const times = { updated_at: expect.any(Number), archived_at: expect.any(Number) };
    const doc = { ...three, status: "archived", version: 4, ...times };
    expect(effective?.doc).toEqual(root);
    const params = { ...scope, doc, effective, effective_changed: true, seq: seq + 1 };
    const changes = { removed_ids: [three.id] };
    const tree = { workspace_id: scene.workspace_id, changes, seq: seq + 2 };
    expect(await scene.news()).toEqual([
      { jsonrpc: "2.0", method: "thread/agents_doc/changed", params },
      { jsonrpc: "2.0", method: "thread/tree/changed", params: tree },
    ]);
  });

  test("[API39] after a save thread/tree/changed carries the new summary", async () => {
    const scene = await open();
    await scene.save("# One\n");
    await scene.news();
    const doc = await scene.save("# Two\n");
    const { agents_docs, seq } = await scene.tree();
    const params = { workspace_id: scene.workspace_id, seq, changes: { agents_docs } };
    expect((await scene.news()).at(-1)).toEqual({ jsonrpc: "2.0", method: "thread/tree/changed", params });
    expect(agents_docs.map((each) => [each.id, each.version])).toEqual([[doc.id, 2]]);
  });

  test("[API40] whoever reads after a notification gets a state at least as new", async () => {
    const scene = await open();
    const reader = await scene.other();
    for (let version = 1; version <= 5; version++) {
      const save = scene.save(`# ${version}\n`);
      const heard = await reader.wire.heard(version * 2 - 1);
      const { explicit } = await reader.get();
      expect(explicit?.version).toBeGreaterThanOrEqual(heard[version * 2 - 2]?.params.doc.version);
      await save;
      await reader.wire.heard(version * 2);
    }
    expect((await reader.get()).explicit?.content).toBe("# 5\n");
  });
}
