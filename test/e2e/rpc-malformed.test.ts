import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { WebSocket } from "ws";
import { startGateway, type TestGateway } from "../support/gateway.js";
import { bearer, exchangeBytes, post, statusOf } from "../support/http.js";
import { sqliteStore } from "../support/stores.js";
import { overHttp, overStdio, overWebSocket, type Speaker, speakers } from "../support/transports.js";

// Nothing here gets as far as a store.
let gateway: TestGateway;
let all: Speaker[];
beforeAll(async () => {
  gateway = await startGateway(sqliteStore);
});
afterAll(() => gateway?.stop());
beforeEach(async () => {
  all = await speakers(gateway);
  return () => {
    for (const speaker of all) speaker.close();
  };
});

const ping = (id: unknown) => JSON.stringify({ jsonrpc: "2.0", id, method: "ping" });
const parseError = {
  jsonrpc: "2.0",
  id: null,
  error: { code: -32700, message: expect.any(String), data: { kind: "parse_error" } },
};
const pings = async (speaker: Speaker) =>
  expect(await speaker.ask(ping("alive"))).toMatchObject({ id: "alive", result: {} });
const treeSeq = async () => {
  const wire = await gateway.wire();
  return (await wire.result("thread/tree", { workspace_id: gateway.home })).seq;
};

test("[WIRE11] a message cut at any point is answered -32700 and carries nothing out", async () => {
  const before = await treeSeq();
  const params = { workspace_id: gateway.home, name: 'é😀"\\ \n', after_id: null, extra: [1.5e3, true, {}] };
  const whole = JSON.stringify({ jsonrpc: "2.0", id: -1.25, method: "thread/folder/create", params });
  for (const speaker of all) {
    // From 1: a line without text is no message on stdio.
    for (let cut = 1; cut < whole.length; cut++) {
      const part = whole.slice(0, cut);
      // Half of a surrogate pair becomes U+FFFD on its way, which leaves an unfinished string all the same.
      expect(await speaker.ask(part)).toEqual(parseError);
    }
    await pings(speaker);
  }
  expect(await treeSeq()).toBe(before);
});

test("[WIRE11] text that is no JSON at all is answered -32700", async () => {
  const texts = [
    "nonsense",
    "{'a':1}",
    '{"a":1,}',
    "[1,2",
    "NaN",
    "undefined",
    '{"id":01}',
    '"\\x"',
    '{"a":1}{"b":2}',
    "\u0000",
    "// {}",
  ];
  for (const speaker of all) {
    for (const text of texts) expect(await speaker.ask(text)).toEqual(parseError);
    await pings(speaker);
  }
  expect(await overHttp(gateway).ask("")).toEqual(parseError);
  expect(await (await overWebSocket(gateway)).ask("")).toEqual(parseError);
});

test("[WIRE12] bytes that are no UTF-8 are refused: -32700 over HTTP and stdio, close 1007 on a WebSocket", async () => {
  const before = await treeSeq();
  const [head = "", tail = ""] = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "thread/folder/create",
    params: { workspace_id: gateway.home, name: "?" },
  }).split("?");
  for (const bad of [[0xff], [0xc3], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0x80]]) {
    const message = Buffer.concat([Buffer.from(head), Buffer.from(bad), Buffer.from(tail)]);
    for (const speaker of [overHttp(gateway), overStdio(gateway)]) {
      expect(await speaker.ask(message)).toEqual(parseError);
      await pings(speaker);
      speaker.close();
    }
    await expect((await overWebSocket(gateway)).ask(message)).rejects.toThrow("closed with 1007");
  }
  expect(await treeSeq()).toBe(before);
});

test("[WIRE13] a byte order mark before a message is ignored, within it it is not JSON", async () => {
  for (const speaker of all) {
    expect(await speaker.ask(`\uFEFF${ping(1)}`)).toMatchObject({ id: 1, result: {} });
    expect(await speaker.ask(`\uFEFF\uFEFF${ping(1)}`)).toEqual(parseError);
    expect(await speaker.ask(`${ping(1)}\uFEFF`)).toEqual(parseError);
  }
});

test("[WIRE14] a binary frame closes the WebSocket with 1003, and what comes after it is not carried out", async () => {
  const before = await treeSeq();
  const socket = new WebSocket(`${gateway.url.replace("http", "ws")}/rpc`, {
    headers: { Authorization: `Bearer ${gateway.token}` },
  });
  await new Promise((resolve) => socket.once("open", resolve));
  const params = { workspace_id: gateway.home, name: "after" };
  socket.send(Buffer.from(ping(1)));
  socket.send(JSON.stringify({ jsonrpc: "2.0", id: 2, method: "thread/folder/create", params }));
  expect(await new Promise((resolve) => socket.once("close", resolve))).toBe(1003);
  expect(await treeSeq()).toBe(before);
});

test("[WIRE18] JSON that is no request is answered -32600 with the id where there is one", async () => {
  const cases: [string, unknown][] = [
    ["1", null],
    ["null", null],
    ['"ping"', null],
    ["true", null],
    ["{}", null],
    ['{"jsonrpc":"1.0","id":1,"method":"ping"}', 1],
    ['{"jsonrpc":2.0,"id":"a","method":"ping"}', "a"],
    ['{"id":5,"method":"ping"}', 5],
    ['{"jsonrpc":"2.0","id":6}', 6],
    ['{"jsonrpc":"2.0","id":6,"method":7}', 6],
    ['{"jsonrpc":"2.0","method":["ping"]}', null],
    ['{"jsonrpc":"2.0","id":6,"result":{}}', 6],
  ];
  for (const speaker of all) {
    for (const [text, id] of cases) {
      expect(await speaker.ask(text)).toMatchObject({
        id,
        error: { code: -32600, data: { kind: "invalid_request" } },
      });
    }
  }
});

test("[WIRE17] params nested deeper than 64 levels are refused with -32602, however deep", async () => {
  const nested = (depth: number) => {
    const value =
      '{"a":['.repeat(Math.floor(depth / 2)) +
      "[".repeat(depth % 2) +
      "]".repeat(depth % 2) +
      "]}".repeat(Math.floor(depth / 2));
    return `{"jsonrpc":"2.0","id":9,"method":"ping","params":{"client":null,"x":${value}}}`;
  };
  for (const speaker of all) {
    expect(await speaker.ask(nested(63))).toMatchObject({ id: 9, result: {} });
    for (const depth of [64, 65, 1_000, 100_000]) {
      expect(await speaker.ask(nested(depth))).toMatchObject({
        id: 9,
        error: { code: -32602, data: { kind: "request.too_deep", limit: 64 } },
      });
    }
    const bare = "[".repeat(100_000) + "]".repeat(100_000);
    expect(await speaker.ask(bare)).toMatchObject([{ id: null, error: { code: -32600 } }]);
    expect(await speaker.ask("[".repeat(100_000))).toEqual(parseError);
    expect(await speaker.ask(`{"jsonrpc":"2.0","id":${bare},"method":"ping"}`)).toMatchObject({
      id: null,
      error: { code: -32600 },
    });
    await pings(speaker);
  }
});

test("[WIRE16] a document of 10 MB is refused as too long, not as a message too large, and nothing is written", async () => {
  const before = await treeSeq();
  const params = { workspace_id: gateway.home, content: "x".repeat(10 * 1024 * 1024) };
  const text = JSON.stringify({ jsonrpc: "2.0", id: 3, method: "thread/agents_doc/save", params });
  for (const speaker of all) {
    expect(await speaker.ask(text)).toMatchObject({
      id: 3,
      error: {
        code: -32602,
        data: { kind: "agents_doc.too_long", char_count: 10 * 1024 * 1024, limit: 65_536 },
      },
    });
    await pings(speaker);
  }
  expect(await treeSeq()).toBe(before);
});

test("[WIRE15] a message past the limit is refused on every transport and the gateway reads no more of it", async () => {
  const limit = 16 * 1024 * 1024;
  const whole = (size: number) => {
    const [head, tail] = ['{"jsonrpc":"2.0","id":4,"method":"ping","params":{"x":"', '"}}'];
    return head + "x".repeat(size - head.length - tail.length) + tail;
  };
  const tooLarge = { id: null, error: { code: -32600, data: { kind: "request.too_large", limit } } };
  for (const speaker of all) {
    expect(await speaker.ask(whole(limit))).toMatchObject({ id: 4, result: {} });
    if (speaker.transport === "websocket") {
      await expect(speaker.ask(whole(limit + 1))).rejects.toThrow("closed with 1009");
    } else {
      expect(await speaker.ask(whole(limit + 1))).toMatchObject(tooLarge);
      await pings(speaker);
    }
  }
  const chunked = await post(gateway, whole(limit + 100_000));
  expect({ status: chunked.status, ...JSON.parse(chunked.text) }).toMatchObject({ status: 200, ...tooLarge });
});

test("[WIRE15] a body without a declared length is read up to the limit", async () => {
  const chunk = `10000\r\n${"x".repeat(0x10000)}\r\n`;
  const head = `POST /rpc HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nAuthorization: ${bearer(gateway).authorization}\r\nTransfer-Encoding: chunked\r\n\r\n`;
  const answer = await exchangeBytes(gateway.url, `${head}${chunk.repeat(300)}0\r\n\r\n`);
  expect(statusOf(answer)).toBe(200);
  expect(answer).toContain('"kind":"request.too_large"');
});
