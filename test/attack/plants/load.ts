import { of } from "./plant.js";

const OVERSIZED = "test/attack/oversized.test.ts";
export const oversized = of(
  "oversized",
  {
    name: "a body is read to its end, however long it is",
    file: "src/gateway/http/body.ts",
    guard: "if (size > limit * READ_ON) break;",
    hole: "if (READ_ON === 0) break;",
    attack: OVERSIZED,
    caught: "[ATK50] a body without an end at /rpc",
    quick: true,
  },
  {
    name: "JSON may be as deep as it likes",
    file: "src/gateway/rpc/message.ts",
    guard: "if (deeperThan(params, limits.depth)) {",
    hole: "if (deeperThan(undefined, limits.depth)) {",
    attack: OVERSIZED,
    caught: "[ATK54]",
  },
  {
    name: "a batch may be as long as it likes",
    file: "src/gateway/rpc/message.ts",
    guard: "if (value.length > limits.batch) {",
    hole: "if (limits.batch === 0) {",
    attack: OVERSIZED,
    caught: "[ATK54]",
  },
  {
    name: "a WebSocket's messages are unpacked",
    file: "src/gateway/http/websocket.ts",
    guard: "perMessageDeflate: false,",
    hole: "perMessageDeflate: true,",
    attack: OVERSIZED,
    caught: "[ATK52] is not packed",
  },
  {
    name: "a WebSocket's messages have no limit",
    file: "src/gateway/http/websocket.ts",
    guard: "maxPayload: deps.limits.messageBytes,",
    hole: "maxPayload: 0,",
    attack: OVERSIZED,
    caught: "[ATK53]",
  },
  {
    name: "an archive may unpack to any size",
    file: "src/atsf/archive/read-archive.ts",
    guard: 'if (bytes > limits.maxBytes) throw tooLarge("bytes", limits.maxBytes);',
    hole: "",
    attack: OVERSIZED,
    caught: "[ATK55]",
  },
);

const SLOW = "test/attack/slow.test.ts";
export const slow = of(
  "slow",
  {
    name: "a request may take for ever",
    file: "src/gateway/http/server.ts",
    guard:
      "const timing = { headersTimeout, requestTimeout, connectionsCheckingInterval: headersTimeout / 4 };",
    hole: "const timing = { headersTimeout: 0, requestTimeout: 0 * (headersTimeout + requestTimeout) };",
    attack: SLOW,
    caught: "[ATK60]",
    quick: true,
  },
  {
    name: "a body may take for ever",
    file: "src/gateway/http/server.ts",
    guard:
      "const timing = { headersTimeout, requestTimeout, connectionsCheckingInterval: headersTimeout / 4 };",
    hole: "const timing = { headersTimeout: 0, requestTimeout: 0 * (headersTimeout + requestTimeout) };",
    attack: SLOW,
    caught: "[ATK61]",
  },
  {
    name: "there may be as many sockets as somebody opens",
    file: "src/gateway/http/server.ts",
    guard: "server.maxConnections = mostSockets;",
    hole: "server.maxConnections = mostSockets + 2 ** 20;",
    attack: SLOW,
    caught: "[ATK62]",
  },
);
