import { expect, test } from "vitest";
import type { RpcError } from "../../src/protocol/index.js";
import { post, type Scene, type Stage, stageOn } from "../support/agents-doc.js";
import { onEitherStore } from "../support/stores.js";

onEitherStore("refusals of document methods", (kind) => {
  const stage = stageOn(kind);
  unknownIds(stage);
  malformed(stage);
  wholeParams(stage);
  discretion(stage);
});

const FAMILY = "thread/agents_doc";

/** Every method that takes a scope, with params that would do. */
const SCOPED: readonly [string, object][] = [
  ["get", {}],
  ["save", { content: "x" }],
  ["archive", {}],
  ["revisions", {}],
];

const ALL: readonly [string, object][] = [
  ...SCOPED,
  ["resolve_for_thread", { thread_id: "thr_1" }],
  ["revision", { doc_id: "agd_1", version: 1 }],
  ["restore", { doc_id: "agd_1", version: 1 }],
];

/** A workspace with a document at the root and in a folder: what a refusal must leave alone. */
async function furnished(open: () => Promise<Scene>): Promise<Scene> {
  const scene = await open();
  await scene.save("# Root\n");
  await scene.save("# A\n", { folder_id: await scene.folder("A") });
  await scene.news();
  return scene;
}

async function unchanged(scene: Scene, during: () => Promise<void>): Promise<void> {
  const before = await scene.state();
  await during();
  expect(await scene.state()).toEqual(before);
  expect(await scene.news()).toEqual([]);
}

function unknownIds({ scene: open }: Stage): void {
  test.each(ALL)("[API41] [DOC82] [DOC11] %s in an unknown workspace", async (verb, params) => {
    const scene = await furnished(open);
    await unchanged(scene, async () => {
      const error = await scene.wire.error(`${FAMILY}/${verb}`, { ...params, workspace_id: "ws_unknown" });
      expect(error).toEqual({
        code: -32602,
        message: expect.stringContaining("ws_unknown"),
        data: { kind: "workspace.not_found", workspace_id: "ws_unknown" },
      });
    });
  });

  test.each(SCOPED)("[API43] [DOC82] [DOC11] %s in a folder that is not there", async (verb, params) => {
    const scene = await furnished(open);
    const foreign = await (await open()).folder("Foreign");
    const deleted = await scene.folder("Deleted");
    const { workspace_id } = scene;
    await scene.wire.result("thread/folder/delete", { workspace_id, folder_id: deleted });
    await scene.news();
    await unchanged(scene, async () => {
      for (const folder_id of ["fld_unknown", foreign, deleted]) {
        const error = await scene.wire.error(`${FAMILY}/${verb}`, { workspace_id, folder_id, ...params });
        expect(error).toEqual({
          code: -32602,
          message: expect.stringContaining(folder_id),
          data: { kind: "folder.not_found", folder_id },
        });
      }
    });
  });

  test.each(SCOPED)("[API42] [DOC82] %s with an empty folder_id", async (verb, params) => {
    const scene = await furnished(open);
    const { workspace_id } = scene;
    await unchanged(scene, async () => {
      const error = await scene.wire.error(`${FAMILY}/${verb}`, { workspace_id, folder_id: "", ...params });
      expect(error).toEqual({
        code: -32602,
        message: expect.stringContaining("folder_id"),
        data: { kind: "invalid_params", issues: [{ path: "folder_id", message: expect.any(String) }] },
      });
    });
  });

  test("[API41] a deleted workspace is an unknown one", async () => {
    const scene = await furnished(open);
    const { workspace_id, wire } = scene;
    const thread_id = await scene.thread();
    await scene.resolve(thread_id);
    await wire.result("workspace/delete", { workspace_id });
    for (const [verb, params] of [...SCOPED, ["resolve_for_thread", { thread_id }] as const]) {
      const { code, data } = await wire.error(`${FAMILY}/${verb}`, { workspace_id, ...params });
      expect([verb, code, data]).toEqual([verb, -32602, { kind: "workspace.not_found", workspace_id }]);
    }
    await wire.result("workspace/undelete", { workspace_id });
    expect((await scene.get()).explicit?.content).toBe("# Root\n");
  });
}

/** A field of a method, and values it can't have. */
const WRONG: readonly [verb: string, field: string, values: readonly unknown[]][] = [
  [
    "get",
    "workspace_id",
    [undefined, null, 1, true, [], {}, "", "a b", "x".repeat(129), "ws_\u0000", "../x"],
  ],
  ["get", "folder_id", [0, false, [], {}, "a/b", "💥"]],
  ["save", "content", [undefined, null, 1, true, [], {}, ["x"]]],
  ["save", "expected_version", [-1, 1.5, "1", true, [], {}, 1e300]],
  ["archive", "expected_version", [-1, 0.1, "0", false, []]],
  ["resolve_for_thread", "thread_id", [undefined, null, 1, "", [], {}]],
  ["revision", "doc_id", [undefined, null, 1, "", {}]],
  ["revision", "version", [undefined, null, 0, -1, 1.5, "1"]],
  ["restore", "version", [undefined, null, 0, "2", []]],
  ["restore", "expected_version", [-1, "1"]],
  ["revisions", "cursor", [1, {}, "x".repeat(2000)]],
];

function malformed({ scene: open }: Stage): void {
  test.each(WRONG)("[DOC82] %s with a wrong %s", async (verb, field, values) => {
    const scene = await furnished(open);
    const good = Object.fromEntries(ALL)[verb];
    await unchanged(scene, async () => {
      for (const value of values) {
        const params = { workspace_id: scene.workspace_id, ...good, [field]: value };
        const error = await scene.wire.error(`${FAMILY}/${verb}`, params);
        expect(error, JSON.stringify(value)).toEqual({
          code: -32602,
          message: expect.stringContaining(field),
          data: { kind: "invalid_params", issues: [{ path: field, message: expect.any(String) }] },
        });
      }
    });
  });
}

function wholeParams({ scene: open }: Stage): void {
  test.each(ALL)("[DOC82] %s with params of another shape", async (verb) => {
    const scene = await furnished(open);
    await unchanged(scene, async () => {
      for (const params of [undefined, {}, [], [scene.workspace_id], "text", 1, true, null]) {
        const error = await scene.wire.error(`${FAMILY}/${verb}`, params);
        expect([error.code, error.data.kind]).toEqual([-32602, "invalid_params"]);
      }
    });
  });

  test("[DOC82] [API3] unknown fields are ignored, other spellings are not the field", async () => {
    const scene = await open();
    const { workspace_id, wire } = scene;
    const unknown = { contents: "y", title: "README.md", version: 9, status: "draft" };
    const doc = await scene.save("x", unknown as object);
    expect([doc.content, doc.title, doc.version, doc.status]).toEqual(["x", "AGENTS.md", 1, "active"]);
    const { code } = await wire.error(`${FAMILY}/get`, { workspaceId: workspace_id });
    expect(code).toBe(-32602);
  });

  test("[API3] a method of the family that does not exist is -32601", async () => {
    const scene = await open();
    for (const verb of ["delete", "Get", "get ", ""]) {
      const error = await scene.wire.error(`${FAMILY}/${verb}`, { workspace_id: scene.workspace_id });
      expect([error.code, error.data.kind]).toEqual([-32601, "unknown_method"]);
    }
  });
}

function discretion({ scene: open }: Stage): void {
  test("[DOC83] no error shows a stack, a file of the program or SQL", async () => {
    const scene = await furnished(open);
    const { workspace_id } = scene;
    const errors: (RpcError | undefined)[] = [];
    for (const [verb, params] of ALL) {
      for (const bad of [
        { workspace_id: "ws_x" },
        { workspace_id, folder_id: "fld_x" },
        { workspace_id: 1 },
      ]) {
        const body = { jsonrpc: "2.0", id: 1, method: `${FAMILY}/${verb}`, params: { ...params, ...bad } };
        errors.push((await post(scene.gateway, body)).error);
      }
    }
    const told = errors.filter((error) => error !== undefined);
    expect(told.length).toBeGreaterThanOrEqual(18);
    for (const error of told) {
      expect(JSON.stringify(error)).not.toMatch(
        /\bat \S+:\d|\.[jt]s\b|node_modules|select |insert |constraint/i,
      );
      expect(error.data).toEqual(expect.objectContaining({ kind: expect.any(String) }));
    }
    expect((await scene.get()).explicit?.content).toBe("# Root\n");
  });

  test("[DOC83] ids that look like SQL, paths or markup find nothing and break nothing", async () => {
    const scene = await furnished(open);
    const { workspace_id } = scene;
    await unchanged(scene, async () => {
      for (const folder_id of [
        "' or 1=1 --",
        "%",
        "_",
        "../../etc/passwd",
        "<script>",
        "__proto__",
        "constructor",
      ]) {
        const error = await scene.wire.error(`${FAMILY}/save`, { workspace_id, folder_id, content: "x" });
        expect([folder_id, error.code]).toEqual([folder_id, -32602]);
      }
    });
  });
}
