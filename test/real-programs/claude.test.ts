import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { all, assistant, only, system, user } from "../support/programs/events.js";
import { claudeStage, sessionOf, startBridge, times } from "./claude-support.js";

const hello = {
  repeat: true,
  steps: [
    { thinking: "Hm.", signature: "s" },
    { text: ["Hel", "lo."] },
    { usage: { input: 10, output: 5, cached_input: 4 } },
  ],
};

const call = (id: string, name: string, input: object) => ({
  tool_call: { id, name, arguments: JSON.stringify(input) },
});

test("[CLD1] a turn comes in fragments, with usage and the session's name", async () => {
  const { provider, request } = await claudeStage([hello]);
  const events = await all(provider().generate(request([system("Be kind."), user("Hi")])));
  const [handed, ...rest] = events;
  expect(handed).toMatchObject({
    type: "request",
    url: "process:claude -p",
    delivery: { way: "system_prompt", session: "new", replayed: 0 },
  });
  expect(rest).toEqual([
    { type: "session", id: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    { type: "thinking", id: "thinking-1", text: "Hm." },
    { type: "text", text: "Hel" },
    { type: "text", text: "lo." },
    { type: "usage", input: 10, output: 5, cached_input: 4 },
    { type: "finish", reason: "stop" },
  ]);
});

test("[CLD5] [CLD6] instructions arrive once, on new, kept and resumed turns, and in their newest version", async () => {
  const { provider, request, bodies } = await claudeStage([hello]);
  const first = provider();
  const one = await all(first.generate(request([system("RULE-ONE"), user("QUESTION-1")])));
  const said = [user("QUESTION-1"), assistant("Hello.")];
  const session = sessionOf(one, 2);
  const two = await all(
    first.generate(request([system("RULE-ONE"), ...said, user("QUESTION-2")], { session })),
  );
  expect(only(two, "request")[0]?.delivery).toMatchObject({ way: "already_there", session: "kept" });
  await first.release?.();

  const later = [...said, user("QUESTION-2"), assistant("Hello.")];
  const three = await all(
    provider().generate(
      request([system("RULE-ONE"), ...later, user("QUESTION-3")], { session: { ...session, told: 4 } }),
    ),
  );
  expect(only(three, "request")[0]?.delivery).toMatchObject({ way: "system_prompt", session: "resumed" });
  expect(sessionOf(three, 0).id).toBe(session.id);

  const other = provider();
  const last = [...later, user("QUESTION-3"), assistant("Hello.")];
  const changed = { session: { ...session, told: 6 } };
  const four = await all(other.generate(request([system("RULE-TWO"), ...last, user("QUESTION-4")], changed)));
  expect(only(four, "request")[0]?.delivery).toMatchObject({ way: "system_prompt", session: "resumed" });
  // And once more in a process that was begun with the old ones.
  const five = await all(
    other.generate(
      request([system("RULE-THREE"), ...last, user("QUESTION-4"), assistant("Hello."), user("QUESTION-5")], {
        session: { ...session, told: 8 },
      }),
    ),
  );
  expect(only(five, "finish")).toHaveLength(1);

  const seen = bodies().map((body) =>
    ["RULE-ONE", "RULE-TWO", "RULE-THREE"].map((rule) => times(rule, body)),
  );
  expect(seen).toEqual([
    [1, 0, 0],
    [1, 0, 0],
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ]);
  const questions = bodies().map((body) =>
    ["QUESTION-1", "QUESTION-2", "QUESTION-3", "QUESTION-4", "QUESTION-5"].map((word) => times(word, body)),
  );
  expect(questions.at(-1)).toEqual([1, 1, 1, 1, 1]);
});

test("[CLD4] a session that it does not know is told anew, once", async () => {
  const { provider, request, bodies } = await claudeStage([hello]);
  const session = { id: "00000000-0000-4000-8000-000000000000", told: 2, instructions: "x" };
  const messages = [system("RULE-ONE"), user("QUESTION-1"), assistant("ANSWER-1"), user("QUESTION-2")];
  const events = await all(provider().generate(request(messages, { session })));
  expect(only(events, "request").map(({ delivery }) => delivery)).toMatchObject([
    { session: "new", replayed: 2, way: "system_prompt" },
  ]);
  expect(only(events, "finish")).toEqual([{ type: "finish", reason: "stop" }]);
  expect(
    ["RULE-ONE", "QUESTION-1", "ANSWER-1", "QUESTION-2"].map((word) => times(word, bodies()[0])),
  ).toEqual([1, 1, 1, 1]);
});

test("[CLD7] [CLD8] its own prompt stays with its own tools, and files of the project are no instructions", async () => {
  const { provider, request, bodies, directory, home } = await claudeStage([hello]);
  await writeFile(join(directory, "CLAUDE.md"), "FROM-CLAUDE-MD");
  await writeFile(join(directory, "AGENTS.md"), "FROM-AGENTS-MD");
  await writeFile(join(home, "AGENTS.md"), "FROM-AGENTS-MD");
  await mkdir(join(home, ".claude"));
  await writeFile(join(home, ".claude/CLAUDE.md"), "FROM-CLAUDE-MD");
  await mkdir(join(directory, ".claude"));
  const hook = [{ hooks: [{ type: "command", command: `touch ${join(home, "hooked")}` }] }];
  const settings = {
    hooks: { SessionStart: hook, UserPromptSubmit: hook },
    permissions: { allow: ["Bash"] },
  };
  await writeFile(join(directory, ".claude/settings.json"), JSON.stringify(settings));
  await all(provider().generate(request([system("RULE-ONE"), user("Hi")])));
  await all(provider().generate(request([system("RULE-ONE"), user("Hi")], { ownTools: false })));
  const [open, closed] = bodies();
  for (const word of ["FROM-CLAUDE-MD", "FROM-AGENTS-MD"]) {
    expect([times(word, open), times(word, closed)]).toEqual([0, 0]);
  }
  expect(existsSync(join(home, "hooked"))).toBe(false);
  expect(open?.system.at(-1)?.text).toMatch(/working with the user[\s\S]*RULE-ONE$/);
  expect(closed?.system.at(-1)?.text).toBe("RULE-ONE");
});

test("[CLD9] a text arrives as it is, whatever it looks like", async () => {
  const { provider, request, bodies, directory } = await claudeStage([hello]);
  await writeFile(join(directory, "secret.txt"), "HIDDEN-WORDS");
  const asking = provider();
  const texts = [
    "/clear",
    " /clear",
    "/unknown",
    "--help",
    "look at @secret.txt",
    "a\0b",
    `${"x".repeat(1 << 20)}y`,
  ];
  for (const [at, text] of texts.entries()) {
    const events = await all(asking.generate(request([user(text)], { key: `thread-${at}` })));
    expect(only(events, "finish"), text.slice(0, 20)).toHaveLength(1);
    const asked = JSON.stringify(bodies()[at]?.messages.filter(({ role }) => role === "user"));
    expect(asked, text.slice(0, 20)).toContain(JSON.stringify(text).slice(1, -1));
    expect(asked).not.toContain("slash command");
    expect(asked).not.toContain("HIDDEN-WORDS");
  }
  expect(bodies()).toHaveLength(texts.length);
  const huge = `RULE ${"z".repeat(1 << 20)}`;
  await all(asking.generate(request([system(huge), user("Hi")], { key: "huge" })));
  expect(bodies().at(-1)?.system.at(-1)?.text.endsWith(huge)).toBe(true);
});

test("[CLD11] [CLD12] [CLD14] its own tools are asked for, told with their outcome, and shown as differences", async () => {
  const stage = await claudeStage([]);
  const file = join(stage.directory, "a.txt");
  await writeFile(file, "one\ntwo\n");
  stage.server.play([
    { steps: [call("t1", "Bash", { command: "touch made; echo hi", description: "d" })] },
    { steps: [call("t2", "Read", { file_path: file })] },
    { steps: [call("t3", "Edit", { file_path: file, old_string: "two", new_string: "three" })] },
    hello,
  ]);
  const events = await all(stage.provider().generate(stage.request([user("Go")])));
  expect(stage.asked.map(({ id, name }) => [id, name])).toEqual([
    ["t1", "Bash"],
    ["t3", "Edit"],
  ]);
  expect(only(events, "tool_call").map(({ id, name }) => [id, name])).toEqual([
    ["t1", "Bash"],
    ["t2", "Read"],
    ["t3", "Edit"],
  ]);
  const results = only(events, "tool_result");
  expect(results[0]).toMatchObject({
    id: "t1",
    output: "hi",
    failed: false,
    duration_ms: expect.any(Number),
  });
  expect(results[2]?.diffs).toEqual([{ path: "a.txt", oldText: "one\ntwo\n", newText: "one\nthree\n" }]);
  expect(await readFile(file, "utf8")).toBe("one\nthree\n");
});

test("[CLD14] [CLD15] what is denied does not happen; what is always allowed is not asked again, and no file says so", async () => {
  const stage = await claudeStage([
    { steps: [call("t1", "Bash", { command: "touch made", description: "d" })] },
    hello,
  ]);
  stage.answer = "deny";
  const events = await all(stage.provider().generate(stage.request([user("Go")])));
  expect(only(events, "tool_result")).toMatchObject([{ id: "t1", failed: true }]);
  expect(existsSync(join(stage.directory, "made"))).toBe(false);

  stage.answer = "always";
  stage.server.play([
    { steps: [call("t2", "Bash", { command: "curl -s http://127.0.0.1:1/a", description: "d" })] },
    { steps: [call("t3", "Bash", { command: "curl -s http://127.0.0.1:1/a", description: "d" })] },
    hello,
  ]);
  await all(stage.provider().generate(stage.request([user("Go")], { key: "other" })));
  expect(stage.asked.map(({ id }) => id)).toEqual(["t1", "t2"]);
  expect(existsSync(join(stage.directory, ".claude"))).toBe(false);
});

test("[CLD17] [CLD19] without its own tools it is offered those of the bridge alone, and can't reach others", async () => {
  const bridge = await startBridge("bridge-token");
  const stage = await claudeStage([
    {
      steps: [
        call("t1", "Bash", { command: "touch made", description: "d" }),
        call("t2", "mcp__heddle__lists_add", { item: "milk" }),
        call("t3", "Read", { file_path: "/etc/hostname" }),
        call("t4", "Task", { prompt: "x", description: "x", subagent_type: "general-purpose" }),
      ],
    },
    hello,
  ]);
  const events = await all(
    stage.provider().generate(stage.request([user("Go")], { bridge, ownTools: false })),
  );
  expect(stage.bodies().map(({ tools }) => tools?.map(({ name }) => name))).toEqual([
    ["mcp__heddle__lists_add"],
    ["mcp__heddle__lists_add"],
  ]);
  expect(stage.asked).toEqual([]);
  expect(bridge.calls).toEqual([{ item: "milk" }]);
  expect(existsSync(join(stage.directory, "made"))).toBe(false);
  const outcome = Object.fromEntries(only(events, "tool_result").map(({ id, failed }) => [id, failed]));
  expect(outcome).toEqual({ t1: true, t2: false, t3: true, t4: true });
  expect(only(events, "tool_call").map(({ name }) => name)).toContain("lists_add");
  expect(only(events, "finish")).toHaveLength(1);
});

test("[CLD18] a bridge with another token is connected anew, in the same process", async () => {
  const [one, two] = [await startBridge("first-token"), await startBridge("second-token")];
  const stage = await claudeStage([
    { steps: [call("t1", "mcp__heddle__lists_add", { item: "milk" })] },
    hello,
  ]);
  const provider = stage.provider();
  const first = await all(provider.generate(stage.request([user("QUESTION-1")], { bridge: one })));
  stage.server.play([{ steps: [call("t2", "mcp__heddle__lists_add", { item: "bread" })] }, hello]);
  const session = sessionOf(first, 2);
  const messages = [user("QUESTION-1"), assistant("Hello."), user("QUESTION-2")];
  const second = await all(provider.generate(stage.request(messages, { bridge: two, session })));
  expect(only(second, "request")[0]?.delivery?.session).toBe("kept");
  expect([one.calls, two.calls]).toEqual([[{ item: "milk" }], [{ item: "bread" }]]);
  expect(only(second, "tool_result")).toMatchObject([{ output: "added bread", failed: false }]);
});

test("[CLD21] [CLD31] a cancelled turn leaves no process and no file, not even a command in a session of its own", async () => {
  const mark = `heddle-mark-${process.pid}`;
  const command = `python3 -c "import time; time.sleep(600)" ${mark}`;
  const stage = await claudeStage([{ steps: [call("t1", "Bash", { command, description: "d" })] }, hello]);
  const stop = new AbortController();
  const before = scratch();
  const events = all(stage.provider().generate(stage.request([user("Go")]), { signal: stop.signal }));
  await expect.poll(() => running(mark)).not.toEqual([]);
  const at = performance.now();
  stop.abort();
  expect((await events).at(-1)).toEqual({ type: "aborted" });
  expect(performance.now() - at).toBeLessThan(1_500);
  expect(running(mark)).toEqual([]);
  expect(scratch()).toEqual(before);
});

test("[CLD22] [CLD31] a program that is killed in mid-turn fails clearly, leaves nothing, and the thread goes on", async () => {
  const mark = `heddle-mark-killed-${process.pid}`;
  const command = `python3 -c "import time; time.sleep(600)" ${mark}`;
  const stage = await claudeStage([{ steps: [call("t1", "Bash", { command, description: "d" })] }, hello]);
  const before = scratch();
  const provider = stage.provider();
  const events = all(provider.generate(stage.request([system("RULE-ONE"), user("QUESTION-1")])));
  await expect.poll(() => running(mark)).not.toEqual([]);
  const ours = running(stage.server.url, "environ");
  const claudes = running("--permission-prompt-tool=stdio").filter((pid) => ours.includes(pid));
  expect(claudes).toHaveLength(1);
  for (const pid of claudes) process.kill(pid, "SIGKILL");
  expect((await events).at(-1)).toMatchObject({ type: "failed", code: "program.exited" });
  expect(running(mark)).toEqual([]);
  const again = await all(
    provider.generate(stage.request([system("RULE-ONE"), user("QUESTION-1"), user("QUESTION-2")])),
  );
  expect(again.at(-1)).toEqual({ type: "finish", reason: "stop" });
  expect(times("RULE-ONE", stage.bodies().at(-1))).toBe(1);
  await provider.release?.();
  expect(scratch()).toEqual(before);
});

test("[CLD13] a subagent's calls are told, its words are not, and it is waited for", async () => {
  const stage = await claudeStage([]);
  stage.server.play((body) => {
    const said = JSON.stringify((JSON.parse(body) as { messages: unknown }).messages);
    if (said.includes('"a1"')) return hello;
    if (said.includes('"n1"')) return { steps: [{ text: "Found it." }] };
    if (said.includes("SUBTASK"))
      return { steps: [call("n1", "Bash", { command: "touch made", description: "d" })] };
    const input = { description: "d", prompt: "SUBTASK", subagent_type: "general-purpose" };
    return { steps: [call("a1", "Agent", input)] };
  });
  const events = await all(stage.provider().generate(stage.request([user("Go")])));
  expect(stage.asked.map(({ id }) => id)).toEqual(["n1"]);
  expect(only(events, "tool_result").map(({ id, failed }) => [id, failed])).toEqual([
    ["n1", false],
    ["a1", false],
  ]);
  expect(only(events, "text").map(({ text }) => text)).toEqual(["Hel", "lo."]);
});

test("[CLD10] [CLD32] images, effort and length reach the model", async () => {
  const stage = await claudeStage([hello]);
  const data =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const content = [
    { type: "text" as const, text: "See" },
    { type: "image" as const, data, mimeType: "image/png" },
  ];
  const asking = stage.provider();
  const request = stage.request([{ role: "user", content }]);
  await all(asking.generate({ ...request, params: { reasoning_effort: "high", max_tokens: 777 } }));
  await all(asking.generate({ ...request, params: { reasoning_effort: "none" } }));
  const [high, none] = stage.server.requests.map(({ body }) => JSON.parse(body));
  expect(high).toMatchObject({ max_tokens: 777, output_config: { effort: "high" } });
  expect(JSON.stringify(high.messages)).toContain(data);
  expect(none.thinking?.type ?? "disabled").toBe("disabled");
});

test("[CLD26] [CLD27] who is not signed in is told what to do, and no key is repeated", async () => {
  const refused = { type: "error", error: { type: "authentication_error", message: "no: no-real-key" } };
  const stage = await claudeStage([{ repeat: true, steps: [{ status: 401, body: refused }] }]);
  const events = await all(stage.provider().generate(stage.request([user("Hi")])));
  expect(events.at(-1)).toMatchObject({ type: "failed", code: "program.signed_out", retryable: false });
  expect(JSON.stringify(events.at(-1))).toContain("/login");
  const bad = { type: "error", error: { type: "invalid_request_error", message: "bad thing no-real-key" } };
  stage.server.play([{ repeat: true, steps: [{ status: 400, body: bad }] }]);
  const failed = await all(stage.provider().generate(stage.request([user("Hi")], { key: "other" })));
  expect(failed.at(-1)).toMatchObject({ type: "failed", code: "program.failed" });
  expect(JSON.stringify(failed.at(-1))).toMatch(/bad thing/);
  expect(JSON.stringify([...events, ...failed])).not.toContain("no-real-key");
});

function scratch(): string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith(`heddle-claude-${process.pid}-`));
}

/** Processes whose command line, or environment, holds a word. */
function running(word: string, where: "cmdline" | "environ" = "cmdline"): number[] {
  const shell = `grep -laF -- "$1" /proc/[0-9]*/${where} 2>/dev/null || true`;
  const found = execFileSync("/bin/sh", ["-c", shell, "sh", word], { encoding: "utf8" });
  return found
    .split("\n")
    .map((path) => Number(path.split("/")[2]))
    .filter((pid) => pid > 0 && pid !== process.pid && existsSync(`/proc/${pid}/exe`));
}
