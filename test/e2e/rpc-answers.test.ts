import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { errorCodes } from "../../src/gateway/index.js";
import { type MethodName, methods } from "../../src/protocol/index.js";
import { startGateway, type TestGateway } from "../support/gateway.js";
import { onEitherStore } from "../support/stores.js";
import type { Wire } from "../support/wire.js";

const shapeOf = (schema: unknown) => (schema as { shape?: object }).shape ?? {};

// `thread/import` is work that is done in steps, and no list ([IMP76]).
const lists = (Object.keys(methods) as MethodName[]).filter(
  (name) =>
    name !== "thread/import" &&
    "data" in shapeOf(methods[name].result) &&
    "cursor" in shapeOf(methods[name].params),
);

onEitherStore("answers", (kind) => {
  let gateway: TestGateway;
  let wire: Wire;
  let workspace_id: string;
  let thread_id: string;
  let run_id: string;
  const scopeOf = (name: string): object => {
    if (name === "workspace/list") return {};
    if (name === "thread/messages") return { thread_id };
    if (name === "run/journal") return { run_id };
    return { workspace_id, ...(name === "thread/search" && { query: "findable" }) };
  };
  beforeAll(async () => {
    gateway = await startGateway(kind);
    wire = await gateway.wire();
    workspace_id = gateway.home;
    for (let i = 0; i < 5; i++) {
      await wire.result("workspace/create", { name: `w${i}` });
      await wire.result("thread/start", { workspace_id, title: `t${i}` });
      await wire.result("thread/agents_doc/save", { workspace_id, content: `v${i}` });
    }
    thread_id = (await wire.result("thread/start", { workspace_id, title: "with messages" })).thread.id;
    for (let i = 0; i < 5; i++) {
      const message = { role: "user" as const, content: `findable ${i}` };
      await wire.result("message/append", { thread_id, message });
    }
    const { thread } = await wire.result("thread/start", { workspace_id, title: "with runs" });
    for (let i = 0; i < 5; i++) {
      const { run } = await wire.result("run/start", { thread_id: thread.id, content: `ask ${i}` });
      run_id = run.id;
      await vi.waitFor(
        async () => expect((await wire.result("run/get", { run_id })).run.status).toBe("completed"),
        { timeout: 10_000, interval: 20 },
      );
    }
  }, 60_000);
  afterAll(() => gateway?.stop());

  test("[WIRE30] each kind of mistake has its code", async () => {
    const { threads } = await wire.result("thread/tree", { workspace_id });
    expect(threads.map(({ id }) => id)).toContain(thread_id);
    const cases: [string, object, number, string][] = [
      ["no/such", {}, -32601, "unknown_method"],
      ["thread/tree", {}, -32602, "invalid_params"],
      ["thread/tree", { workspace_id: "ws_none" }, -32602, "workspace.not_found"],
      ["thread/get", { thread_id: "thr_none" }, -32602, "thread.not_found"],
      ["thread/get", { thread_id, workspace_id: "ws_none" }, -32602, "workspace.not_found"],
      ["thread/list", { workspace_id, folder_id: "fld_none" }, -32602, "folder.not_found"],
      ["thread/start", { workspace_id, title: "\0" }, -32602, "invalid_text"],
      [
        "thread/agents_doc/save",
        { workspace_id, content: "x", expected_version: 99 },
        -32600,
        "version_conflict",
      ],
      ["workspace/delete", { workspace_id }, -32600, "workspace.is_home"],
      ["thread/start", { workspace_id, use_worktree: true }, -32600, "atsf.not_a_repository"],
    ];
    for (const [method, params, code, kindOfError] of cases) {
      const error = await wire.error(method, params);
      expect({ method, code: error.code, kind: error.data.kind }).toEqual({
        method,
        code,
        kind: kindOfError,
      });
    }
  });

  test("[WIRE31] every error says its kind, and what is wrong in words", async () => {
    const error = await wire.error("thread/folder/create", { workspace_id: 7, name: "" });
    expect(error).toEqual({
      code: -32602,
      message: expect.stringMatching(/^Invalid params: workspace_id: .+; name: .+/),
      data: {
        kind: "invalid_params",
        issues: [
          { path: "workspace_id", message: expect.any(String) },
          { path: "name", message: "must have 1 to 255 characters" },
        ],
      },
    });
    expect(new Set(Object.values(errorCodes))).toEqual(
      new Set([-32700, -32600, -32601, -32602, -32603, -32001, -32003]),
    );
  });

  test("[WIRE31] of very many mistakes the first ten are told", async () => {
    const refs = Array.from({ length: 60 }, () => "not a ref");
    const error = await wire.error("thread/start", { workspace_id, config: { default_prompt_refs: refs } });
    expect(error.data.issues).toHaveLength(10);
  });

  test.each(lists)(
    "[WIRE110] %s is walked by cursor and limit, each item once, and the last page has no cursor",
    async (name) => {
      const scope = scopeOf(name);
      const page = async (params: object) => (await wire.call(name, { ...scope, ...params })).result;
      const { data: all, next_cursor: none } = await page({});
      expect(all.length).toBeGreaterThanOrEqual(5);
      expect(none).toBeUndefined();
      for (const limit of [1, 2, all.length - 1, all.length, 500]) {
        const walked: unknown[] = [];
        let cursor: string | undefined;
        do {
          const { data, next_cursor } = await page({ limit, cursor });
          expect(data.length).toBeLessThanOrEqual(limit);
          expect(data.length).toBeGreaterThan(0);
          walked.push(...data);
          cursor = next_cursor;
        } while (cursor !== undefined);
        expect(walked).toEqual(all);
      }
    },
  );

  test.each(lists)(
    "[WIRE111] %s refuses a limit that is none and a cursor it did not answer",
    async (name) => {
      const scope = scopeOf(name);
      for (const limit of [0, -1, 501, 1.5, "5", true]) {
        expect(await wire.error(name, { ...scope, limit })).toMatchObject({
          code: -32602,
          data: { kind: "invalid_params" },
        });
      }
      for (const cursor of [
        "",
        "x",
        "null",
        "e30",
        Buffer.from('["a","b"]').toString("base64url"),
        Buffer.from("[1,2,3]").toString("base64url"),
      ]) {
        expect(await wire.error(name, { ...scope, cursor })).toMatchObject({
          code: -32602,
          data: { kind: "cursor_invalid" },
        });
      }
      expect(await wire.error(name, { ...scope, cursor: 7 })).toMatchObject({
        code: -32602,
        data: { kind: "invalid_params" },
      });
    },
  );

  test("[WIRE112] where a thread is named its workspace is optional, and a wrong one is refused", async () => {
    const { workspace } = await wire.result("workspace/create", { name: "other" });
    const { thread } = await wire.result("thread/start", { workspace_id });
    const ofThread = (Object.keys(methods) as MethodName[]).filter(
      (name) =>
        name.startsWith("thread/") &&
        name !== "thread/search" &&
        "thread_id" in shapeOf(methods[name].params),
    );
    expect(ofThread.length).toBeGreaterThanOrEqual(6);
    const refusals: Partial<Record<MethodName, string>> = {
      "thread/worktree/remove": "thread.no_worktree",
      "thread/unclear": "thread.not_cleared",
    };
    for (const name of ofThread) {
      for (const wrong of [workspace.id, "ws_none"]) {
        expect(await wire.error(name, { thread_id: thread.id, workspace_id: wrong })).toMatchObject({
          code: -32602,
        });
      }
      const deleted = name === "thread/undelete";
      if (deleted) await wire.result("thread/delete", { thread_id: thread.id });
      expect((await wire.call(name, { thread_id: thread.id })).error?.data.kind, name).toBe(refusals[name]);
      if (name === "thread/delete") await wire.result("thread/undelete", { thread_id: thread.id });
    }
  });
});
