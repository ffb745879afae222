import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startGateway, type TestGateway } from "../support/gateway.js";
import { post } from "../support/http.js";
import { onEitherStore } from "../support/stores.js";
import { type Speaker, speakers } from "../support/transports.js";

onEitherStore("batches", (kind) => {
  let gateway: TestGateway;
  let all: Speaker[];
  let workspace_id: string;
  beforeAll(async () => {
    gateway = await startGateway(kind);
  });
  afterAll(() => gateway?.stop());
  beforeEach(async () => {
    all = await speakers(gateway);
    const wire = await gateway.wire();
    workspace_id = (await wire.result("workspace/create", { name: "batches" })).workspace.id;
    return () => {
      for (const speaker of all) speaker.close();
    };
  });

  const request = (id: unknown, method: string, params?: unknown) => ({ jsonrpc: "2.0", id, method, params });
  const folder = (id: unknown, name: string) => request(id, "thread/folder/create", { workspace_id, name });
  const tree = async () => (await gateway.wire()).result("thread/tree", { workspace_id });
  const names = async () => (await tree()).folders.map(({ name }) => name);

  test("[WIRE20] a batch answers an array in the order of its requests, refusals among the results", async () => {
    for (const speaker of all) {
      const batch = [
        request("a", "ping"),
        request(2, "no/such"),
        7,
        request(undefined, "ping"),
        request("b", "thread/tree", { workspace_id: "ws_none" }),
        [],
        request(null, "ping"),
        { id: 4, method: "ping" },
        request("a", "thread/tree", { workspace_id }),
      ];
      expect(await speaker.ask(JSON.stringify(batch))).toEqual([
        { jsonrpc: "2.0", id: "a", result: expect.objectContaining({ protocol_version: "1" }) },
        { jsonrpc: "2.0", id: 2, error: expect.objectContaining({ code: -32601 }) },
        { jsonrpc: "2.0", id: null, error: expect.objectContaining({ code: -32600 }) },
        { jsonrpc: "2.0", id: "b", error: expect.objectContaining({ code: -32602 }) },
        { jsonrpc: "2.0", id: null, error: expect.objectContaining({ code: -32600 }) },
        { jsonrpc: "2.0", id: null, error: expect.objectContaining({ code: -32600 }) },
        { jsonrpc: "2.0", id: 4, error: expect.objectContaining({ code: -32600 }) },
        { jsonrpc: "2.0", id: "a", result: expect.objectContaining({ workspace_id }) },
      ]);
    }
  });

  test("[WIRE20] a batch of one answers an array of one", async () => {
    for (const speaker of all) {
      expect(await speaker.ask(JSON.stringify([request(1, "ping")]))).toEqual([
        expect.objectContaining({ id: 1 }),
      ]);
    }
  });

  test("[WIRE21] a batch of notifications only is carried out and answers nothing", async () => {
    for (const speaker of all) {
      await speaker.tell(
        JSON.stringify([folder(undefined, speaker.transport), request(undefined, "no/such")]),
      );
    }
    // The notification of another connection says that it is done.
    const wire = await gateway.wire();
    await wire.result("subscribe", { workspace_id, after_seq: 0 });
    await wire.heard(3);
    expect((await names()).sort()).toEqual(["http", "stdio", "websocket"]);
    const { status, text } = await post(gateway, [request(undefined, "ping")]);
    expect({ status, text }).toEqual({ status: 204, text: "" });
  });

  test("[WIRE22] an empty batch is refused with one -32600", async () => {
    for (const speaker of all) {
      expect(await speaker.ask("[]")).toMatchObject({
        id: null,
        error: { code: -32600, data: { kind: "invalid_request" } },
      });
    }
  });

  test("[WIRE23] a batch past the limit is refused whole; one at the limit is carried out", async () => {
    for (const speaker of all) {
      const much = Array.from({ length: 1_001 }, (_, i) => folder(i, "too many"));
      expect(await speaker.ask(JSON.stringify(much))).toMatchObject({
        id: null,
        error: { code: -32600, data: { kind: "request.batch_too_large", limit: 1_000 } },
      });
      expect(await names()).toEqual([]);
      const enough = Array.from({ length: 1_000 }, (_, i) => request(i, "ping"));
      const answers = await speaker.ask(JSON.stringify(enough));
      expect(answers.map(({ id }: { id: number }) => id)).toEqual(enough.map(({ id }) => id));
    }
  });

  test("[WIRE24] the requests of a batch are carried out one after the other, whatever became of those before", async () => {
    for (const speaker of all) {
      const save = (id: number, content: string, expected_version: number) =>
        request(id, "thread/agents_doc/save", { workspace_id, content, expected_version });
      const { version = 0 } = (await tree()).agents_docs[0] ?? {};
      const batch = [
        save(1, `${speaker.transport} 1`, version),
        save(2, "a conflict", version),
        save(3, `${speaker.transport} 2`, version + 1),
        request(4, "thread/agents_doc/get", { workspace_id }),
      ];
      const answers = await speaker.ask(JSON.stringify(batch));
      expect(answers[0].result.doc.version).toBe(version + 1);
      expect(answers[1].error.data).toEqual({
        kind: "version_conflict",
        expected_version: version,
        actual_version: version + 1,
      });
      expect(answers[2].result.doc.version).toBe(version + 2);
      expect(answers[3].result.explicit.content).toBe(`${speaker.transport} 2`);
    }
  });

  test("[WIRE25] what a batch changes is told after its answer", async () => {
    const wire = await gateway.wire();
    const other = await gateway.wire();
    await other.result("subscribe", { workspace_id });
    wire.send(JSON.stringify([folder("x", "one"), folder("y", "two"), request("z", "ping")]));
    const told = await wire.heard(2);
    expect(wire.received[0]).toMatchObject([{ id: "x" }, { id: "y" }, { id: "z" }]);
    expect(wire.received.slice(1)).toEqual(told);
    expect(await other.heard(2)).toEqual(told);
  });
});
