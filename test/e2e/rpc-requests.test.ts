import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startGateway, type TestGateway } from "../support/gateway.js";
import { onEitherStore } from "../support/stores.js";
import { type Speaker, speakers } from "../support/transports.js";

onEitherStore("requests", (kind) => {
  let gateway: TestGateway;
  let all: Speaker[];
  beforeAll(async () => {
    gateway = await startGateway(kind);
  });
  afterAll(() => gateway?.stop());
  beforeEach(async () => {
    all = await speakers(gateway);
    return () => {
      for (const speaker of all) speaker.close();
    };
  });

  const request = (more: object) => JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping", ...more });
  const seq = async () =>
    (await (await gateway.wire()).result("thread/tree", { workspace_id: gateway.home })).seq;

  test("[WIRE1] an answer is JSON-RPC 2.0 with the id and either a result or an error", async () => {
    for (const speaker of all) {
      const answer = await speaker.ask(request({ id: "a" }));
      expect(answer).toEqual({
        jsonrpc: "2.0",
        id: "a",
        result: {
          server: { name: "heddle", version: expect.any(String) },
          protocol_version: "1",
          capabilities: { batch: true, resume: true },
        },
      });
      const refused = await speaker.ask(request({ id: "b", method: "no/such" }));
      expect(Object.keys(refused).sort()).toEqual(["error", "id", "jsonrpc"]);
      expect(refused).toMatchObject({ jsonrpc: "2.0", id: "b", error: { code: -32601 } });
    }
  });

  test("[WIRE2] an id is echoed as it was sent", async () => {
    const ids = [
      "",
      "a",
      "0",
      'é 😀 \u0000 \\u0000 "',
      "x".repeat(10_000),
      0,
      -1,
      1.5,
      -0.25,
      1e-7,
      2 ** 53 - 1,
      1 - 2 ** 53,
    ];
    for (const speaker of all) {
      for (const id of ids) expect(await speaker.ask(request({ id }))).toMatchObject({ id });
    }
  });

  test("[WIRE3] an id that can't be echoed is refused, and nothing is carried out", async () => {
    const before = await seq();
    const create = { method: "thread/folder/create", params: { workspace_id: gateway.home, name: "no" } };
    for (const speaker of all) {
      for (const id of [
        "null",
        "true",
        "{}",
        "[]",
        '["a"]',
        "9007199254740992",
        "-9007199254740993",
        "1e300",
        "1e999",
      ]) {
        const text = request({ ...create, id: "ID" }).replace('"ID"', id);
        expect(await speaker.ask(text)).toMatchObject({
          id: null,
          error: { code: -32600, data: { kind: "invalid_request" } },
        });
      }
    }
    expect(await seq()).toBe(before);
  });

  test("[WIRE4] a notification is carried out and never answered, not even when it is refused", async () => {
    const workspace_id = gateway.home;
    for (const speaker of all) {
      const before = await seq();
      const notify = (more: object) => speaker.tell(request({ id: undefined, ...more }));
      await notify({ method: "thread/folder/create", params: { workspace_id, name: "told" } });
      // Without an answer there is no telling when it is done; the batch answers after it.
      await speaker.ask(
        `[${request({ id: undefined, method: "thread/folder/create", params: { workspace_id, name: "told" } })},${request({})}]`,
      );
      expect(await seq()).toBe(before + 2);
      await notify({ method: "no/such" });
      await notify({ method: "thread/tree" });
      await notify({ method: "thread/tree", params: { workspace_id: 7 } });
      await notify({ method: "thread/tree", params: { workspace_id: "ws_none" } });
      await notify({ params: [] });
      await notify({ params: "text" });
      await notify({ params: null });
      await notify({ params: JSON.parse("[".repeat(100) + "]".repeat(100)) });
      expect(await seq()).toBe(before + 2);
    }
  });

  test("[WIRE5] unknown params are ignored", async () => {
    for (const speaker of all) {
      const params = {
        workspace_id: gateway.home,
        no_such: 1,
        constructor: { a: 1 },
        toString: "x",
        ["__proto__"]: 5,
      };
      expect(await speaker.ask(request({ method: "workspace/get", params }))).toMatchObject({
        result: { workspace: { id: gateway.home } },
      });
    }
  });

  test("[WIRE6] null in params means the same as absent", async () => {
    for (const speaker of all) {
      const params = {
        workspace_id: gateway.home,
        folder_id: null,
        title: null,
        agent_id: null,
        config: null,
      };
      const made = await speaker.ask(request({ method: "thread/start", params }));
      expect(made.result.thread).toMatchObject({ title: "New thread", config: {} });
      const { workspace_id, id: thread_id } = made.result.thread;
      const same = { thread_id, workspace_id: null, title: null, pinned: null, attributes: null };
      expect(await speaker.ask(request({ method: "thread/update", params: same }))).toEqual({
        ...made,
        result: { thread: made.result.thread },
      });
      const missing = { workspace_id: null };
      const refused = await speaker.ask(request({ method: "thread/tree", params: missing }));
      expect(refused.error).toMatchObject({ code: -32602, data: { kind: "invalid_params" } });
      expect(workspace_id).toBe(gateway.home);
    }
  });

  test("[WIRE7] in an answer a field without a value is left out, never null", async () => {
    const workspace_id = gateway.home;
    for (const speaker of all) {
      for (const [method, params] of [
        ["workspace/list", {}],
        ["thread/tree", { workspace_id }],
        ["thread/list", { workspace_id }],
        ["thread/agents_doc/get", { workspace_id }],
        ["thread/agents_doc/revisions", { workspace_id }],
        ["thread/agents_doc/archive", { workspace_id }],
      ] as const) {
        const { result } = await speaker.ask(request({ method, params }));
        expect(result).toBeDefined();
        expect(JSON.stringify(result)).not.toMatch(/:null[,}]/);
      }
    }
  });

  test("[WIRE8] params that are no object are refused with -32602", async () => {
    for (const speaker of all) {
      for (const params of ["null", '"text"', "7", "true", "[]", `["${gateway.home}"]`]) {
        const text = request({ method: "workspace/list", params: 0 }).replace(
          '"params":0',
          `"params":${params}`,
        );
        expect((await speaker.ask(text)).error).toMatchObject({
          code: -32602,
          data: { kind: "invalid_params", issues: [{ path: "", message: expect.any(String) }] },
        });
      }
    }
  });

  test("[WIRE9] an unknown method is refused with -32601, whatever its name", async () => {
    const names = [
      "",
      " ",
      "Ping",
      "ping ",
      "thread/tree/",
      "thread//tree",
      "rpc.discover",
      "x".repeat(100_000),
      "\u0000",
    ];
    for (const name of [...names, "__proto__", "constructor", "toString", "hasOwnProperty", "valueOf"]) {
      for (const speaker of all) {
        const { id, error } = await speaker.ask(request({ method: name }));
        expect(id).toBe(1);
        expect(error).toMatchObject({
          code: -32601,
          data: { kind: "unknown_method", method: name.slice(0, 100) },
        });
        expect(error.message.length).toBeLessThan(1_000);
      }
    }
  });

  test("[WIRE10] keys with a meaning in JavaScript change nothing in the gateway", async () => {
    const wire = await gateway.wire();
    for (const speaker of all) {
      const { thread } = await wire.result("thread/start", { workspace_id: gateway.home });
      const attributes =
        '{"constructor":{"prototype":{"polluted":1}},"toString":"t","a":{"__proto__":{"polluted":2}}}';
      const text = `{"jsonrpc":"2.0","id":1,"method":"thread/update","params":{"thread_id":"${thread.id}","attributes":${attributes}}}`;
      const { result } = await speaker.ask(text);
      expect(JSON.stringify(result.thread.attributes)).toBe(attributes);
      const top = text.replace(attributes, '{"__proto__":{"polluted":3},"b":1}');
      expect((await speaker.ask(top)).error).toBeUndefined();
      for (const key of ["__proto__", "constructor"]) {
        const odd = `{"jsonrpc":"2.0","id":1,"method":"thread/tree","params":{"${key}":{"workspace_id":"${gateway.home}"}}}`;
        expect((await speaker.ask(odd)).error).toMatchObject({ code: -32602 });
        const outside = `{"id":1,"method":"ping","${key}":{"jsonrpc":"2.0"}}`;
        expect((await speaker.ask(outside)).error).toMatchObject({ code: -32600 });
      }
    }
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    const metrics = await fetch(`${gateway.url}/metrics`, {
      headers: { authorization: `Bearer ${gateway.token}` },
    });
    expect(await metrics.text()).not.toMatch(/method="(__proto__|constructor|toString)"/);
  });
});
