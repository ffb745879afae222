import { describe, expect, test } from "vitest";
import {
  began,
  codexStage,
  command,
  ended,
  ofType,
  type Step,
  saying,
  user,
} from "../support/programs/fake-codex-stage.js";

const asksForCommand: Step = {
  ask: "item/commandExecution/requestApproval",
  params: { kind: "command", itemId: "c1" },
};
const change = {
  type: "fileChange",
  id: "p1",
  changes: [{ path: "/project/a.txt", kind: { type: "add" }, diff: "x\n" }],
  status: "inProgress",
};
const mcp = (server: string) => ({
  type: "mcpToolCall",
  id: "m1",
  server,
  tool: "find",
  status: "inProgress",
  arguments: { q: 1 },
});
const elicits = (serverName: string, kind = "mcp_tool_call"): Step => ({
  ask: "mcpServer/elicitation/request",
  params: {
    serverName,
    mode: "form",
    message: "?",
    _meta: { codex_approval_kind: kind, tool_params: { q: 1 } },
  },
});

/** What the fake was answered, in order. */
const answers = (on: Awaited<ReturnType<typeof codexStage>>) =>
  on
    .heard()
    .filter((one) => "result" in one || "error" in one)
    .map(({ result, error }) => result ?? error);

describe("permissions of codex", () => {
  test.each([
    ["allow", "accept"],
    ["always", "acceptForSession"],
    ["deny", "decline"],
  ] as const)("[CDX20] [CDX21] [CDX22] %s is told as %s", async (answer, decision) => {
    const turn = [
      began(command("c1")),
      asksForCommand,
      began(change),
      { ask: "item/fileChange/requestApproval", params: { itemId: "p1" } },
      ended({ ...change, status: answer === "deny" ? "declined" : "completed" }),
      ...saying("ok"),
    ];
    const on = await codexStage({ turns: [turn] });
    on.answer = answer;
    const events = await on.ask([user("hi")]);
    expect(on.asked).toEqual([
      {
        id: "c1",
        name: "exec_command",
        arguments: JSON.stringify({ command: "/bin/bash -lc 'make it'", cwd: "/work" }),
      },
      {
        id: "p1",
        name: "apply_patch",
        arguments: JSON.stringify({ changes: [{ path: "/project/a.txt", kind: "add", diff: "x\n" }] }),
      },
    ]);
    expect(answers(on)).toEqual([{ decision }, { decision }]);
    const [result] = ofType(events, "tool_result");
    expect([result?.failed, events.at(-1)?.type]).toEqual([answer === "deny", "finish"]);
    expect(on.heard("thread/start")[0]?.params?.approvalPolicy).toBe("untrusted");
  });

  test("[CDX20] a question before its call, and one about a running command, say what they know", async () => {
    const stdin = { kind: "writeStdin", itemId: "c1", command: "rm -r .", cwd: "/work" };
    const on = await codexStage({
      turns: [
        [
          {
            ask: "item/commandExecution/requestApproval",
            params: { itemId: "c1", command: "make", cwd: "/work" },
          },
          began(command("c1")),
          { ask: "item/commandExecution/requestApproval", params: stdin },
          ...saying("ok"),
        ],
      ],
    });
    await on.ask([user("hi")]);
    expect(on.asked).toEqual([
      { id: "c1", name: "exec_command", arguments: '{"command":"make","cwd":"/work"}' },
      { name: "write_stdin", arguments: '{"command":"rm -r .","cwd":"/work"}' },
    ]);
  });

  test("[CDX20] a codex that would not ask is not asked", async () => {
    const on = await codexStage({ turns: [saying("ok")], policy: "never" });
    expect(await on.ask([user("hi")])).toMatchObject([{ type: "failed", code: "program.no_start" }]);
    expect(on.heard("turn/start")).toEqual([]);
  });

  test("[CDX23] the bridge is an MCP server with a token, whose calls are not asked for", async () => {
    const bridge = { url: "http://127.0.0.1:9/mcp", token: "bridge-token", command: "h", args: [], env: {} };
    const found = {
      content: [
        { type: "text", text: "here" },
        { type: "image", data: "" },
      ],
    };
    const on = await codexStage({
      turns: [
        [
          began(mcp("heddle")),
          elicits("heddle"),
          ended({ ...mcp("heddle"), status: "completed", result: found, durationMs: 3 }),
          ...saying("ok"),
        ],
      ],
    });
    const events = await on.ask([user("hi")], { bridge, ownTools: false });
    expect(events.slice(2, 4)).toEqual([
      { type: "tool_call", id: "m1", name: "find", arguments: '{"q":1}' },
      { type: "tool_result", id: "m1", output: "here\n[image]", failed: false, duration_ms: 3 },
    ]);
    expect([on.asked, answers(on)]).toEqual([[], [{ action: "accept", content: {}, _meta: null }]]);
    const config = on.heard("thread/start")[0]?.params?.config as { mcp_servers?: object } | undefined;
    expect(config?.mcp_servers).toMatchObject({
      heddle: { url: bridge.url, http_headers: { Authorization: "Bearer bridge-token" }, required: true },
      "their.own": { enabled: false },
    });
    expect(on.heard()[0]?.argv?.join(" ")).not.toContain("bridge-token");
  });

  test("[CDX23] a bridge that can't be reached fails the start with codex's words", async () => {
    const error = { code: -32_603, message: "required MCP servers failed to initialize: heddle" };
    const on = await codexStage({ answers: { "thread/start": { error } } });
    const events = await on.ask([user("hi")]);
    expect(events).toMatchObject([{ type: "failed", code: "program.no_start" }]);
    expect(JSON.stringify(events)).toContain("failed to initialize: heddle");
  });

  test.each([
    ["allow", { action: "accept", content: {}, _meta: null }],
    ["always", { action: "accept", content: {}, _meta: { persist: "session" } }],
    ["deny", { action: "decline", content: null, _meta: null }],
  ] as const)("[CDX24] a tool of another MCP server, when the answer is %s", async (answer, told) => {
    const on = await codexStage({ turns: [[began(mcp("own")), elicits("own"), ...saying("ok")]] });
    on.answer = answer;
    await on.ask([user("hi")]);
    expect(on.asked).toEqual([{ id: "m1", name: "mcp__own__find", arguments: '{"q":1}' }]);
    expect(answers(on)).toEqual([told]);
  });

  test("[CDX24] of two calls at once the one is asked about that is meant", async () => {
    const first = mcp("own");
    const second = { ...mcp("own"), id: "m2", arguments: { q: 2 } };
    const on = await codexStage({ turns: [[began(first), began(second), elicits("own"), ...saying("ok")]] });
    await on.ask([user("hi")]);
    expect(on.asked).toEqual([{ id: "m1", name: "mcp__own__find", arguments: '{"q":1}' }]);
  });

  test("[CDX25] forms and questions are refused", async () => {
    const asks = { ask: "item/tool/requestUserInput", params: { itemId: "q1", questions: [] } };
    const on = await codexStage({ turns: [[elicits("own", "form"), asks, ...saying("ok")]] });
    const events = await on.ask([user("hi")]);
    expect(answers(on)).toMatchObject([{ action: "decline" }, { code: -32_601 }]);
    expect([on.asked, events.at(-1)?.type]).toEqual([[], "finish"]);
  });
});

test("[CDX26] commands get no terminal", async () => {
  const on = await codexStage({ turns: [saying("ok")] });
  await on.ask([user("hi")]);
  expect(on.heard()[0]?.argv).toContain("features.unified_exec_tty=false");
});

describe("codex without its own tools", () => {
  test("[CDX30] they are switched off, for the process and for the thread", async () => {
    const on = await codexStage({ turns: [saying("ok")] });
    await on.ask([user("hi")], { ownTools: false });
    const argv = on.heard()[0]?.argv ?? [];
    for (const one of ["features.shell_tool=false", "features.unified_exec=false", 'web_search="disabled"']) {
      expect(argv).toContain(one);
    }
    expect(on.heard("thread/start")[0]?.params).toMatchObject({
      sandbox: "read-only",
      config: { "features.shell_tool": false, web_search: "disabled" },
    });
  });

  test("[CDX31] there is no place to work in, and every question is denied without asking", async () => {
    const on = await codexStage({
      turns: [[began(command("c1")), asksForCommand, began(mcp("own")), elicits("own"), ...saying("ok")]],
    });
    await on.ask([user("hi")], { ownTools: false });
    expect(on.heard("initialize")[0]?.params).toMatchObject({ capabilities: { experimentalApi: true } });
    expect(on.heard("turn/start")[0]?.params?.environments).toEqual([]);
    expect(answers(on)).toEqual([{ decision: "decline" }, { action: "decline", content: null, _meta: null }]);
    expect(on.asked).toEqual([]);
  });

  test.each(["heddle/0.165.9 (x)", "heddle/1.0.0 (x)", "what?"])(
    "[CDX32] the version of %s",
    async (userAgent) => {
      const on = await codexStage({
        turns: [saying("ok")],
        answers: { initialize: { result: { userAgent } } },
      });
      const limited = (await on.ask([user("hi")], { ownTools: false })).at(-1);
      if (userAgent.includes("/1.0")) expect(limited?.type).toBe("finish");
      else expect(limited).toMatchObject({ type: "failed", code: "program.unlimited" });
    },
  );
});
