import { existsSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { all, assistant, only, system, user } from "../support/programs/events.js";
import { groupRuns } from "../support/programs.js";
import { delta, fakeClaude, hello, result, SESSION, said, session, stream, text } from "./claude-support.js";

const usage = {
  model_usage_since_last_result: {
    big: {
      inputTokens: 7,
      outputTokens: 5,
      cacheReadInputTokens: 3,
      cacheCreationInputTokens: 2,
      thinkingTokens: 1,
    },
    small: { inputTokens: 10, outputTokens: 1 },
  },
};

test("[CLD1] a turn comes in fragments, with usage and the session's name", async () => {
  const thought = { type: "thinking", thinking: "Hm." };
  const { provider, request } = fakeClaude({
    turns: [
      [
        stream({ type: "message_start" }),
        stream({ type: "content_block_start", content_block: { type: "thinking", thinking: "" } }),
        delta({ type: "thinking_delta", thinking: "Hm." }),
        delta({ type: "signature_delta", signature: "s" }),
        said(thought),
        ...text("Hel", "lo."),
        result(usage),
      ],
    ],
  });
  const [handed, ...rest] = await all(provider().generate(request([system("Be kind."), user("Hi")])));
  expect(handed).toMatchObject({
    type: "request",
    delivery: { way: "system_prompt", session: "new", replayed: 0, adds: expect.any(Array) },
  });
  expect(rest).toEqual([
    { type: "session", id: SESSION },
    { type: "thinking", id: "thinking-1", text: "Hm." },
    { type: "text", text: "Hel" },
    { type: "text", text: "lo." },
    { type: "usage", input: 22, output: 6, cached_input: 3, reasoning: 1 },
    { type: "finish", reason: "stop" },
  ]);
});

test("[CLD1] what no stream brought, or brought in part, is told from the whole block", async () => {
  const { provider, request } = fakeClaude({
    turns: [
      [
        stream({ type: "message_start" }),
        stream({ type: "content_block_start", content_block: { type: "text", text: "" } }),
        delta({ type: "text_delta", text: "One " }),
        said({ type: "text", text: "One two." }),
        said({ type: "thinking", thinking: "So." }, { type: "text", text: "Three." }),
        result({ usage: { input_tokens: 4, output_tokens: 2, cache_read_input_tokens: 1 } }),
      ],
    ],
  });
  const events = await all(provider().generate(request([user("Hi")])));
  expect(events.slice(2)).toEqual([
    { type: "text", text: "One " },
    { type: "text", text: "two." },
    { type: "thinking", id: "thinking-1", text: "So." },
    { type: "text", text: "Three." },
    { type: "usage", input: 5, output: 2, cached_input: 1 },
    { type: "finish", reason: "stop" },
  ]);
});

test("[CLD2] [CLD5] the next turn goes to the same process, with the message alone", async () => {
  const { provider, request, log, got } = fakeClaude({ turns: [hello] });
  const asking = provider();
  await all(asking.generate(request([system("Be kind."), user("Q1")])));
  const messages = [system("Be kind."), user("Q1"), assistant("Hello."), user("Q2")];
  const events = await all(asking.generate(request(messages, { session: session(2) })));
  expect(only(events, "request")[0]).toMatchObject({
    body: JSON.stringify({
      type: "user",
      message: { role: "user", content: [{ type: "text", text: "Q2" }] },
    }),
    delivery: { way: "already_there", session: "kept", replayed: 0 },
  });
  expect(log().filter(({ pid }) => pid)).toHaveLength(1);
  expect(got("control_request")).toMatchObject([
    { request: { subtype: "initialize", appendSystemPrompt: "Be kind." } },
  ]);
  expect(got("user")).toHaveLength(2);
});

test("[CLD3] [CLD6] another process resumes the session, and so do other instructions", async () => {
  const { provider, request, log, got } = fakeClaude({ turns: [hello] });
  const first = provider();
  await all(first.generate(request([system("Old."), user("Q1")])));
  await first.release?.();
  const asking = provider();
  const later = [user("Q1"), assistant("Hello."), user("Q2")];
  const events = await all(asking.generate(request([system("Old."), ...later], { session: session(2) })));
  expect(only(events, "request")[0]?.delivery).toMatchObject({ way: "system_prompt", session: "resumed" });
  const last = [...later, assistant("Hello."), user("Q3")];
  const changed = await all(asking.generate(request([system("New."), ...last], { session: session(4) })));
  expect(only(changed, "request")[0]?.delivery).toMatchObject({ way: "system_prompt", session: "resumed" });
  expect(log().flatMap(({ args }) => (args ? [args.includes(`--resume=${SESSION}`)] : []))).toEqual([
    false,
    true,
    true,
  ]);
  expect(got("control_request").map(({ request: asked }) => asked)).toMatchObject([
    { appendSystemPrompt: "Old." },
    { appendSystemPrompt: "Old." },
    { appendSystemPrompt: "New." },
  ]);
  expect(got("user").map((line) => JSON.stringify(line).match(/Q\d/g))).toEqual([["Q1"], ["Q2"], ["Q3"]]);
});

test("[CLD4] a session that it does not know, or takes another for, is told anew with all that was said", async () => {
  const { provider, request, got, play } = fakeClaude({ turns: [hello] });
  const messages = [system("Be kind."), user("Q1"), assistant("A1"), user("Q2")];
  const lost = { id: "lost", told: 2, instructions: "" };
  const events = await all(provider().generate(request(messages, { session: lost })));
  expect(only(events, "request").map(({ delivery }) => delivery)).toMatchObject([
    { session: "new", replayed: 2, way: "system_prompt" },
  ]);
  expect(events.at(-1)).toEqual({ type: "finish", reason: "stop" });
  expect(JSON.stringify(got("user"))).toMatch(/Q1.*A1.*Q2/);
  play({ turns: [hello], session: "another" });
  const other = await all(provider().generate(request(messages, { session: session(2), key: "other" })));
  expect(only(other, "request").map(({ delivery }) => delivery?.session)).toEqual(["resumed", "new"]);
  expect(only(other, "session")).toEqual([{ type: "session", id: "another" }]);
  expect(other.at(-1)).toEqual({ type: "finish", reason: "stop" });
});

test("[CLD7] [CLD8] its prompt is replaced without its own tools, and files of the project are switched off", async () => {
  const { provider, request, log, got } = fakeClaude({ turns: [hello] });
  await all(provider().generate(request([system("Be kind."), user("Hi")], { ownTools: false })));
  expect(got("control_request")).toMatchObject([{ request: { systemPrompt: ["Be kind."] } }]);
  const [{ args = [], env = {} } = {}] = log();
  expect(env).toMatchObject({ CLAUDE_CODE_DISABLE_CLAUDE_MDS: "1", CLAUDE_CODE_DISABLE_AUTO_MEMORY: "1" });
  expect(args).toContain("--setting-sources=user");
  expect(args).toContain("--system-prompt-snapshot=off");
});

test("[CLD9] texts are no flags, no commands and never in an argument", async () => {
  const { provider, request, log, got } = fakeClaude({ turns: [hello] });
  const texts = ["--help", "/clear", "nul \0 here", "lone \ud800 half", `${"x".repeat(1 << 20)}y`];
  const asking = provider();
  for (const [at, one] of texts.entries()) {
    const events = await all(asking.generate(request([system(one), user(one)], { key: `${at}` })));
    expect(events.at(-1), one.slice(0, 10)).toEqual({ type: "finish", reason: "stop" });
  }
  const told = got("user").map(
    ({ message }) => (message as { content: { text: string }[] }).content[0]?.text,
  );
  expect(told).toEqual(["--help", "\n/clear", ...texts.slice(2)]);
  expect(
    got("control_request").map((line) => (line.request as Record<string, string>).appendSystemPrompt),
  ).toEqual(texts);
  const args = log().flatMap((entry) => entry.args ?? []);
  expect(args.filter((arg) => texts.some((one) => arg.includes(one)))).toEqual([]);
});

test("[CLD10] images go with the message", async () => {
  const { provider, request, got } = fakeClaude({ turns: [hello] });
  const image = { type: "image", data: "aGk=", mimeType: "image/png" } as const;
  const content = [{ type: "text" as const, text: "See" }, image];
  await all(provider().generate(request([{ role: "user", content }])));
  expect(got("user")).toMatchObject([
    {
      message: {
        content: [
          { type: "text", text: "See" },
          { type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } },
        ],
      },
    },
  ]);
});

test("[CLD32] model, effort and length are handed over, and another process is taken when they change", async () => {
  const { provider, request, log } = fakeClaude({ turns: [hello] });
  const asking = provider();
  await all(asking.generate(request([user("Q1")])));
  const messages = [user("Q1"), assistant("Hello."), user("Q2")];
  const params = { reasoning_effort: "high", max_tokens: 77 } as const;
  await all(asking.generate({ ...request(messages, { session: session(2) }), model: "opus", params }));
  const [first, second] = log().filter(({ pid }) => pid);
  expect(first?.args?.join(" ")).not.toMatch(/--model|--effort/);
  expect(second?.args).toEqual(
    expect.arrayContaining(["--model=opus", "--effort=high", `--resume=${SESSION}`]),
  );
  expect(second?.env?.CLAUDE_CODE_MAX_OUTPUT_TOKENS).toBe("77");
});

test("[CLD33] what is handed over is what it is sent, and holds no secret", async () => {
  const { provider, request, log, got } = fakeClaude({ turns: [hello] });
  const asking = provider();
  const bridge = { url: "http://127.0.0.1:9/mcp", token: "secret-token", command: "x", args: [], env: {} };
  const asked = request([system("Be kind."), user("Hi")], { bridge });
  const prepared = await asking.prepare(asked);
  const [handed] = await all(asking.generate(asked));
  expect(handed).toMatchObject({ type: "request", ...prepared });
  const [args, ...lines] = prepared.body.split("\n").map((line) => JSON.parse(line));
  expect(log()[0]?.args).toEqual(args.slice(1));
  expect([got("control_request")[0], got("user")[0]]).toEqual(lines);
  expect(prepared.body).not.toMatch(/secret-token|no-real-key/);
});

test("[CLD30] one that works without being asked is not kept", async () => {
  const fake = fakeClaude({ turns: [hello] });
  const gate = join(fake.directory, "gate");
  fake.play({ turns: [[...hello, { wait: gate }, ...hello]] });
  const asking = fake.provider();
  await all(asking.generate(fake.request([user("Q1")])));
  const pid = fake.log()[0]?.pid ?? 0;
  writeFileSync(gate, "");
  await expect.poll(() => groupRuns(pid)).toBe(false);
  const messages = [user("Q1"), assistant("Hello."), user("Q2")];
  const events = await all(asking.generate(fake.request(messages, { session: session(2) })));
  expect(only(events, "request")[0]?.delivery?.session).toBe("resumed");
  expect(only(events, "text").map(({ text: words }) => words)).toEqual(["Hel", "lo."]);
});

test("[CLD30] what it says right behind its result is no part of the answer, nor is it kept then", async () => {
  const fake = fakeClaude({ turns: [[...hello, ...hello]] });
  const asking = fake.provider();
  const events = await all(asking.generate(fake.request([user("Q1")])));
  expect(only(events, "text").map(({ text: words }) => words)).toEqual(["Hel", "lo."]);
  await expect.poll(() => groupRuns(fake.log()[0]?.pid ?? 0)).toBe(false);
});

test("[CLD31] its temporary files are gone with it, and those of a gateway that was killed a day later", async () => {
  const orphan = join(tmpdir(), "heddle-claude-999999999-x");
  mkdirSync(orphan, { recursive: true });
  const longAgo = Date.now() / 1_000 - 90_000;
  utimesSync(orphan, longAgo, longAgo);
  const { provider, request, log } = fakeClaude({ turns: [hello] });
  const asking = provider();
  await all(asking.generate(request([user("Hi")])));
  const scratch = log()[0]?.env?.CLAUDE_CODE_TMPDIR ?? "";
  expect(scratch.startsWith(join(tmpdir(), "heddle-claude-"))).toBe(true);
  expect(existsSync(scratch)).toBe(true);
  await asking.release?.();
  expect([existsSync(scratch), existsSync(orphan)]).toEqual([false, false]);
});
