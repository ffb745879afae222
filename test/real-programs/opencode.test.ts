import { existsSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { groupRuns } from "../support/programs.js";
import { childrenOf } from "./acp-processes.js";
import { countOf, type RealAgent, realStage, textIn } from "./acp-support.js";

const opencode: RealAgent = {
  name: "opencode",
  args: ["acp"],
  model: "fake/m2",
  env: ({ url }) => configOf(url, "@ai-sdk/openai-compatible"),
  read(body) {
    const { messages, tools = [] } = JSON.parse(body) as {
      messages: { role: string }[];
      tools?: { function: { name: string } }[];
    };
    const last = messages.at(-1);
    return {
      last: JSON.stringify(last),
      isResult: last?.role === "tool",
      tools: tools.map((tool) => tool.function.name),
    };
  },
};

function configOf(url: string, npm: string): Record<string, string> {
  const options = { baseURL: `${url}/v1`, apiKey: "fake" };
  const models = { m1: { name: "M1" }, m2: { name: "M2" } };
  const provider = { fake: { npm, name: "Fake", options, models } };
  const content = { model: "fake/m1", small_model: "fake/m1", provider };
  return { OPENCODE_CONFIG_CONTENT: JSON.stringify(content) };
}

/** What a user may have said in the program's own configuration. */
async function configure(home: string, content: object): Promise<void> {
  await mkdir(join(home, ".config/opencode"), { recursive: true });
  await writeFile(join(home, ".config/opencode/opencode.json"), JSON.stringify(content));
}

const write = (id: string) => ({
  tool_call: { id, name: "write", arguments: JSON.stringify({ filePath: "new.txt", content: "one\n" }) },
});
const finish = { type: "finish", reason: "stop" };

test("[ACPA1] [ACPA10] [ACPA11] [ACPA14] [ACPA5] turns in one process and another have the instructions once, the newest after a change", async () => {
  const at = await realStage(opencode);
  await at.write("AGENTS.md", "FILE-OF-THE-PROJECT");
  await at.write("CLAUDE.md", "FILE-OF-THE-PROJECT");
  at.play((last) => [{ text: last.includes("third") ? "Three." : ["Hel", "lo."] }]);
  const first = await at.turn("the first", { instructions: "RULES-A" });
  expect(textIn(first)).toBe("Hello.");
  expect(first.at(-1)).toEqual(finish);
  await at.turn("the second", { instructions: "RULES-A" });
  await at.restart();
  const third = await at.turn("the third", { instructions: "RULES-A" });
  expect(textIn(third)).toBe("Three.");
  expect(third[0]).toMatchObject({ delivery: { way: "already_there", session: "resumed", replayed: 0 } });
  await at.turn("the fourth", { instructions: "RULES-B" });
  await at.turn("the fifth", { instructions: "RULES-B" });
  const bodies = at.bodies();
  expect(bodies.map((body) => [countOf(body, "RULES-A"), countOf(body, "RULES-B")])).toEqual([
    [1, 0],
    [1, 0],
    [1, 0],
    [1, 1],
    [1, 1],
  ]);
  expect(bodies.map((body) => countOf(body, "the third"))).toEqual([0, 0, 1, 1, 1]);
  expect(bodies.join("")).not.toContain("FILE-OF-THE-PROJECT");
  expect(bodies.map((body) => JSON.parse(body).model)).toEqual(["m2", "m2", "m2", "m2", "m2"]);
});

test("[ACPA2] [ACPA22] [ACPA26] a tool of its own is asked for, done when allowed, with its diff, and not when denied", async () => {
  const at = await realStage(opencode);
  at.play((last) => [{ thinking: "Hm." }, write(last.includes("No") ? "call_no" : "call_yes")]);
  const denied = await at.turn("No", { answer: "deny" });
  expect(existsSync(join(at.directory, "new.txt"))).toBe(false);
  expect(denied.filter(({ type }) => type === "tool_result")).toMatchObject([
    { id: "call_no", failed: true },
  ]);
  const allowed = await at.turn("Yes");
  const path = join(at.directory, "new.txt");
  expect(readFileSync(path, "utf8")).toBe("one\n");
  expect(at.asked.map(({ id, name }) => [id, name])).toEqual([
    ["call_no", "write"],
    ["call_yes", "write"],
  ]);
  expect(allowed.filter(({ type }) => type.startsWith("tool_"))).toEqual([
    {
      type: "tool_call",
      id: "call_yes",
      name: "write",
      arguments: '{"filePath":"new.txt","content":"one\\n"}',
    },
    {
      type: "tool_result",
      id: "call_yes",
      output: expect.stringContaining("success"),
      failed: false,
      duration_ms: expect.any(Number),
      diffs: [{ path, oldText: "", newText: "one\n" }],
    },
  ]);
  expect(textIn(allowed)).toBe("Finished.");
});

test("[ACPA23] [ACPA24] [ACPA25] a limited agent has Heddle's tools and no other", async () => {
  const at = await realStage(opencode);
  await configure(at.home, {
    permission: { "*": "ask", bash: "allow", write: "allow" },
    agent: { build: { permission: { bash: "allow", edit: "allow" } } },
    tools: { bash: true },
  });
  const note = { tool_call: { id: "call_n", name: "heddle_notes_add", arguments: '{"text":"hi"}' } };
  at.play((last) => (last.includes("Note") ? [note] : [write("call_w")]));
  const work = { ownTools: false };
  const noted = await at.turn("Note it", { work });
  expect(noted.filter(({ type }) => type.startsWith("tool_"))).toMatchObject([
    { type: "tool_call", id: "call_n", name: "notes_add", arguments: '{"text":"hi"}' },
    { type: "tool_result", id: "call_n", output: "noted", failed: false },
  ]);
  expect(at.bridge.calls).toEqual(['{"text":"hi"}']);
  await at.turn("Write it", { work });
  expect(existsSync(join(at.directory, "new.txt"))).toBe(false);
  expect(at.offered()).toEqual(["heddle_notes_add"]);
  expect(at.asked).toEqual([]);
});

test("[ACPA12] [ACPA20] [ACPA39] messages that look like commands, and hostile ones, reach the model", async () => {
  const at = await realStage(opencode);
  at.play(() => [{ text: "Yes." }]);
  for (const message of ["/compact", "--help", "-", "a\0b", "y".repeat(1_048_576)]) {
    const events = await at.turn(message);
    expect(textIn(events)).toBe("Yes.");
    expect(at.bodies().at(-1)).toContain(JSON.stringify(message).slice(1, -1));
  }
});

test("[ACPA1] [ACPA10] its model may speak another protocol", async () => {
  for (const [npm, protocol] of [
    ["@ai-sdk/openai", "responses"],
    ["@ai-sdk/anthropic", "messages"],
  ] as const) {
    const agent: RealAgent = { ...opencode, env: ({ url }) => configOf(url, npm) };
    const at = await realStage(agent);
    at.server.play([
      { repeat: true, steps: [{ text: ["Hel", "lo."] }, { usage: { input: 10, output: 5 } }] },
    ]);
    const events = await at.turn("Hi", { instructions: "RULES" });
    expect(textIn(events)).toBe("Hello.");
    expect(at.server.requests.map((request) => request.protocol)).toEqual([protocol]);
    expect(at.bodies().map((body) => countOf(body, "RULES"))).toEqual([1]);
  }
});

test("[ACPA36] what the model's server refuses is the failure", async () => {
  const at = await realStage(opencode);
  at.play(() => [{ status: 401, body: { error: { message: "wrong key", type: "invalid_key" } } }]);
  const events = await at.turn("Hi");
  expect(events.at(-1)).toMatchObject({
    code: "program.failed",
    message: expect.stringContaining("wrong key"),
  });
});

test("[ACPA37] [ACPA6] a cancelled turn leaves no process, and the next one has all that was said", async () => {
  const at = await realStage(opencode);
  at.play((last) => (last.includes('"Wait"') ? [{ text: "…" }, { hang: true }] : [{ text: "Yes." }]));
  await at.turn("the first");
  const abort = new AbortController();
  let pids: number[] = [];
  let cancelledAt = 0;
  const events = await at.turn("Wait", {
    signal: abort.signal,
    on: (event) => {
      if (event.type !== "text") return;
      pids = childrenOf(process.pid, "opencode");
      cancelledAt = performance.now();
      abort.abort();
    },
  });
  expect(events.at(-1)).toEqual({ type: "aborted" });
  expect(performance.now() - cancelledAt).toBeLessThan(1_000);
  expect(pids.length).toBeGreaterThan(0);
  expect(pids.filter(groupRuns)).toEqual([]);
  const next = await at.turn("Again", { instructions: "RULES" });
  expect(next[0]).toMatchObject({ delivery: { session: "new", replayed: 4 } });
  expect(countOf(at.bodies().at(-1) ?? "", "the first")).toBe(1);
  expect(countOf(at.bodies().at(-1) ?? "", "RULES")).toBe(1);
});

test("[ACPA32] one that is killed in mid-turn fails the turn, and the next one works", async () => {
  const at = await realStage(opencode);
  at.play((last) => (last.includes('"Wait"') ? [{ text: "…" }, { hang: true }] : [{ text: "Yes." }]));
  const events = await at.turn("Wait", {
    on: (event) => {
      if (event.type !== "text") return;
      for (const pid of childrenOf(process.pid, "opencode")) process.kill(pid, "SIGKILL");
    },
  });
  expect(events.at(-1)).toMatchObject({ code: "program.exited" });
  const next = await at.turn("Again");
  expect(textIn(next)).toBe("Yes.");
  expect(next[0]).toMatchObject({ delivery: { session: "new", replayed: 2 } });
});
