import { describe, expect, test } from "vitest";
import { createProvider, type ProviderEvent } from "../../src/providers/index.js";
import { asText, collect, hello, ofType, onEachApi, type RequestEvent, textIn, turn } from "./support.js";

const call = { id: "call_1", name: "files_read", arguments: ['{"pa', 'th": "a', '.txt"}'] };
const tools = [{ name: "files_read", description: "Reads a file.", parameters: { type: "object" } }];

onEachApi("the stream", ({ id, ask, server, provider, model }) => {
  test("[PROV1] the request is told first and once, exactly as the server receives it", async () => {
    const events = await ask([turn({ status: 503 }), turn({ text: "Hi, ünïcode 🧵" })]);
    const [first, ...rest] = events;
    const received = await server().request(0);
    const url = `${server().url}${received.path}`;
    expect(asText(first as RequestEvent)).toEqual({ type: "request", url, body: received.body });
    expect(ofType(rest, "request")).toEqual([]);
    expect((await server().request(1)).body).toBe(received.body);
  });

  test("[PROV2] text comes in the fragments that were sent, before the answer is complete", async () => {
    server().play([turn({ text: ["One", ", two"] }, { hang: true })]);
    const seen: ProviderEvent[] = [];
    for await (const event of provider().generate(hello(model))) {
      seen.push(event);
      if (event.type === "text" && event.text === ", two") break;
    }
    expect(seen.slice(1)).toEqual([
      { type: "text", text: "One" },
      { type: "text", text: ", two" },
    ]);
  });

  test("[PROV3] the end says why, in the same words for all", async () => {
    for (const reason of ["stop", "length", "content_filter", "other"] as const) {
      const events = await ask([turn({ text: "Hi" }, { finish: reason })]);
      expect(events.at(-1), reason).toMatchObject({ type: "finish", reason });
    }
  });

  test("[PROV4] a call's arguments come in fragments, then whole", async () => {
    const events = await ask([turn({ text: "Let me see." }, { tool_call: call })], { request: { tools } });
    const text = call.arguments.join("");
    const inputs = ofType(events, "tool_input");
    const whole = inputs.map((input) => input.text).join("");
    expect(id === "google" ? JSON.parse(whole) : whole).toEqual(id === "google" ? JSON.parse(text) : text);
    expect(new Set(inputs.map((input) => `${input.id} ${input.name}`))).toEqual(
      new Set(["call_1 files_read"]),
    );
    expect(ofType(events, "tool_call")).toMatchObject([
      { id: "call_1", name: "files_read", arguments: whole },
    ]);
    expect(events.at(-1)).toMatchObject({ type: "finish", reason: "tool_calls" });
  });

  test("[PROV4] several calls of one answer are told apart", async () => {
    const second = { id: "call_2", name: "files_list", arguments: "{}" };
    const events = await ask([turn({ tool_call: call }, { tool_call: second })], { request: { tools } });
    expect(ofType(events, "tool_call").map((one) => [one.id, one.name, JSON.parse(one.arguments)])).toEqual([
      ["call_1", "files_read", { path: "a.txt" }],
      ["call_2", "files_list", {}],
    ]);
  });

  test("[PROV5] a call of no tool, with arguments that are no JSON, is passed on as it is", async () => {
    const odd = { id: "call_1", name: "no_such_tool", arguments: ["{path: ", "oops"] };
    const events = await ask([turn({ tool_call: odd })], { request: { tools } });
    expect(ofType(events, "tool_call")).toMatchObject([
      { id: "call_1", name: "no_such_tool", arguments: "{path: oops" },
    ]);
    expect(events.at(-1)).toMatchObject({ type: "finish", reason: "tool_calls" });
  });

  test("[PROV6] a server that says stop after a call has made a call", async () => {
    const events = await ask([turn({ tool_call: call }, { finish: "stop" })], { request: { tools } });
    expect(events.at(-1)).toMatchObject({ type: "finish", reason: "tool_calls" });
  });

  test("[PROV7] usage is told once, with its cached part", async () => {
    const usage = { input: 120, output: 30, cached_input: 100, reasoning: 0 };
    const events = await ask([turn({ text: "Hi" }, { usage })]);
    expect(ofType(events, "usage")).toHaveLength(1);
    expect(ofType(events, "usage")[0]).toMatchObject({ input: 120, output: 30, cached_input: 100 });
    expect(events.at(-2)?.type).toBe("usage");
  });

  test("[PROV7] a server that does not count gives no usage", async () => {
    const events = await ask([turn({ text: "Hi" })]);
    expect(ofType(events, "usage")).toEqual([]);
    expect(events.at(-1)).toMatchObject({ type: "finish", reason: "stop" });
  });

  test("[PROV8] thinking comes in fragments of its own", async () => {
    const events = await ask([turn({ thinking: ["First ", "this."], signature: "sig" }, { text: "Done" })]);
    const thoughts = ofType(events, "thinking");
    expect(thoughts.map(({ text }) => text).join("")).toBe("First this.");
    expect(new Set(thoughts.map((thought) => thought.id)).size).toBe(1);
    expect(textIn(events)).toBe("Done");
  });

  test("[PROV9] an answer that is read slowly is read whole", async () => {
    const pieces = Array.from({ length: 300 }, (_, index) => `${index} ${"x".repeat(2_000)} `);
    server().play([turn({ text: pieces })]);
    const events: ProviderEvent[] = [];
    for await (const event of provider({ timeouts: { silenceMs: 800 } }).generate(hello(model))) {
      events.push(event);
      if (events.length === 20) await new Promise((done) => setTimeout(done, 1_000));
    }
    expect(textIn(events)).toBe(pieces.join(""));
    expect(events.at(-1)).toMatchObject({ type: "finish" });
  });
});

describe("providers without a network", () => {
  test("[PROV1] they tell what would be sent", async () => {
    for (const [name, config] of [
      ["demo", { delayMs: 0 }],
      ["scripted", { turns: [{ steps: [{ text: "a" }] }] }],
    ] as const) {
      const provider = createProvider({ provider: name, config });
      const [first] = await collect(provider, hello());
      expect(first).toEqual({ type: "request", ...(await provider.prepare(hello())) });
      expect(JSON.parse((first as { body: string }).body).messages).toEqual(hello().messages);
    }
  });
});
