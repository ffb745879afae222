import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { errorCodes } from "../../src/gateway/index.js";
import { type MethodName, methods } from "../../src/protocol/index.js";
import { startGateway, type TestGateway } from "../support/gateway.js";
import { onEachStore } from "../support/stores.js";
import { type Speaker, speakers } from "../support/transports.js";
import { type Answer, assertFits } from "../support/wire.js";

const SEED = 20_260_101;
const names = Object.keys(methods) as MethodName[];

const hostile = fc.constantFrom(
  "",
  "\0",
  "a\0b",
  "\ud800",
  "\udfff\ud800",
  "\u202egnp.exe",
  "\ufeff",
  "\u2028\u2029",
  "e\u0301".repeat(200),
  "👨‍👩‍👧‍👦".repeat(100),
  "'; drop table workspace; --",
  '" or 1=1 --',
  "%_\\",
  "$1 ? :name @x",
  "../../../../etc/passwd",
  "/etc/passwd",
  "/proc/self/environ",
  "C:\\Windows\\System32",
  "file:///etc/passwd",
  "~/.ssh/id_rsa",
  "$(reboot) `reboot`",
  "{{7*7}}",
  "<script>alert(1)</script>",
  "__proto__",
  "constructor",
  "a".repeat(256),
  "x".repeat(65_537),
  "y".repeat(1_048_576),
  "NaN",
  "null",
  "-1",
  "1e999",
  "\r\n\r\nHTTP/1.1 200 OK",
);
const numbers = fc.constantFrom(0, -0, -1, 1, 1.5, 2 ** 31, -(2 ** 31), 2 ** 53, -(2 ** 53), 1e300, 5e-324);
const deep = fc
  .integer({ min: 1, max: 500 })
  .map((depth) => JSON.parse("[".repeat(depth) + "]".repeat(depth)) as unknown);
const wide = fc
  .integer({ min: 1, max: 5_000 })
  .map((width) => Object.fromEntries(Array.from({ length: width }, (_, i) => [`k${i}`, i])));
const anything = fc.oneof(
  { weight: 4, arbitrary: hostile },
  { weight: 2, arbitrary: numbers },
  { weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: 40 }) },
  { weight: 4, arbitrary: fc.jsonValue({ maxDepth: 4 }) },
  { weight: 1, arbitrary: deep },
  { weight: 1, arbitrary: wide },
  { weight: 2, arbitrary: fc.constantFrom(true, false, null) },
);

/** Every name a param has anywhere, so that some calls get past the schema. */
const PARAM_NAMES = [...new Set(names.flatMap((name) => Object.keys(shapeOf(name))))];

function shapeOf(name: MethodName): object {
  return (
    (methods[name].params as { shape?: object }).shape ?? { workspace_id: 1, thread_id: 1, after_seq: 1 }
  );
}

function paramsFor(name: MethodName, known: string[]): fc.Arbitrary<unknown> {
  const value = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...known) },
    { weight: 2, arbitrary: anything },
  );
  const own = fc.record(Object.fromEntries(Object.keys(shapeOf(name)).map((key) => [key, value])), {
    requiredKeys: [],
  });
  const any = fc.dictionary(fc.constantFrom(...PARAM_NAMES), value, { maxKeys: 6 });
  return fc.oneof(
    { weight: 6, arbitrary: own },
    { weight: 2, arbitrary: any },
    { weight: 2, arbitrary: anything },
  );
}

/** Fails unless it is an answer as the protocol promises it; says whether the call was refused. */
function checkAnswer(method: string, answer: Answer): boolean {
  expect(answer.jsonrpc).toBe("2.0");
  if (answer.error === undefined) {
    assertFits(`result of ${method}`, methods[method as MethodName].result, answer.result);
    return false;
  }
  const { code, message, data } = answer.error;
  expect(answer).not.toHaveProperty("result");
  expect(data.kind).not.toBe("internal");
  expect(code).toBe(errorCodes[data.kind as keyof typeof errorCodes]);
  expect(message.length).toBeGreaterThan(0);
  // What was sent is not sent back at length.
  expect(JSON.stringify(answer.error).length).toBeLessThan(20_000);
  return true;
}

onEachStore("fuzz", (kind) => {
  let gateway: TestGateway;
  let socket: Speaker;
  let all: Speaker[];
  let known: string[];
  beforeAll(async () => {
    gateway = await startGateway(kind);
    all = await speakers(gateway);
    socket = all[0] as Speaker;
    const wire = await gateway.wire();
    const { folder } = await wire.result("thread/folder/create", {
      workspace_id: gateway.home,
      name: "known",
    });
    const { thread } = await wire.result("thread/start", {
      workspace_id: gateway.home,
      folder_id: folder.id,
    });
    const { doc } = await wire.result("thread/agents_doc/save", {
      workspace_id: gateway.home,
      content: "known",
    });
    known = [gateway.home, gateway.home, folder.id, thread.id, doc.id];
  });
  afterAll(async () => {
    for (const speaker of all ?? []) speaker.close();
    await gateway?.stop();
  });

  const call = (method: string, params: unknown) =>
    socket.ask(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })) as Promise<Answer>;
  const state = async () => {
    const trees = await call("thread/tree", { workspace_id: gateway.home });
    const workspaces = await call("workspace/list", { limit: 500 });
    return JSON.stringify([trees.result, workspaces.result]);
  };

  test.each(names)(
    "[WIRE100] %s answers anything with a result or a well-formed refusal, and a refusal changes nothing",
    async (name) => {
      let before = await state();
      await fc.assert(
        fc.asyncProperty(paramsFor(name, known), async (params) => {
          const refused = checkAnswer(name, await call(name, params));
          const after = await state();
          if (refused) expect(after).toBe(before);
          before = after;
        }),
        { seed: SEED, numRuns: 60, endOnFailure: true },
      );
      expect((await call("ping", {})).error).toBeUndefined();
    },
  );

  test("[WIRE101] any id is echoed or refused, any method and version answered", async () => {
    const member = fc.record(
      {
        jsonrpc: fc.oneof(fc.constant("2.0"), anything),
        id: anything,
        method: fc.oneof(fc.constantFrom(...names), anything),
        params: anything,
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(0, 1, 2), member, async (which, request) => {
        const speaker = all[which] as Speaker;
        // A notification has no answer; a batch with a ping tells when it is done.
        const text = JSON.stringify([request, { jsonrpc: "2.0", id: "end", method: "ping" }]);
        const answers = (await speaker.ask(text)) as Answer[];
        expect(answers.at(-1)).toMatchObject({ id: "end" });
        for (const answer of answers.slice(0, -1)) {
          const sent = JSON.parse(text)[0];
          expect([sent.id, null]).toContainEqual(answer.id);
          checkAnswer(sent.method, answer);
        }
      }),
      { seed: SEED, numRuns: 300, endOnFailure: true },
    );
  });

  test("[WIRE101] any text is answered, and the connection goes on", async () => {
    const valid = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "thread/list",
      params: { workspace_id: known[0], limit: 2 },
    });
    const mutated = fc
      .tuple(fc.nat(valid.length), fc.nat(20), fc.string({ unit: "binary", maxLength: 5 }))
      .map(([at, cut, put]) => valid.slice(0, at) + put + valid.slice(at + cut));
    const text = fc.oneof(mutated, fc.string({ unit: "binary", maxLength: 100 }), fc.json());
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(0, 1, 2), text, async (which, given) => {
        // A line break ends a message on stdio.
        const sent = given.replaceAll("\n", " ").toWellFormed();
        if (sent.trim() === "" || isNotification(sent)) return;
        const answer = await (all[which] as Speaker).ask(sent);
        for (const each of [answer].flat()) if (each.error) checkAnswer("", each);
      }),
      { seed: SEED, numRuns: 300, endOnFailure: true },
    );
    for (const speaker of all) {
      expect(await speaker.ask('{"jsonrpc":"2.0","id":"alive","method":"ping"}')).toMatchObject({
        id: "alive",
        result: {},
      });
    }
  });
});

/** Whether a text is one that must not be answered. */
function isNotification(text: string): boolean {
  try {
    const { jsonrpc, method, ...rest } = JSON.parse(text);
    return jsonrpc === "2.0" && typeof method === "string" && !("id" in rest);
  } catch {
    return false;
  }
}
