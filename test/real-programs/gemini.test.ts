import { existsSync, readFileSync } from "node:fs";
import { readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { groupRuns } from "../support/programs.js";
import { childrenOf } from "./acp-processes.js";
import { countOf, type RealAgent, realStage, textIn } from "./acp-support.js";

const gemini: RealAgent = {
  name: "gemini",
  args: ["--acp"],
  model: "gemini-2.5-pro",
  env: ({ url }) => ({ GEMINI_API_KEY: "fake-key-of-a-test", GOOGLE_GEMINI_BASE_URL: url }),
  read(body) {
    const { contents, tools = [] } = JSON.parse(body) as {
      contents: { parts: object[] }[];
      tools?: { functionDeclarations?: { name: string }[] }[];
    };
    const parts = contents.at(-1)?.parts ?? [];
    return {
      last: JSON.stringify(parts.at(-1)),
      isResult: parts.some((part) => "functionResponse" in part),
      tools: tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations.map(({ name }) => name)),
    };
  },
};
/** Gemini CLI starts MCP servers only where it trusts the folder. */
const trusted = { GEMINI_CLI_TRUST_WORKSPACE: "true" };
const write = (id: string) => ({
  tool_call: {
    id,
    name: "write_file",
    arguments: JSON.stringify({ file_path: "new.txt", content: "one\n" }),
  },
});

test("[ACPA1] [ACPA5] [ACPA10] [ACPA11] [ACPA14] turns in one process and another have the instructions once, the newest after a change", async () => {
  const at = await realStage(gemini);
  await at.write("GEMINI.md", "FILE-OF-THE-PROJECT");
  await at.write("AGENTS.md", "FILE-OF-THE-PROJECT");
  at.play((last) => [{ text: last.includes("third") ? "Three." : ["Hel", "lo."] }]);
  const first = await at.turn("the first", { instructions: "RULES-A" });
  expect(textIn(first)).toBe("Hello.");
  expect(first.filter(({ type }) => type === "usage")).toEqual([{ type: "usage", input: 10, output: 5 }]);
  await at.turn("the second", { instructions: "RULES-A" });
  await at.restart();
  await asIfBegunEarlier(at.home);
  const third = await at.turn("the third", { instructions: "RULES-A" });
  expect(third[0]).toMatchObject({ delivery: { way: "already_there", session: "resumed", replayed: 0 } });
  expect(textIn(third)).toBe("Three.");
  await at.turn("the fourth", { instructions: "RULES-B" });
  const bodies = at.bodies();
  expect(bodies.map((body) => [countOf(body, "RULES-A"), countOf(body, "RULES-B")])).toEqual([
    [1, 0],
    [1, 0],
    [1, 0],
    [1, 1],
  ]);
  expect(bodies.map((body) => countOf(body, "the second"))).toEqual([0, 1, 1, 1]);
  expect(bodies.join("")).not.toContain("FILE-OF-THE-PROJECT");
});

test("[ACPA6] a session that it loses, as when it is loaded in the minute that it began, is told anew", async () => {
  const at = await realStage(gemini);
  at.play(() => [{ text: "Yes." }]);
  await at.turn("the first", { instructions: "RULES" });
  await at.restart();
  const events = await at.turn("the second", { instructions: "RULES" });
  expect(events.at(-1)).toEqual({ type: "finish", reason: "stop" });
  const body = at.bodies().at(-1) ?? "";
  expect([countOf(body, "the first"), countOf(body, "the second"), countOf(body, "RULES")]).toEqual([
    1, 1, 1,
  ]);
});

test("[ACPA2] [ACPA22] a tool of its own is asked for, done when allowed, with its diff, and not when denied", async () => {
  const at = await realStage(gemini);
  at.play((last) => [{ thinking: "Hm.", signature: "s" }, write(last.includes("No") ? "no" : "yes")]);
  const denied = await at.turn("No", { answer: "deny" });
  expect(existsSync(join(at.directory, "new.txt"))).toBe(false);
  expect(denied.filter(({ type }) => type === "tool_result")).toMatchObject([{ failed: true }]);
  const allowed = await at.turn("Yes", { answer: "always" });
  const path = join(at.directory, "new.txt");
  expect(readFileSync(path, "utf8")).toBe("one\n");
  expect(at.asked.map(({ name }) => name)).toEqual(["write_file", "write_file"]);
  expect(allowed.filter(({ type }) => type.startsWith("tool_"))).toMatchObject([
    { type: "tool_call", id: "write_file__yes", name: "write_file" },
    {
      type: "tool_result",
      id: "write_file__yes",
      failed: false,
      diffs: [{ path, oldText: "", newText: "one\n" }],
    },
  ]);
  expect(textIn(allowed)).toBe("Finished.");
});

test("[ACPA23] [ACPA24] [ACPA25] a limited agent has Heddle's tools and no other", async () => {
  const at = await realStage(gemini, trusted);
  const note = { tool_call: { id: "n", name: "mcp_heddle_notes_add", arguments: '{"text":"hi"}' } };
  at.play((last) => (last.includes("Note") ? [note] : [write("w")]));
  const work = { ownTools: false };
  const noted = await at.turn("Note it", { work });
  expect(noted.filter(({ type }) => type.startsWith("tool_"))).toMatchObject([
    { type: "tool_call", name: "notes_add", arguments: '{"text":"hi"}' },
    { type: "tool_result", output: "noted", failed: false },
  ]);
  expect(at.bridge.calls).toEqual(['{"text":"hi"}']);
  await at.turn("Write it", { work });
  expect(existsSync(join(at.directory, "new.txt"))).toBe(false);
  expect(at.offered()).toEqual(["mcp_heddle_notes_add"]);
  expect(at.asked).toEqual([]);
});

test("[ACPA12] [ACPA39] messages that look like commands, and hostile ones, reach the model", async () => {
  const at = await realStage(gemini);
  at.play(() => [{ text: "Yes." }]);
  for (const message of ["/about", "$x", "--help", "a\0b", "y".repeat(1_048_576)]) {
    const events = await at.turn(message);
    expect(textIn(events)).toBe("Yes.");
    expect(at.bodies().at(-1)).toContain(JSON.stringify(message).slice(1, -1));
  }
});

test("[ACPA31] one without a key says so", async () => {
  const at = await realStage({ ...gemini, env: () => ({}) });
  const events = await at.turn("Hi");
  expect(events.at(-1)).toMatchObject({ code: "program.signed_out" });
  expect(at.server.requests).toEqual([]);
});

test("[ACPA37] a cancelled turn leaves no process, and the next one has all that was said", async () => {
  const at = await realStage(gemini);
  at.play((last) => (last.includes('"Wait"') ? [{ text: "…" }, { hang: true }] : [{ text: "Yes." }]));
  await at.turn("the first");
  const abort = new AbortController();
  let pids: number[] = [];
  let cancelledAt = 0;
  const events = await at.turn("Wait", {
    signal: abort.signal,
    on: (event) => {
      if (event.type !== "text") return;
      pids = childrenOf(process.pid, "gemini");
      cancelledAt = performance.now();
      abort.abort();
    },
  });
  expect(events.at(-1)).toEqual({ type: "aborted" });
  expect(performance.now() - cancelledAt).toBeLessThan(1_000);
  expect(pids.length).toBeGreaterThan(0);
  expect(pids.filter(groupRuns)).toEqual([]);
  const next = await at.turn("Again");
  expect(next[0]).toMatchObject({ delivery: { session: "new", replayed: 4 } });
  expect(countOf(at.bodies().at(-1) ?? "", "the first")).toBe(1);
});

/** It forgets a session that is loaded in the minute in which it began: the file of its name is begun anew. */
async function asIfBegunEarlier(home: string): Promise<void> {
  const chats = join(home, ".gemini/tmp/project/chats");
  for (const file of await readdir(chats)) {
    const earlier = file.replace(/^session-\d{4}-\d\d-\d\dT\d\d-\d\d/, "session-2020-01-01T00-00");
    await rename(join(chats, file), join(chats, earlier));
  }
}
