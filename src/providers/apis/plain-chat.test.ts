import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createProvider, type ProviderEvent } from "../index.js";
import { ModelAnswer } from "../model-answer.js";
import type { ModelFetch } from "../model-api.js";

let server: Server;
let answer = "";
let baseURL: string;
beforeAll(async () => {
  server = createServer((request, response) => {
    request
      .resume()
      .on("end", () => response.writeHead(200, { "content-type": "text/event-stream" }).end(answer));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
});
afterAll(() => server.close());

const delta = (content: object, finish_reason: string | null = null) => ({
  id: "chatcmpl-1",
  created: 1,
  model: "m",
  choices: [{ index: 0, delta: content, finish_reason }],
});
const figures = {
  choices: [],
  usage: { prompt_tokens: 7, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 3 } },
};
const call = { index: 0, id: "call_1", function: { name: "files_read", arguments: '{"path":"a"}' } };

const answers: Record<string, readonly object[]> = {
  words: [delta({ role: "assistant", content: "" }), delta({ content: "Hi" }), delta({}, "stop"), figures],
  "no figures": [delta({ content: "Hi" }), delta({}, "length")],
  "figures of nothing": [delta({ content: "Hi" }), delta({}, "stop"), { choices: [], usage: {} }],
  "an unknown reason": [delta({ content: "Hi" }), delta({ content: null }, "toString"), figures],
  "the end with the last words": [delta({ content: "One" }), delta({ content: " two" }, "stop"), figures],
  "figures with each word": [
    { ...delta({ content: "One" }), usage: figures.usage },
    { ...delta({ content: " two" }, "stop"), usage: figures.usage },
  ],
  "words, then a call": [
    delta({ content: "Hi" }),
    delta({ tool_calls: [call] }),
    delta({}, "tool_calls"),
    figures,
  ],
  "a call behind the end": [
    delta({ content: "Hi" }),
    delta({}, "stop"),
    figures,
    delta({ tool_calls: [call] }),
  ],
  "thoughts, then words": [delta({ reasoning_content: "Hm" }), delta({ content: "Hi" }), delta({}, "stop")],
  "words, then thoughts": [delta({ content: "Hi" }), delta({ reasoning: "Hm" }), delta({}, "stop"), figures],
  "words in parts": [delta({ content: [{ type: "text", text: "Hi" }] }), delta({}, "stop")],
  "no delta": [delta({ content: "Hi" }), { choices: [{ finish_reason: "stop" }] }],
};

test.each(Object.keys(answers))(
  "[PROV34] read with or without the API's own code, an answer is the same: %s",
  async (name) => {
    const events = answers[name] as readonly object[];
    answer = `${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")}data: [DONE]\n\n`;
    const provider = createProvider({ provider: "openai-compatible", config: { baseURL } });
    const seen: ProviderEvent[] = [];
    const messages = [{ role: "user" as const, content: "Hello" }];
    for await (const event of provider.generate({ model: "m", messages })) seen.push(event);
    expect(seen.slice(1)).toEqual(await byTheApisCode());
  },
);

test("[PROV37] words that come in one piece of the stream are told as one", async () => {
  const words = ["One", " two", " three"].map((content) => delta({ content }));
  answer = [...words, delta({}, "stop")].map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  const provider = createProvider({ provider: "openai-compatible", config: { baseURL } });
  const seen: ProviderEvent[] = [];
  const messages = [{ role: "user" as const, content: "Hello" }];
  for await (const event of provider.generate({ model: "m", messages })) seen.push(event);
  expect(seen.filter(({ type }) => type === "text")).toEqual([{ type: "text", text: "One two three" }]);
});

async function byTheApisCode(): Promise<ProviderEvent[]> {
  const headers = { "content-type": "text/event-stream" };
  const fetch: ModelFetch = async () => new Response(answer, { headers });
  const model = createOpenAICompatible({ name: "openaiCompatible", baseURL, includeUsage: true, fetch });
  const { stream } = await model.chatModel("m").doStream({ prompt: [] });
  const read = new ModelAnswer();
  const seen: ProviderEvent[] = [];
  for await (const part of stream) {
    const event = read.read(part);
    if (event) seen.push(event);
  }
  return [...seen, ...(read.finish ? [read.finish] : [])];
}
