import { describe, expect, test } from "vitest";
import type { WorkPlace } from "../../src/providers/index.js";
import {
  agent,
  began,
  codexStage,
  command,
  delivery,
  done,
  ended,
  note,
  ofType,
  SECRET,
  saying,
  says,
  sessionOf,
  system,
  used,
  user,
} from "../support/programs/fake-codex-stage.js";

const bridge: NonNullable<WorkPlace["bridge"]> = {
  url: "http://127.0.0.1:9/mcp",
  token: "bridge-token",
  command: "heddle",
  args: [],
  env: {},
};
const change = (kind: object, diff: string) => ({
  type: "fileChange",
  id: "p1",
  changes: [{ path: "/project/a.txt", kind, diff }],
  status: "completed",
});

describe("turns of codex", () => {
  test("[CDX1] text in fragments, usage as a sum, the session and one end", async () => {
    const on = await codexStage({
      turns: [
        [
          says("msg_0", "Hello "),
          says("msg_0", "there"),
          ended({ type: "agentMessage", id: "msg_0", text: "Hello there" }),
          used(15, { inputTokens: 10, outputTokens: 5, cachedInputTokens: 3, reasoningOutputTokens: 1 }),
          used(15, { inputTokens: 10, outputTokens: 5 }),
          used(38, { inputTokens: 20, outputTokens: 3 }),
          done,
        ],
      ],
    });
    const [request, session, ...rest] = await on.ask([system("Be kind."), user("hi")]);
    expect([request?.type, session?.type]).toEqual(["request", "session"]);
    expect(rest).toEqual([
      { type: "text", text: "Hello " },
      { type: "text", text: "there" },
      { type: "usage", input: 30, output: 8, cached_input: 3, reasoning: 1 },
      { type: "finish", reason: "stop" },
    ]);
  });

  test("[CDX2] thinking in fragments, its parts apart", async () => {
    const on = await codexStage({
      turns: [
        [
          note("item/reasoning/summaryPartAdded", { itemId: "rs_0", summaryIndex: 0 }),
          note("item/reasoning/summaryTextDelta", { itemId: "rs_0", delta: "hm", summaryIndex: 0 }),
          note("item/reasoning/summaryPartAdded", { itemId: "rs_0", summaryIndex: 1 }),
          note("item/reasoning/summaryTextDelta", { itemId: "rs_0", delta: "so", summaryIndex: 1 }),
          ended({ type: "reasoning", id: "rs_0", summary: ["hm", "so"], content: [] }),
          note("item/reasoning/textDelta", { itemId: "rs_1", delta: "raw", contentIndex: 0 }),
          ...saying("ok"),
        ],
      ],
    });
    const thoughts = ofType(await on.ask([user("hi")]), "thinking");
    expect(thoughts.map(({ id, text }) => [id, text])).toEqual([
      ["rs_0", "hm"],
      ["rs_0", "\n\n"],
      ["rs_0", "so"],
      ["rs_1", "raw"],
    ]);
  });

  test("[CDX3] a call with its output, its failure and its duration", async () => {
    const failed = { status: "failed", exitCode: 2, aggregatedOutput: "bad", durationMs: 7 };
    const on = await codexStage({
      turns: [
        [
          began(command("c1")),
          note("item/commandExecution/outputDelta", { itemId: "c1", delta: "one\n" }),
          ended(
            command("c1", { status: "completed", exitCode: 0, aggregatedOutput: "one\n", durationMs: 12 }),
          ),
          ended(command("c2", failed)),
          began(command("c3")),
          note("item/commandExecution/outputDelta", { itemId: "c3", delta: "listening" }),
          ...saying("ok"),
        ],
      ],
    });
    const events = await on.ask([user("hi")]);
    const given = JSON.stringify({ command: "/bin/bash -lc 'make it'", cwd: "/work" });
    expect(events.slice(2, -2)).toEqual([
      { type: "tool_call", id: "c1", name: "exec_command", arguments: given },
      { type: "tool_output", id: "c1", text: "one\n" },
      { type: "tool_result", id: "c1", output: "one\n", failed: false, duration_ms: 12 },
      { type: "tool_call", id: "c2", name: "exec_command", arguments: given },
      { type: "tool_result", id: "c2", output: "bad\nexit code 2", failed: true, duration_ms: 7 },
      { type: "tool_call", id: "c3", name: "exec_command", arguments: given },
      { type: "tool_output", id: "c3", text: "listening" },
      { type: "text", text: "ok" },
    ]);
    expect(events.at(-2)).toEqual({
      type: "tool_result",
      id: "c3",
      output: "listening\n(still running)",
      failed: false,
    });
  });

  test("[CDX3] calls of every other kind", async () => {
    const items = [
      {
        type: "mcpToolCall",
        id: "m1",
        server: "own",
        tool: "find",
        arguments: { q: 1 },
        status: "failed",
        error: { message: "gone" },
      },
      { type: "webSearch", id: "w1", query: "weather" },
      { type: "imageView", id: "v1", path: "/project/a.png" },
      { type: "collabAgentToolCall", id: "a1", tool: "spawnAgent", prompt: "look", status: "completed" },
      { type: "imageGeneration", id: "g1", status: "completed" },
    ];
    const on = await codexStage({ turns: [[...items.map(ended), done]] });
    const events = await on.ask([user("hi")]);
    expect(ofType(events, "tool_call").map(({ name, arguments: given }) => [name, given])).toEqual([
      ["mcp__own__find", '{"q":1}'],
      ["web_search", '{"query":"weather"}'],
      ["view_image", '{"path":"/project/a.png"}'],
      ["spawnAgent", '{"prompt":"look"}'],
      ["image_generation", "{}"],
    ]);
    expect(ofType(events, "tool_result").map(({ failed }) => failed)).toEqual([
      true,
      false,
      false,
      false,
      false,
    ]);
  });

  test.each([
    ["a new file", { type: "add" }, "x\n", [["", "x\n"]]],
    ["a deleted file", { type: "delete" }, "x\n", [["x\n", ""]]],
    [
      "two places",
      { type: "update", move_path: null },
      "@@ -1,2 +1,2 @@\n a\n-b\n+c\n@@ -9 +9,2 @@\n x\n+\n",
      [
        ["a\nb\n", "a\nc\n"],
        ["x\n", "x\n\n"],
      ],
    ],
    [
      "no newline at the end",
      { type: "update", move_path: null },
      "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n",
      [["a\nb", "a\nc\n"]],
    ],
  ])("[CDX4] the diffs of %s", async (_, kind, diff, expected) => {
    const on = await codexStage({ turns: [[ended(change(kind, diff)), done]] });
    const [result] = ofType(await on.ask([user("hi")]), "tool_result");
    expect(result?.diffs?.map(({ path, oldText, newText }) => [path, oldText, newText])).toEqual(
      expected.map((sides) => ["/project/a.txt", ...sides]),
    );
  });

  test("[CDX5] a plan is a call", async () => {
    const plan = [{ step: "one", status: "inProgress" }];
    const on = await codexStage({
      turns: [[note("turn/plan/updated", { explanation: "why", plan }), done]],
    });
    expect((await on.ask([user("hi")])).slice(2, -1)).toEqual([
      {
        type: "tool_call",
        id: "plan_1",
        name: "plan",
        arguments: JSON.stringify({ explanation: "why", plan }),
      },
      { type: "tool_result", id: "plan_1", output: "", failed: false },
    ]);
  });

  test("[CDX6] whole messages are told once, and apart", async () => {
    const on = await codexStage({
      turns: [
        [
          ended({ type: "reasoning", id: "rs_0", summary: ["hm"], content: [] }),
          ended({ type: "agentMessage", id: "msg_0", text: "I look." }),
          says("msg_1", "Then"),
          ended({ type: "agentMessage", id: "msg_1", text: "Then" }),
          ended(command("c1", { status: "completed", exitCode: 0 })),
          ended({ type: "agentMessage", id: "msg_2", text: "Done." }),
          done,
        ],
      ],
    });
    const events = await on.ask([user("hi")]);
    expect(ofType(events, "thinking")).toEqual([{ type: "thinking", id: "rs_0", text: "hm" }]);
    expect(ofType(events, "text").map(({ text }) => text)).toEqual(["I look.", "\n\nThen", "Done."]);
  });

  test("[CDX7] other threads and unknown messages are left out", async () => {
    const on = await codexStage({
      turns: [
        [
          note("item/agentMessage/delta", { threadId: "another", itemId: "x", delta: "not mine" }),
          note("turn/completed", { threadId: "another", turn: { id: "x" } }),
          note("item/agentMessage/delta", { turnId: "the one before", itemId: "x", delta: "too late" }),
          note("thread/something/new", { what: 1 }),
          ended({ type: "somethingNew", id: "n1" }),
          note("item/agentMessage/delta", { words: 1 }),
          ...saying("mine"),
        ],
      ],
    });
    expect((await on.ask([user("hi")])).slice(2)).toEqual([
      { type: "diagnostic", text: "item/agentMessage/delta in words unknown here" },
      { type: "text", text: "mine" },
      { type: "finish", reason: "stop" },
    ]);
  });
});

describe("sessions of codex", () => {
  const two = { turns: [saying("ok"), saying("yes"), saying("fine")] };
  const later = [user("one"), agent("ok"), user("two")];

  test("[CDX8] a kept turn says only what is new; a resumed one goes to another process", async () => {
    const on = await codexStage(two);
    const first = await on.ask([system("RULE"), user("one")]);
    expect(on.heard("thread/start")[0]?.params).toMatchObject({ developerInstructions: "RULE" });
    const session = sessionOf(first, 2, "RULE");
    const second = await on.ask([system("RULE"), ...later], session);
    expect(delivery(second)).toMatchObject({ way: "already_there", session: "kept", replayed: 0 });
    await on.startAnew();
    const third = await on.ask([system("RULE"), ...later], session);
    expect(delivery(third)).toMatchObject({ way: "already_there", session: "resumed", replayed: 0 });
    expect([on.pids().length, on.heard("thread/start").length]).toEqual([2, 1]);
    const said = on.heard("turn/start").map(({ params }) => params?.input);
    expect(said.slice(1)).toEqual(Array(2).fill([{ type: "text", text: "two", text_elements: [] }]));
  });

  test("[CDX9] changed instructions begin a new session with what was said", async () => {
    const on = await codexStage(two);
    const first = await on.ask([system("OLD RULE"), user("one")]);
    const second = await on.ask([system("NEW RULE"), ...later], sessionOf(first, 2, "OLD RULE"));
    expect(delivery(second)).toMatchObject({ way: "developer_instructions", session: "new", replayed: 2 });
    expect(on.heard("thread/start")[1]?.params).toMatchObject({ developerInstructions: "NEW RULE" });
    const said = JSON.stringify(on.heard("turn/start")[1]?.params);
    expect([said.includes("[user]\\none"), said.includes("RULE"), second.at(-1)?.type]).toEqual([
      true,
      false,
      "finish",
    ]);
    expect(on.heard("thread/resume")).toEqual([]);
  });

  test("[CDX10] without its own tools they are base instructions, and the newest at each resume", async () => {
    const on = await codexStage(two);
    const first = await on.ask([system("OLD RULE"), user("one")], { ownTools: false });
    const more = { ownTools: false, ...sessionOf(first, 2, "OLD RULE") };
    const second = await on.ask([system("NEW RULE"), ...later], more);
    expect(delivery(second)).toMatchObject({ way: "system_prompt", session: "resumed", replayed: 0 });
    const [began] = on.heard("thread/start");
    const [resumed] = on.heard("thread/resume");
    expect([began?.params?.baseInstructions, resumed?.params?.baseInstructions]).toEqual([
      "OLD RULE",
      "NEW RULE",
    ]);
    // None at all would bring the first ones back.
    const third = await on.ask([...later, agent("yes"), user("three")], {
      ownTools: false,
      ...sessionOf(first, 4, "NEW RULE"),
    });
    expect(delivery(third)).toMatchObject({ session: "new", replayed: 4 });
  });

  test("[CDX11] a session that was begun with other tools is told anew", async () => {
    const on = await codexStage(two);
    const first = await on.ask([system("RULE"), user("one")]);
    const second = await on.ask([system("RULE"), ...later], {
      ownTools: false,
      ...sessionOf(first, 2, "RULE"),
    });
    expect(delivery(second)).toMatchObject({ way: "system_prompt", session: "new", replayed: 2 });
    expect(second.at(-1)?.type).toBe("finish");
  });

  test("[CDX12] a session that codex does not know is told anew", async () => {
    const on = await codexStage(two);
    const session = {
      session: { id: "0-0", told: 2, instructions: sessionOf([], 0, "RULE").session.instructions },
    };
    const events = await on.ask([system("RULE"), ...later], session);
    expect(ofType(events, "request")).toHaveLength(1);
    expect(delivery(events)).toMatchObject({ way: "developer_instructions", session: "new", replayed: 2 });
  });

  test("[CDX13] the documents of the project are switched off", async () => {
    const on = await codexStage(two);
    await on.ask([user("one")]);
    expect(on.heard("thread/start")[0]?.params?.config).toMatchObject({ project_doc_max_bytes: 0 });
  });

  test.each([
    ["nothing", {}, 1],
    ["the token", { bridge: { ...bridge, token: "another-token" } }, 2],
    ["the folder", { directory: "/" }, 2],
  ])("[CDX14] after a change of %s there were so many processes", async (_, changed, processes) => {
    const on = await codexStage(two);
    const first = await on.ask([user("one")], { bridge });
    const session = sessionOf(first, 2, "");
    const second = await on.ask(later, { bridge, ...session, ...changed });
    expect([on.pids().length, on.heard("thread/start").length, second.at(-1)?.type]).toEqual([
      processes,
      1,
      "finish",
    ]);
  });

  test("[CDX14] one that died between turns is followed by another", async () => {
    const on = await codexStage(two);
    const first = await on.ask([user("one")]);
    process.kill(on.pids()[0] ?? 0, "SIGKILL");
    const second = await on.ask(later, sessionOf(first, 2, ""));
    expect([second.at(-1)?.type, on.pids().length]).toEqual(["finish", 2]);
  });

  test("[CDX15] what is prepared after a change of the instructions is what is handed over", async () => {
    const on = await codexStage(two);
    const first = await on.ask([system("OLD RULE"), user("one")]);
    const session = sessionOf(first, 2, "OLD RULE");
    const prepared = await on.provider.prepare(on.request([system("NEW RULE"), ...later], session));
    const [told] = ofType(await on.ask([system("NEW RULE"), ...later], session), "request");
    expect({ url: told?.url, body: told?.body }).toEqual(prepared);
  });

  test("[CDX15] what is prepared is what is handed over, without a token", async () => {
    const on = await codexStage(two);
    const request = on.request([system("RULE"), user("one")], { bridge });
    const prepared = await on.provider.prepare(request);
    expect(on.pids()).toEqual([]);
    const [told] = ofType(await on.ask([system("RULE"), user("one")], { bridge }), "request");
    expect({ url: told?.url, body: told?.body }).toEqual(prepared);
    const [args, opening, asking] = prepared.body.split("\n").map((line) => JSON.parse(line));
    expect(args.at(-1)).toBe("app-server");
    expect(opening.params).toMatchObject({ developerInstructions: "RULE", approvalPolicy: "untrusted" });
    expect(asking.params.input[0].text).toBe("one");
    for (const secret of ["bridge-token", SECRET]) expect(prepared.body).not.toContain(secret);
  });
});
