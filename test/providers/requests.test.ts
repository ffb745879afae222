import { describe, expect, test, vi } from "vitest";
import { isKind } from "../../src/base/index.js";
import {
  createProvider,
  type GenerateRequest,
  type PromptMessage,
  type ProviderEvent,
} from "../../src/providers/index.js";
import type { ServerTurn } from "../support/model-server/script.js";
import { startModelServer } from "../support/model-server/server.js";
import { asText, collect, hello, KEY, ofType, onEachApi, turn } from "./support.js";

const image = {
  type: "image" as const,
  data: Buffer.from("not really").toString("base64"),
  mimeType: "image/png",
};
const tools = [
  {
    name: "files_read",
    description: "Reads a file.",
    parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  },
];

/** A conversation with everything in it. */
const full = (model: string): GenerateRequest => ({
  model,
  messages: [
    { role: "system", content: "Be brief." },
    { role: "developer", content: [{ type: "text", text: "Be kind. \u{1F9F5}" }] },
    { role: "user", content: [{ type: "text", text: "What is this?" }, image] },
    {
      role: "assistant",
      content: "Let me read.",
      tool_calls: [{ id: "call_1", name: "files_read", arguments: '{"path":"a.txt"}' }],
    },
    { role: "tool", tool_call_id: "call_1", content: "its text" },
    { role: "user", content: "Well?" },
  ],
  tools,
  params: { max_tokens: 321 },
  cacheKey: "thread-7",
});

type Body = Record<string, unknown>;

onEachApi("requests", ({ id, ask, server, provider, model, keyHeader }) => {
  const sent = async (given: Partial<GenerateRequest>): Promise<Body> => {
    await ask([turn({ text: "ok" })], { request: given });
    return JSON.parse((await server().request(0)).body);
  };

  test("[PROV10] what is prepared is what is sent, byte for byte, every time", async () => {
    const events = await ask([turn({ text: "ok" })], { request: full(model) });
    const received = await server().request(0);
    const prepared = await provider().prepare(full(model));
    expect(prepared).toEqual({ url: `${server().url}${received.path}`, body: received.body });
    expect(await provider().prepare(structuredClone(full(model)))).toEqual(prepared);
    expect(ofType(events, "request").map(asText)).toEqual([{ type: "request", ...prepared }]);
    expect(server().requests).toHaveLength(1);
  });

  test("[PROV36] nothing is sent before what it waits for has come about, nor when that fails", async () => {
    server().play([turn({ text: "ok" })]);
    let come = () => {};
    const after = new Promise<void>((resolve) => {
      come = resolve;
    });
    const events: ProviderEvent[] = [];
    const asking = (async () => {
      for await (const event of provider().generate(hello(model), { after })) events.push(event);
    })();
    await provider().prepare(hello(model));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect([events, server().requests]).toEqual([[], []]);
    come();
    await asking;
    expect([events.at(-1)?.type, server().requests.length]).toEqual(["finish", 1]);
    const failed = provider().generate(hello(model), { after: Promise.reject(new Error("not kept")) });
    await expect(failed[Symbol.asyncIterator]().next()).rejects.toThrow("not kept");
    expect(server().requests).toHaveLength(1);
  });

  test("[PROV10] a longer conversation begins with the same bytes", async () => {
    const shorter = full(model);
    const longer = {
      ...shorter,
      messages: [...shorter.messages, { role: "assistant", content: "So." } as const],
    };
    const [one, other] = await Promise.all([provider().prepare(shorter), provider().prepare(longer)]);
    const upTo = one.body.indexOf("Well?");
    expect(upTo).toBeGreaterThan(0);
    expect(other.body.slice(0, upTo)).toBe(one.body.slice(0, upTo));
  });

  test("[PROV11] instructions stand in the one place for them, or where they stood", async () => {
    const joined = "Be brief.\n\nBe kind. \u{1F9F5}\n\nAnd quick.";
    const messages: PromptMessage[] = [...full(model).messages, { role: "system", content: "And quick." }];
    const body = await sent({ messages });
    if (id === "openai") {
      const roles = (body.input as { role?: string; content: unknown }[]).filter(
        ({ role }) => role === "developer",
      );
      expect(roles.map(({ content }) => content)).toEqual(["Be brief.", "Be kind. \u{1F9F5}", "And quick."]);
    } else if (id === "openai-compatible") {
      const chat = body.messages as { role: string; content: string }[];
      expect(chat[0]).toEqual({ role: "system", content: joined });
      expect(chat.filter(({ role }) => role === "system")).toHaveLength(1);
    } else if (id === "anthropic") {
      expect(body.system).toEqual([{ type: "text", text: joined, cache_control: { type: "ephemeral" } }]);
    } else expect(body.systemInstruction).toEqual({ parts: [{ text: joined }] });
  });

  test("[PROV12] images reach the server", async () => {
    const text = JSON.stringify(await sent({ messages: full(model).messages }));
    expect(text).toContain(image.data);
    expect(text).toContain("image/png");
  });

  test("[PROV12] an image that a tool answers reaches every server that can take one", async () => {
    const messages: PromptMessage[] = [
      ...full(model).messages.slice(0, 4),
      { role: "tool", tool_call_id: "call_1", content: [{ type: "text", text: "Here:" }, image] },
    ];
    messages[2] = { role: "user", content: "What is this?" };
    const text = JSON.stringify(await sent({ messages }));
    expect(text).toContain("Here:");
    if (id === "openai-compatible") expect(text).toContain("[image/png, not shown]");
    else expect(text).toContain(image.data);
  });

  test("[PROV13] tools, parameters and the model reach the server", async () => {
    const body = await sent(full(model));
    const text = JSON.stringify(body);
    expect(text).toContain("Reads a file.");
    expect(text).toContain('"files_read"');
    expect(text).toContain("its text");
    const limit = { openai: "max_output_tokens", google: "maxOutputTokens" } as Record<string, string>;
    expect(text).toContain(`"${limit[id] ?? "max_tokens"}":321`);
    expect(`${(await server().request(0)).path} ${body.model}`).toContain(model);
  });

  test("[PROV13] an effort to reason is told in the API's own way", async () => {
    const of = async (reasoning_effort: "low" | "high") =>
      JSON.stringify(await sent({ params: { reasoning_effort, max_tokens: 100 } }));
    const expected = {
      openai: '"reasoning":{"effort":"high"}',
      "openai-compatible": '"reasoning_effort":"high"',
      anthropic: '"budget_tokens":20000',
      google: '"thinkingLevel":"high"',
    };
    expect(await of("high")).toContain(expected[id]);
    server().forget();
    expect(await of("low")).not.toContain(expected[id]);
  });

  test("[PROV14] the prompt cache is asked for where it wants asking", async () => {
    const body = await sent(full(model));
    if (id === "openai") expect(body).toMatchObject({ prompt_cache_key: "thread-7", store: false });
    else if (id === "anthropic") {
      const messages = body.messages as { content: { cache_control?: unknown }[] }[];
      const marked = messages.map(({ content }) => content.filter((part) => part.cache_control).length);
      expect(marked).toEqual([...Array(messages.length - 1).fill(0), 1]);
      expect(messages.at(-1)?.content.at(-1)?.cache_control).toEqual({ type: "ephemeral" });
    } else expect(JSON.stringify(body)).not.toContain("thread-7");
  });

  test("[PROV15] arguments that are no object are shown to the model, in a form that servers take", async () => {
    const broken = (text: string): PromptMessage[] => [
      { role: "user", content: "Go" },
      { role: "assistant", content: "", tool_calls: [{ id: "call_1", name: "files_read", arguments: text }] },
      { role: "tool", tool_call_id: "call_1", content: "no" },
    ];
    for (const text of ["{path: oops", "[1]", '"x"']) {
      server().forget();
      const body = JSON.stringify(await sent({ messages: broken(text) }));
      const wrapped = JSON.stringify({ invalid_arguments: text });
      expect(body.includes(wrapped) || body.includes(JSON.stringify(wrapped)), body).toBe(true);
    }
    server().forget();
    expect(JSON.stringify(await sent({ messages: broken("") }))).not.toContain("invalid_arguments");
  });

  test("[PROV16] a thought goes back to the server it came from, and to no other", async () => {
    const thinking = { thinking: ["First ", "this."], signature: "c2lnbmF0dXJl" };
    const call = { id: "call_1", name: "files_read", arguments: "{}", signature: "c2lnbmVkIGNhbGw=" };
    const events = await ask([turn(thinking, { tool_call: call })], { request: { tools } });
    const messages = [...conversation(events), { role: "user" as const, content: "Go on" }];
    server().forget();
    const text = JSON.stringify(await sent({ messages, tools }));
    if (id === "openai-compatible") expect(text).not.toContain("First this.");
    else {
      expect(text).toContain("First this.");
      expect(text).toContain("c2lnbmF0dXJl");
    }
    if (id === "google") expect(text).toContain("c2lnbmVkIGNhbGw=");
    const others = (["anthropic", "google"] as const).filter((other) => other !== id);
    for (const other of others) {
      const elsewhere = createProvider({ provider: other, config: { apiKey: KEY } });
      expect((await elsewhere.prepare({ model: "m", messages, tools })).body).not.toContain("First this.");
    }
  });

  test("[PROV17] the key goes into its header and nowhere else; nothing is taken from the environment", async () => {
    for (const name of ["OPENAI", "ANTHROPIC", "GOOGLE_GENERATIVE_AI"]) {
      vi.stubEnv(`${name}_API_KEY`, "from-the-environment");
      vi.stubEnv(`${name}_BASE_URL`, "http://127.0.0.1:1");
    }
    await ask([turn({ text: "a" }), turn({ text: "b" })]);
    const keyless = await ask([turn({ text: "b" })], {
      config: { apiKey: undefined, headers: { "x-team": "seven" } },
    });
    vi.unstubAllEnvs();
    const [first, second] = await Promise.all([server().request(0), server().request(1)]);
    expect(first.headers[keyHeader]).toContain(KEY);
    expect(`${first.path} ${first.body}`).not.toContain(KEY);
    expect(second.headers[keyHeader]).toBeUndefined();
    expect(second.headers["x-team"]).toBe("seven");
    expect(second.headers["user-agent"]).toMatch(/^heddle\//);
    expect(keyless.at(-1)).toMatchObject({ type: "finish" });
  });
});

/** The messages that a run would keep of an answer. */
function conversation(events: readonly ProviderEvent[]): PromptMessage[] {
  const thoughts = ofType(events, "thinking");
  const providerData = thoughts.at(-1)?.providerData;
  const text = thoughts.map((thought) => thought.text).join("");
  const calls = ofType(events, "tool_call").map(({ type: _, ...call }) => call);
  return [
    { role: "user", content: "Hello" },
    {
      role: "assistant",
      content: [{ type: "thinking", text, ...(providerData ? { providerData } : {}) }],
      tool_calls: calls,
    },
    ...calls.map((call): PromptMessage => ({ role: "tool", tool_call_id: call.id, content: "done" })),
  ];
}

describe("what is peculiar to one API", () => {
  async function playing(id: string, config: object, turns: ServerTurn[], requests: GenerateRequest[]) {
    const server = await startModelServer(turns);
    const provider = createProvider({ provider: id, config: { baseURL: `${server.url}/v1`, ...config } });
    const events: ProviderEvent[] = [];
    for (const request of requests) events.push(...(await collect(provider, request)));
    await server.close();
    return { events, requests: server.requests };
  }

  test("[PROV16] hidden thinking of Anthropic's goes back as it came", async () => {
    const hidden = { type: "redacted_thinking", data: "aGlkZGVu" };
    const { events } = await playing(
      "anthropic",
      {},
      [
        turn(
          { event: { type: "content_block_start", index: 5, content_block: hidden } },
          { event: { type: "content_block_stop", index: 5 } },
          { text: "Done" },
        ),
      ],
      [hello("claude-sonnet-4-5")],
    );
    const messages = [...conversation(events), { role: "user" as const, content: "Go on" }];
    const provider = createProvider({ provider: "anthropic", config: { apiKey: KEY } });
    const { body } = await provider.prepare({ model: "claude-sonnet-4-5", messages });
    expect(JSON.parse(body).messages[1].content).toEqual([hidden]);
  });

  test("[PROV16] a compatible server gets thinking back when it is configured so", async () => {
    const config = { baseURL: "http://127.0.0.1:1", returnThinking: true };
    const provider = createProvider({ provider: "openai-compatible", config });
    const messages: PromptMessage[] = [{ role: "assistant", content: [{ type: "thinking", text: "Hm" }] }];
    expect(JSON.parse((await provider.prepare({ model: "m", messages })).body).messages).toEqual([
      { role: "assistant", content: "", reasoning_content: "Hm" },
    ]);
  });

  test("[PROV3] a compatible server that is done without a reason is done", async () => {
    const script = [turn({ text: "Hi" }, { event: "[DONE]" }, { end: true })];
    const { events } = await playing("openai-compatible", {}, script, [hello()]);
    expect(events.slice(1)).toMatchObject([{ type: "text" }, { type: "finish", reason: "other" }]);
  });

  test("[PROV19] one attempt is one request, whatever Google's answer would go on to", async () => {
    const candidate = {
      content: { parts: [{ text: "Hi" }] },
      finishReason: "CONTINUATION",
      continuationToken: "t",
    };
    const script = [turn({ event: { candidates: [candidate] } }, { end: true }), turn({ text: " again" })];
    const { events, requests } = await playing("google", {}, script, [hello("gemini-3-pro")]);
    expect(requests).toHaveLength(1);
    expect(events.slice(1)).toMatchObject([
      { type: "text", text: "Hi" },
      { type: "finish", reason: "length" },
    ]);
  });

  test("[PROV18] a request that the API can't express fails before anything is sent", async () => {
    const provider = createProvider({ provider: "google", config: { apiKey: KEY } });
    const loop = { type: "object", properties: { a: { $ref: "#/nowhere" } } };
    const request: GenerateRequest = {
      model: "gemini-2.0-flash",
      messages: [{ role: "user", content: "Hello" }],
      tools: [{ name: "t", description: "", parameters: loop }],
    };
    const events: ProviderEvent[] = [];
    for await (const event of provider.generate(request)) events.push(event);
    expect(events).toMatchObject([{ type: "failed", code: "provider.bad_request", retryable: false }]);
    const error = await provider.prepare(request).catch((thrown: unknown) => thrown);
    expect(isKind(error, "provider.inexpressible")).toBe(true);
  });
});
