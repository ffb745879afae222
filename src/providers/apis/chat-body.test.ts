import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createProvider, type GenerateRequest, type PromptMessage } from "../index.js";
import type { ModelFetch } from "../model-api.js";
import { type Dialect, modelCall } from "../model-prompt.js";

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.constantFrom("", '"', "\\", "\u2028", "\ud800", "Hello"),
);
const data = fc.option(fc.constant({ openaiCompatible: { cache: true } }), { nil: undefined });
const words = fc.record({ type: fc.constant("text" as const), text });
const image = fc.record({
  type: fc.constant("image" as const),
  data: fc.constantFrom("AAAA", "bm90IHJlYWxseQ=="),
  mimeType: fc.constantFrom("image/png", "image/svg+xml"),
});
const thought = fc.record({ type: fc.constant("thinking" as const), text, providerData: data });
const call = fc.record({
  id: fc.string({ minLength: 1, maxLength: 6 }),
  name: fc.constantFrom("files_read", "__proto__"),
  arguments: fc.oneof(text, fc.json({ maxDepth: 2 })),
  providerData: data,
});
const of = <P>(...parts: fc.Arbitrary<P>[]) => fc.oneof(text, fc.array(fc.oneof(...parts), { maxLength: 3 }));
const message = fc.oneof(
  fc.record({ role: fc.constantFrom("system" as const, "developer" as const), content: of(words) }),
  fc.record({ role: fc.constant("user" as const), content: of<object>(words, image) }),
  fc.record({
    role: fc.constant("assistant" as const),
    content: of<object>(words, thought),
    tool_calls: fc.option(fc.array(call, { minLength: 1, maxLength: 2 }), { nil: undefined }),
  }),
  fc.record({ role: fc.constant("tool" as const), tool_call_id: text, content: of<object>(words, image) }),
) as fc.Arbitrary<PromptMessage>;
const request = fc.record({
  model: text,
  messages: fc.array(message, { maxLength: 6 }),
  tools: fc.option(fc.array(fc.record({ name: text, description: text, parameters: fc.object() }))),
  params: fc.record(
    {
      max_tokens: fc.nat(),
      temperature: fc.double({ min: 0, max: 2, noNaN: true }),
      reasoning_effort: fc.constantFrom("low" as const, "high" as const),
    },
    { requiredKeys: [] },
  ),
});
const options = fc.record({
  baseURL: fc.constantFrom("http://127.0.0.1:9/v1", "https://models.example/api/", "http://127.0.0.1:9"),
  includeUsage: fc.boolean(),
  returnThinking: fc.boolean(),
});
type Options = typeof options extends fc.Arbitrary<infer T> ? T : never;

test("[PROV35] a compatible server is sent what the API's own code would send, byte for byte", async () => {
  await fc.assert(
    fc.asyncProperty(request, options, async ({ tools, ...rest }, config) => {
      const given = { ...rest, ...(tools && { tools }) };
      const provider = createProvider({ provider: "openai-compatible", config });
      const expected = await byTheApisCode(given, config);
      expect(await provider.prepare(given)).toEqual(expected);
      // Once more, from what is kept of its messages.
      expect(await provider.prepare(given)).toEqual(expected);
    }),
    { numRuns: 500 },
  );
});

test("[PROV35] the same from whatever was written before: conversations that grow, fork, repeat themselves and lose their beginning", async () => {
  const conversations = fc
    .array(message, { minLength: 1, maxLength: 5 })
    .chain((all) =>
      fc.tuple(
        fc.constant(all),
        fc.array(fc.array(fc.constantFrom(...all), { maxLength: 5 }), { minLength: 2, maxLength: 8 }),
      ),
    );
  await fc.assert(
    fc.asyncProperty(conversations, async ([all, parts]) => {
      const config: Options = { baseURL: "http://127.0.0.1:9/v1", includeUsage: true, returnThinking: false };
      const provider = createProvider({ provider: "openai-compatible", config });
      const growing = all.map((_, at) => all.slice(0, at + 1));
      for (const messages of [...growing, ...parts, all]) {
        const given = { model: "m", messages };
        expect(await provider.prepare(given)).toEqual(await byTheApisCode(structuredClone(given), config));
      }
    }),
    { numRuns: 100 },
  );
});

async function byTheApisCode(given: GenerateRequest, { baseURL, includeUsage, returnThinking }: Options) {
  const dialect: Dialect = {
    api: "openaiCompatible",
    oneSystem: true,
    textResults: true,
    returnsThinking: () => returnThinking,
  };
  const effort = given.params?.reasoning_effort;
  const sent: { url: string; body: string }[] = [];
  const fetch: ModelFetch = async (url, init) => {
    sent.push({ url: String(url), body: String(init?.body) });
    throw new Error("not sent");
  };
  const model = createOpenAICompatible({ name: "openaiCompatible", baseURL, includeUsage, fetch });
  const call = {
    ...modelCall(given, dialect),
    ...(effort && { providerOptions: { openaiCompatible: { reasoningEffort: effort } } }),
  };
  await Promise.resolve(model.chatModel(given.model).doStream(call)).catch(() => undefined);
  return sent[0];
}
