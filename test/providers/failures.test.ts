import { expect, test } from "vitest";
import { createProvider } from "../../src/providers/index.js";
import { failure, hello, KEY, ofType, onEachApi, textIn, turn } from "./support.js";

const call = { id: "call_1", name: "files_read", arguments: ['{"pa', 'th": "a.txt"}'] };

onEachApi("failures", ({ id, protocol, ask, server, provider, model }) => {
  const once = { retry: { retries: 0 } };

  test("[PROV20] a refusal has a code, the server's words and advice", async () => {
    const table = [
      [400, "provider.bad_request", false],
      [401, "provider.unauthorized", false],
      [402, "provider.quota", false],
      [403, "provider.unauthorized", false],
      [404, "provider.not_found", false],
      [413, "provider.too_large", false],
      [418, "provider.bad_request", false],
      [429, "provider.rate_limited", true],
      [500, "provider.server_error", true],
      [503, "provider.overloaded", true],
      [529, "provider.overloaded", true],
    ] as const;
    for (const [status, code, retryable] of table) {
      const body = { error: { message: "the server's words" } };
      const end = failure(await ask([turn({ status, body })], { config: once }));
      expect(end, String(status)).toMatchObject({ code, retryable, status });
      expect(end.message).toMatch(
        new RegExp(`127\\.0\\.0\\.1:\\d+\\) answers with status ${status}: the server's words\\. [A-Z]`),
      );
    }
  });

  test("[PROV20] the words decide where they say more than the status", async () => {
    const table = [
      [429, { error: { code: "insufficient_quota", message: "m" } }, "provider.quota"],
      [400, { error: { code: "context_length_exceeded", message: "m" } }, "provider.too_large"],
      [
        400,
        { error: { type: "invalid_request_error", message: "prompt is too long: 9 > 8" } },
        "provider.too_large",
      ],
      [
        400,
        [{ error: { status: "INVALID_ARGUMENT", details: [{ reason: "API_KEY_INVALID" }] } }],
        "provider.unauthorized",
      ],
      [500, { error: { type: "overloaded_error", message: "m" } }, "provider.overloaded"],
    ] as const;
    for (const [status, body, code] of table) {
      const events = await ask([turn({ status, body })], { config: once });
      expect(failure(events).code, JSON.stringify(body)).toBe(code);
    }
  });

  test("[PROV20] any body of a refusal will do", async () => {
    for (const body of [
      "",
      "<html>gateway</html>",
      "plain words",
      "[]",
      "null",
      "7",
      '{"detail":"its words"}',
      "{",
    ]) {
      const end = failure(await ask([turn({ status: 502, body })], { config: once }));
      expect(end).toMatchObject({ code: "provider.server_error", status: 502 });
      expect(end.message).not.toContain("<html>");
      if (body.includes("words"))
        expect(end.message).toContain(body.includes("its") ? "its words" : "plain words");
    }
  });

  test("[PROV21] no message holds a secret, whoever says it", async () => {
    const secret = "other-secret/+value";
    const config = { ...once, headers: { "x-token": `Bearer ${secret}` } };
    const echo = `wrong key ${KEY}, ${secret}, ${encodeURIComponent(secret)} {"k":"${KEY}"}`;
    const turns = [
      [turn({ status: 401, body: { error: { message: echo } } })],
      [turn({ status: 500, body: echo })],
      [turn({ headers: { "content-type": `text/${KEY}` } }, { text: "a" })],
      [turn({ error: { type: "server_error", message: echo } })],
    ];
    for (const script of turns) {
      const text = JSON.stringify((await ask(script, { config })).slice(1));
      expect(text).toContain("[redacted]");
      for (const hidden of [KEY, secret, encodeURIComponent(secret)]) expect(text).not.toContain(hidden);
    }
  });

  test("[PROV22] an answer that breaks off is a failure that keeps what had arrived", async () => {
    for (const [ending, style] of [
      [{ cut: true }, {}],
      [{ end: true }, {}],
      [{ cut: true }, { until_close: true }],
      [{ end: true }, { until_close: true }],
    ] as const) {
      const events = await ask([{ ...turn({ text: ["One", ", two"] }, ending), style }]);
      expect(textIn(events)).toBe("One, two");
      expect(failure(events)).toMatchObject({ code: "provider.broken_stream", retryable: true });
      expect(ofType(events, "retrying")).toEqual([]);
    }
  });

  test("[PROV22] a call that breaks off is not given out", async () => {
    if (protocol === "gemini") return expect(call.arguments).toHaveLength(2); // It sends calls whole.
    const events = await ask([{ steps: [{ text: "Let me" }, ...cutCall(protocol), { cut: true }] }]);
    expect(ofType(events, "tool_call")).toEqual([]);
    expect(failure(events).code).toBe("provider.broken_stream");
  });

  test("[PROV23] an event that can't be read is a failure", async () => {
    const broken = ['{"choices": [', "hello", "7", "[1]", '"text"'];
    for (const event of broken) {
      const events = await ask([turn({ text: "Hi" }, { event }, { text: " there" })]);
      expect(textIn(events)).toBe("Hi");
      expect(failure(events)).toMatchObject({ code: "provider.broken_stream" });
    }
  });

  test("[PROV23] a known event of a wrong form is a failure", async () => {
    const wrong = {
      responses: { type: "response.output_text.delta", item_id: 7, delta: null },
      chat: { choices: [{ index: 0, delta: { content: 7 } }] },
      messages: { type: "content_block_delta", index: "x", delta: { type: "text_delta" } },
      gemini: { candidates: [{ content: { parts: "none" } }] },
    };
    const events = await ask([turn({ text: "Hi" }, { event: wrong[protocol] }, { text: " there" })]);
    expect(failure(events)).toMatchObject({ code: "provider.broken_stream" });
  });

  test("[PROV24] events of unknown kinds are left out", async () => {
    const unknown = [
      { event: { type: "response.something_new", delta: "x" }, name: "response.something_new" },
      { event: { type: "content_block_start", index: 90, content_block: { type: "hologram" } } },
      { event: { type: "content_block_delta", index: 90, delta: { type: "hologram_delta", x: 1 } } },
      { event: { type: "content_block_stop", index: 90 } },
      { event: {} },
      { event: { object: "heartbeat" }, name: "heartbeat" },
    ];
    const events = await ask([turn(...unknown, { text: "Hi" }, ...unknown, { text: " there" }, ...unknown)]);
    expect(textIn(events)).toBe("Hi there");
    expect(events.at(-1)).toMatchObject({ type: "finish", reason: "stop" });
  });

  test("[PROV25] an answer that is no stream of events is a failure", async () => {
    for (const headers of [
      { "content-type": "text/html" },
      { "content-type": "application/json" },
      { "content-encoding": "gzip" },
    ] as Record<string, string>[]) {
      const events = await ask([turn({ headers }, { text: "Hi" })]);
      expect(failure(events)).toMatchObject({ code: "provider.content_type", retryable: false, status: 200 });
    }
    const refusal = { status: 200, body: { error: { message: "no such model" } } };
    const told = failure(await ask([turn(refusal)]));
    expect(told).toMatchObject({ code: "provider.content_type" });
    expect(told.message).toContain("application/json instead of a stream of events: no such model.");
    const lies = await ask([turn({ raw: "<html><body>Log in</body></html>" }, { end: true })], {
      config: once,
    });
    expect(failure(lies).code).toBe("provider.broken_stream");
  });

  test("[PROV26] an answer without a word is a failure, unless the server says why", async () => {
    expect(failure(await ask([turn({ finish: "stop" })])).code).toBe("provider.empty_answer");
    expect(failure(await ask([turn({ raw: "" }, { end: true })])).code).toBe("provider.empty_answer");
    for (const reason of ["length", "content_filter"] as const)
      expect((await ask([turn({ finish: reason })])).at(-1)).toMatchObject({ type: "finish", reason });
  });

  test("[PROV27] a failure in mid-stream is told as what it is", async () => {
    const table = [
      ["overloaded_error", "provider.overloaded"],
      ["rate_limit_exceeded", "provider.rate_limited"],
      ["server_error", "provider.server_error"],
      ["something_new", "provider.server_error"],
    ] as const;
    for (const [type, code] of table) {
      const error = { type, message: "its words" };
      const events = await ask([turn({ text: "Hi" }, { error }, { text: " there" })]);
      expect(textIn(events)).toBe("Hi");
      expect(failure(events)).toMatchObject({ code, retryable: true });
      expect(failure(events).message).toContain("its words");
    }
  });

  test("[PROV28] events are read however they are written", async () => {
    for (const style of [
      { line_end: "\r\n" },
      { line_end: "\r" },
      { bom: true },
      { piece_bytes: 1 },
      { piece_bytes: 3, line_end: "\r\n", bom: true },
      { until_close: true },
    ]) {
      const comments = { raw: `: keep${style.line_end ?? "\n"}retry: 7${style.line_end ?? "\n"}` };
      const events = await ask([{ ...turn({ text: "Zwölf 🧵" }, comments, { text: " Fäden" }), style }]);
      expect(textIn(events), JSON.stringify(style)).toBe("Zwölf 🧵 Fäden");
      expect(events.at(-1)).toMatchObject({ type: "finish" });
    }
  });

  test("[PROV29] an event may be large, but not without limit", async () => {
    const large = "x".repeat(5_000_000);
    expect(textIn(await ask([turn({ text: large })]))).toBe(large);
    const endless = await ask([
      turn({ text: "Hi" }, { raw: `data: "${"x".repeat(17_000_000)}` }, { hang: true }),
    ]);
    expect(textIn(endless)).toBe("Hi");
    expect(failure(endless)).toMatchObject({ code: "provider.broken_stream" });
    expect(failure(endless).message).toContain("16 MB");
  });

  test("[PROV30] an end that comes twice ends once", async () => {
    const events = await ask([turn({ text: "Hi" }, { usage: { input: 5, output: 1 } }, { again: "end" })]);
    expect(textIn(events)).toBe("Hi");
    expect(ofType(events, "usage")).toHaveLength(1);
    expect(ofType(events, "finish")).toHaveLength(1);
  });

  test("[PROV31] a server that is not there is told by its address", async () => {
    const config = { baseURL: "http://127.0.0.1:1/v1", ...once };
    const end = failure(await ask([], { config }));
    expect(end).toMatchObject({ code: "provider.unreachable", retryable: true });
    expect(end.message).toContain("127.0.0.1:1");
    expect(end.message).toContain("ECONNREFUSED");
  });

  test("[PROV32] a redirect is not followed: keys would follow it", async () => {
    const location = `${server().url}/v1/elsewhere`;
    const events = await ask([turn({ status: 307, headers: { location } })]);
    expect(failure(events)).toMatchObject({ code: "provider.bad_request", status: 307 });
    expect(server().requests).toHaveLength(1);
  });

  test("[PROV33] a failure leaves the provider as good as before", async () => {
    server().play([turn({ text: "a" }, { cut: true }), turn({ status: 401 }), turn({ text: "b" })]);
    const one = provider();
    const ends: unknown[] = [];
    for (let turns = 0; turns < 3; turns += 1)
      for await (const event of one.generate(hello(model))) ends.push(event.type);
    expect(ends.filter((type) => type === "failed")).toHaveLength(2);
    expect(ends.at(-1)).toBe("finish");
    expect(id).toBe(one.id);
  });
});

test("[PROV23] a server of another protocol is told with the provider to use", async () => {
  const { startModelServer } = await import("../support/model-server/server.js");
  const server = await startModelServer([turn({ event: { choices: [{ delta: { content: "Hi" } }] } })]);
  const provider = createProvider({ provider: "openai", config: { baseURL: server.url } });
  const events = [];
  for await (const event of provider.generate(hello("gpt-5"))) events.push(event);
  await server.close();
  expect(failure(events).message).toContain("openai-compatible");
});

/** The beginning of a call, in the protocol's own words. */
function cutCall(protocol: string) {
  const { id, name } = call;
  if (protocol === "chat") {
    const delta = { tool_calls: [{ index: 0, id, type: "function", function: { name, arguments: '{"pa' } }] };
    return [{ event: { choices: [{ index: 0, delta, finish_reason: null }] } }];
  }
  if (protocol === "messages") {
    return [
      {
        event: {
          type: "content_block_start",
          index: 9,
          content_block: { type: "tool_use", id, name, input: {} },
        },
      },
      {
        event: {
          type: "content_block_delta",
          index: 9,
          delta: { type: "input_json_delta", partial_json: '{"pa' },
        },
      },
    ];
  }
  const item = { type: "function_call", id: "fc_1", call_id: id, name, arguments: "" };
  const added = { type: "response.output_item.added", output_index: 9, item };
  const delta = {
    type: "response.function_call_arguments.delta",
    output_index: 9,
    item_id: "fc_1",
    delta: '{"pa',
  };
  return [{ event: added }, { event: delta }];
}
