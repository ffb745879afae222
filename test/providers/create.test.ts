import { spawn, spawnSync } from "node:child_process";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { rolldown } from "rolldown";
import { describe, expect, test } from "vitest";
import { HeddleError } from "../../src/base/index.js";
import {
  createProvider,
  type PromptMessage,
  promptMessageSchema,
  promptMessagesSchema,
  providerIds,
} from "../../src/providers/index.js";
import { temporaryDirectory } from "../support/stores.js";
import { hello, KEY, textIn } from "./support.js";

function refusal(provider: string, config?: unknown): { kind: string; message: string; data: object } {
  try {
    createProvider({ provider, config });
  } catch (error) {
    if (error instanceof HeddleError) return error;
    throw error;
  }
  throw new Error("it was accepted");
}

describe("making a provider", () => {
  test("[PROV60] an unknown one is refused with those that are known", () => {
    for (const name of ["opnai", "", "__proto__", "toString"]) {
      expect(refusal(name)).toMatchObject({
        kind: "provider.unknown",
        data: { provider: name, known: providerIds },
      });
    }
  });

  test("[PROV61] a wrong configuration is refused with its key, and without its values", () => {
    const address = "http://127.0.0.1:1";
    const wrong = [
      [{ baseURL: "ftp://host" }, "baseURL"],
      [{ baseURL: `http://user:${KEY}@host/v1` }, "baseURL"],
      [{ baseURL: `http://host/v1?key=${KEY}` }, "baseURL"],
      [{ baseURL: 7 }, "baseURL"],
      [{}, "baseURL"],
      [{ baseURL: address, apiKey: `${KEY}\n` }, "apiKey"],
      [{ baseURL: address, headers: { "a b": KEY } }, "headers.a b"],
      [{ baseURL: address, headers: { a: `${KEY}\r\nx: y` } }, "headers.a"],
      [{ baseURL: address, timeouts: { silenceMs: 0 } }, "timeouts.silenceMs"],
      [{ baseURL: address, retry: { retries: -1 } }, "retry.retries"],
    ] as const;
    for (const [config, key] of wrong) {
      const error = refusal("openai-compatible", config);
      expect(error).toMatchObject({ kind: "provider.invalid_config", data: { key } });
      expect(JSON.stringify([error.message, error.data])).not.toContain(KEY);
    }
    expect(refusal("scripted", { turns: [{ steps: [{ nonsense: 1 }] }] }).kind).toBe(
      "provider.invalid_config",
    );
    expect(refusal("demo", { delayMs: -1 }).kind).toBe("provider.invalid_config");
  });

  test("[PROV61] unknown keys are no error", async () => {
    const config = { baseURL: "http://127.0.0.1:1/v1", someday: true };
    const provider = createProvider({ provider: "openai-compatible", config });
    expect((await provider.prepare(hello())).url).toBe("http://127.0.0.1:1/v1/chat/completions");
  });

  test("[PROV62] an API's own address needs a key, another one may not", () => {
    for (const provider of ["openai", "anthropic", "google"]) {
      expect(refusal(provider)).toMatchObject({ kind: "provider.missing_key", data: { provider } });
      expect(createProvider({ provider, config: { apiKey: KEY } }).id).toBe(provider);
      expect(createProvider({ provider, config: { baseURL: "http://127.0.0.1:1" } }).id).toBe(provider);
    }
  });

  test("[PROV63] the code of an API is loaded when it is used, not before", async () => {
    const root = temporaryDirectory();
    const out = join(root, "dist", "bin");
    copyFileSync("package.json", join(root, "package.json"));
    const bundle = await rolldown({
      input: resolve("src/providers/index.ts"),
      platform: "node",
      external: ["libsql"],
      logLevel: "silent",
    });
    const names = { entryFileNames: "index.mjs", chunkFileNames: "[name]-[hash].mjs" };
    const { output } = await bundle.write({ dir: out, format: "esm", ...names });
    await bundle.close();
    const [entry] = output;
    const reached = new Set([entry.fileName]);
    for (const name of reached)
      for (const chunk of output)
        if (chunk.type === "chunk" && chunk.fileName === name)
          for (const next of chunk.imports) reached.add(next);
    const loaded = output.filter((chunk) => reached.has(chunk.fileName));
    const modules = loaded.flatMap((chunk) => (chunk.type === "chunk" ? chunk.moduleIds : []));
    expect(modules.some((id) => id.includes("/providers/create.ts"))).toBe(true);
    expect(modules.filter((id) => /node_modules\/(@ai-sdk|undici)/.test(id))).toEqual([]);
    // Bundled, they work all the same.
    const body = `import { createProvider } from ${JSON.stringify(join(out, "index.mjs"))};
      for (const provider of ["openai", "openai-compatible", "anthropic", "google"]) {
        const made = createProvider({ provider, config: { baseURL: "http://127.0.0.1:1", apiKey: "k", retry: { retries: 0 } } });
        for await (const event of made.generate({ model: "m", messages: [{ role: "user", content: "Hi" }] }))
          if (event.type === "failed") console.log(provider, event.code);
      }`;
    const file = join(out, "try.mjs");
    writeFileSync(file, body);
    const { stdout, stderr } = spawnSync(process.execPath, [file], { encoding: "utf8" });
    expect(stdout.trim().split("\n"), stderr).toEqual(
      ["openai", "openai-compatible", "anthropic", "google"].map((name) => `${name} provider.unreachable`),
    );
  });
});

describe("messages", () => {
  const good: PromptMessage[] = [
    { role: "system", content: "s", mine: { kept: [1] } },
    { role: "developer", content: [] },
    {
      role: "user",
      content: [
        { type: "text", text: "t", also: "kept" },
        { type: "image", data: "AAAA", mimeType: "image/png" },
      ],
    },
    {
      role: "assistant",
      content: [{ type: "thinking", text: "", providerData: { anthropic: { signature: "s" } } }],
    },
    { role: "assistant", content: "", tool_calls: [{ id: "1", name: "t", arguments: "no json" }] },
    { role: "tool", content: "r", tool_call_id: "1", name: "t" },
  ];

  test("[PROV64] a message is checked, and its unknown keys are kept", () => {
    for (const message of good) expect(promptMessageSchema.parse(structuredClone(message))).toEqual(message);
    expect(promptMessagesSchema.parse(good)).toEqual(good);
  });

  test("[PROV64] what is no message is refused", () => {
    const bad = [
      {},
      null,
      "text",
      { role: "user" },
      { role: "robot", content: "x" },
      { role: "user", content: null },
      { role: "user", content: 7 },
      { role: "user", content: [{ type: "video", url: "x" }] },
      { role: "user", content: [{ type: "text" }] },
      { role: "user", content: [{ type: "image", data: "no base64!", mimeType: "image/png" }] },
      { role: "user", content: [{ type: "image", data: "AAAA", mimeType: "text/html" }] },
      { role: "user", content: [{ type: "thinking", text: "x" }] },
      { role: "system", content: [{ type: "image", data: "AAAA", mimeType: "image/png" }] },
      { role: "tool", content: "x" },
      { role: "user", content: "x", tool_call_id: "1" },
      { role: "user", content: "x", tool_calls: [] },
      { role: "assistant", content: "x", tool_calls: [{ id: "1", name: "t", arguments: {} }] },
      { role: "assistant", content: "x", tool_calls: [{ id: "", name: "t", arguments: "" }] },
      { role: "assistant", content: [{ type: "thinking", text: "x", providerData: "y" }] },
    ];
    for (const message of bad)
      expect(promptMessageSchema.safeParse(message).success, JSON.stringify(message)).toBe(false);
    expect(promptMessagesSchema.safeParse([]).success).toBe(false);
  });
});

describe("the tests' model server", () => {
  test("[PROV65] it runs as a program, and ends with its input", async () => {
    const file = join(temporaryDirectory(), "script.json");
    writeFileSync(file, JSON.stringify([{ steps: [{ text: "Hi" }] }]));
    const main = resolve("test/support/model-server/main.ts");
    const child = spawn(process.execPath, ["--import", "tsx", main, file], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const ended = new Promise((done) => child.on("close", done));
    const line = await new Promise<Buffer>((done) => child.stdout.once("data", done));
    const { url } = JSON.parse(String(line));
    const provider = createProvider({ provider: "anthropic", config: { baseURL: url } });
    const events = [];
    for await (const event of provider.generate(hello())) events.push(event);
    const recorded = await (await fetch(`${url}/requests`)).json();
    child.stdin.end();
    expect(await ended).toBe(0);
    expect(textIn(events)).toBe("Hi");
    expect(recorded).toMatchObject([{ protocol: "messages", body: (events[0] as { body: string }).body }]);
    expect(readFileSync(main, "utf8")).toContain("SCRIPT.json");
  });
});
