import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { all, assistant, only, user } from "../support/programs/events.js";
import { groupRuns, isThere } from "../support/programs.js";
import { type Deed, type FakeClaude, fakeClaude, hello, result, session, text } from "./claude-support.js";

const failure = (error: string, words: string): Deed => ({
  line: {
    type: "assistant",
    message: { model: "<synthetic>", content: [{ type: "text", text: words }] },
    parent_tool_use_id: null,
    is_api_error_message: true,
    error,
  },
});

/** A turn that has come to where the fake has started what it was to start. */
async function underWay(fake: FakeClaude) {
  const stop = new AbortController();
  const events = all(fake.provider().generate(fake.request([user("Go")]), { signal: stop.signal }));
  await expect.poll(() => fake.log().filter(({ child }) => child).length).toBe(2);
  const pid = fake.log()[0]?.pid ?? 0;
  const children = fake.log().flatMap(({ child }) => child ?? []);
  return { stop, events, pid, children };
}

function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

test("[CLD21] a cancelled turn leaves nothing, though it ignores signals and has children in and out of its group", async () => {
  const deeds: Deed[] = [{ child: false }, { child: true }, { hang: true }];
  const { stop, events, pid, children } = await underWay(fakeClaude({ turns: [deeds], stubborn: true }));
  const at = performance.now();
  stop.abort();
  expect((await events).at(-1)).toEqual({ type: "aborted" });
  expect(performance.now() - at).toBeLessThan(1_500);
  expect(groupRuns(pid)).toBe(false);
  if (process.platform === "linux") await expect.poll(() => children.filter(isRunning)).toEqual([]);
});

test("[CLD22] one that dies in mid-turn is told with its last words, what it started goes too, and the thread goes on", async () => {
  const fake = fakeClaude({
    turns: [
      [
        ...text("Hel").slice(0, 3),
        { stderr: "boom: no-real-key\n" },
        { child: true },
        { child: true },
        { raw: '{"type":"assis' },
        { exit: 3 },
      ],
    ],
  });
  const { events, children } = await underWay(fake);
  const told = await events;
  expect(only(told, "text")).toEqual([{ type: "text", text: "Hel" }]);
  expect(told.at(-1)).toMatchObject({ type: "failed", code: "program.exited" });
  expect(JSON.stringify(told.at(-1))).toMatch(/exit code 3.*boom: \[redacted\]/);
  if (process.platform === "linux") await expect.poll(() => children.filter(isRunning)).toEqual([]);
  fake.play({ turns: [hello] });
  const again = await all(fake.provider().generate(fake.request([user("Go"), user("On")])));
  expect(again.at(-1)).toEqual({ type: "finish", reason: "stop" });
});

test("[CLD22] one that ends at once, or asks for a permission and dies, is told with its last words", async () => {
  const fake = fakeClaude({
    start: [{ stderr: "error: unknown option '--tools'\n" }, { exit: 1 }],
    turns: [],
  });
  const events = await all(fake.provider().generate(fake.request([user("Go")])));
  expect(events).toMatchObject([{ type: "failed", code: "program.exited" }]);
  expect(JSON.stringify(events)).toMatch(/exit code 1.*unknown option '--tools'/);
  const gone = join(fake.directory, "gone");
  fake.play({
    turns: [[{ ask: { tool_name: "Bash", tool_use_id: "t1", input: {} } }, { exit: 4 }]],
  });
  fake.answer = "allow";
  const died = await all(fake.provider().generate(fake.request([user("Go")], { key: gone })));
  expect(died.at(-1)).toMatchObject({ type: "failed", code: "program.exited" });
  expect(JSON.stringify(died.at(-1))).toContain("exit code 4");
});

test("[CLD22] one that dies between turns is followed by another", async () => {
  const fake = fakeClaude({ turns: [hello] });
  const asking = fake.provider();
  await all(asking.generate(fake.request([user("Q1")])));
  const pid = fake.log()[0]?.pid ?? 0;
  process.kill(pid, "SIGKILL");
  await expect.poll(() => isThere(pid)).toBe(false);
  const messages = [user("Q1"), assistant("Hello."), user("Q2")];
  const events = await all(asking.generate(fake.request(messages, { session: session(2) })));
  expect(only(events, "request").at(-1)?.delivery?.session).toBe("resumed");
  expect(events.at(-1)).toEqual({ type: "finish", reason: "stop" });
});

test("[CLD31] [CLD21] when the gateway is killed nothing of the program is left, neither process nor file", async () => {
  const fake = fakeClaude({ turns: [[{ child: false }, { child: true }, { hang: true }]], stubborn: true });
  const script = `
    import { createProvider } from ${JSON.stringify(resolve("src/providers/index.ts"))};
    const provider = createProvider(${JSON.stringify(fake.choice())});
    const work = { key: "k", directory: ${JSON.stringify(fake.directory)}, ownTools: true, ask: async () => "deny" };
    for await (const _ of provider.generate({ model: "default", messages: [{ role: "user", content: "Go" }], work }));
  `;
  const gateway = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", script], {
    stdio: "ignore",
  });
  await expect.poll(() => fake.log().filter(({ child }) => child).length).toBe(2);
  const [{ pid = 0, env = {} } = {}] = fake.log();
  const children = fake.log().flatMap(({ child }) => child ?? []);
  gateway.kill("SIGKILL");
  await expect.poll(() => groupRuns(pid)).toBe(false);
  if (process.platform === "linux") await expect.poll(() => children.filter(isRunning)).toEqual([]);
  await expect.poll(() => existsSync(env.CLAUDE_CODE_TMPDIR ?? "")).toBe(false);
});

test("[CLD23] a program that is not there, and a directory that is not there, are told apart", async () => {
  const fake = fakeClaude({ turns: [hello] });
  const missing = await all(
    fake.provider({ command: "no-such-claude", args: [] }).generate(fake.request([user("Go")])),
  );
  expect(missing).toMatchObject([{ type: "failed", code: "program.missing", retryable: false }]);
  expect(JSON.stringify(missing)).toContain("no-such-claude");
  const lost = fake.request([user("Go")], { directory: join(fake.directory, "nowhere") });
  expect(await all(fake.provider().generate(lost))).toMatchObject([
    { type: "failed", code: "program.no_start" },
  ]);
});

test("[CLD24] one that never gets ready, or falls silent, is given up", async () => {
  const fake = fakeClaude({ start: [{ hang: true }], turns: [] });
  const impatient = { timeouts: { startMs: 300, silenceMs: 300 } };
  const events = await all(fake.provider(impatient).generate(fake.request([user("Go")])));
  expect(events).toMatchObject([{ type: "failed", code: "program.silent" }]);
  fake.play({ turns: [[{ hang: true }]] });
  const patient = { timeouts: { silenceMs: 1_000 } };
  const silent = await all(fake.provider(patient).generate(fake.request([user("Go")], { key: "other" })));
  expect(silent.at(-1)).toMatchObject({ type: "failed", code: "program.silent" });
  for (const { pid } of fake.log()) if (pid) expect(groupRuns(pid)).toBe(false);
});

test("[CLD25] a line that is none of its own is a diagnostic; nothing else is said for long only by another program", async () => {
  const noise: Deed[] = [{ raw: "Warning: old Node, no-real-key\n[1,2]\n\n" }];
  const odd: Deed[] = [{ line: { type: "news", words: "x" } }, { line: { type: "assistant", message: 7 } }];
  const fake = fakeClaude({ start: noise, turns: [[...noise, ...odd, ...hello]] });
  const events = await all(fake.provider().generate(fake.request([user("Go")])));
  expect(only(events, "diagnostic").map(({ text: words }) => words)).toEqual([
    "Warning: old Node, [redacted]",
    "[1,2]",
    "Warning: old Node, [redacted]",
    "[1,2]",
    expect.stringContaining('"message":7'),
  ]);
  expect(events.at(-1)).toEqual({ type: "finish", reason: "stop" });
  fake.play({ turns: [[{ flood: 5_000 }, ...hello]] });
  const flooded = await all(fake.provider().generate(fake.request([user("Go")], { key: "other" })));
  expect(flooded.at(-1)).toMatchObject({ type: "failed", code: "program.unintelligible" });
  expect(only(flooded, "diagnostic").length).toBeLessThanOrEqual(200);
});

test("[CLD26] who is not signed in is told what to run", async () => {
  const words = "Not logged in · Please run /login";
  const fake = fakeClaude({
    turns: [[failure("authentication_failed", words), result({ is_error: true, result: words })]],
  });
  const events = await all(fake.provider().generate(fake.request([user("Go")])));
  expect(events.at(-1)).toMatchObject({ type: "failed", code: "program.signed_out", retryable: false });
  expect(JSON.stringify(events.at(-1))).toContain("Run `claude` in a terminal");
  expect(only(events, "text")).toEqual([]);
});

test("[CLD27] a failure of the model's server is told in the program's words, without a key", async () => {
  const retry = { type: "system", subtype: "api_retry", attempt: 1, error_status: 529, error: "overloaded" };
  const fake = fakeClaude({
    turns: [
      [
        { line: retry },
        failure("unknown", "API Error: 400 bad no-real-key"),
        result({ is_error: true, usage: { input_tokens: 3, output_tokens: 1 } }),
      ],
    ],
  });
  const events = await all(fake.provider().generate(fake.request([user("Go")])));
  expect(events.slice(2)).toEqual([
    { type: "diagnostic", text: "The model's server failed (529 overloaded); trying again." },
    { type: "usage", input: 3, output: 1, cached_input: 0 },
    expect.objectContaining({ type: "failed", code: "program.failed" }),
  ]);
  expect(JSON.stringify(events.at(-1))).toContain("API Error: 400 bad [redacted]");
});

test("[CLD28] an answer that was cut, or refused, ends with the reason", async () => {
  const fake = fakeClaude({
    turns: [[...text("half"), failure("max_output_tokens", "too long"), result({ is_error: true })]],
  });
  const cut = await all(fake.provider().generate(fake.request([user("Go")])));
  expect(cut.slice(-2)).toEqual([
    { type: "diagnostic", text: "too long" },
    { type: "finish", reason: "length" },
  ]);
  const ends: [Deed, string][] = [
    [{ is_error: true, stop_reason: "refusal" }, "content_filter"],
    [{ stop_reason: "max_tokens" }, "length"],
    [{ stop_reason: null }, "stop"],
    [{ stop_reason: "something_new" }, "other"],
  ];
  for (const [more, reason] of ends) {
    fake.play({ turns: [[...text("no"), result(more)]] });
    const events = await all(fake.provider().generate(fake.request([user("Go")], { key: reason })));
    expect(events.at(-1)).toEqual({ type: "finish", reason });
  }
});
