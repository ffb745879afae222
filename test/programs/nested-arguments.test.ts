import { expect, test } from "vitest";
import { all } from "../support/programs/events.js";
import { acpStage, ofType, user } from "../support/programs/fake-acp-stage.js";
import { began, done as codexDone, codexStage, ended } from "../support/programs/fake-codex-stage.js";
import { answer as piAnswer, piStage } from "../support/programs/fake-pi-stage.js";
import { type Deed, done, fakeClaude, hello, said } from "./claude-support.js";

/** Read by any program that reads JSON, and written by none. */
const input = { path: "@nested:20000" };
const told = { type: "tool_call", arguments: "[nested too deep to be shown]" };
const beyondUs = (code: string) => ({
  type: "failed",
  code,
  message: expect.stringContaining("said what can't be understood"),
});
const finish = { type: "finish", reason: "stop" };

test("[PRG36] Claude Code: a call whose arguments are nested too deep is told, and denied when it asks", async () => {
  const use = (id: string): Deed => said({ type: "tool_use", id, name: "Bash", input });
  const asks: Deed = { ask: { tool_name: "Bash", tool_use_id: "t2", input } };
  const { provider, request, asked, got } = fakeClaude({
    turns: [[use("t1"), done("t1", "ok"), asks, done("t2", "no", { is_error: true }), ...hello]],
  });
  const events = await all(provider().generate(request([user("Go")])));
  expect(ofType(events, "tool_call")).toMatchObject([told, told]);
  expect(ofType(events, "tool_result")).toHaveLength(2);
  expect(events.at(-1)).toEqual(finish);
  expect(asked).toEqual([]);
  expect(got("control_response")).toMatchObject([{ response: { response: { behavior: "deny" } } }]);
});

test("[PRG36] Claude Code: what can't be answered fails the turn", async () => {
  const rule = { type: "addRules", behavior: "allow", rules: "@nested:20000" };
  const asks = { tool_name: "Bash", tool_use_id: "t1", input: {}, permission_suggestions: [rule] };
  const fake = fakeClaude({ turns: [[{ ask: asks }, ...hello]] });
  fake.answer = "always";
  const events = await all(fake.provider().generate(fake.request([user("Go")])));
  expect(events.at(-1)).toMatchObject(beyondUs("program.unintelligible"));
});

test.each(["session/request_permission", "fs/read_text_file"])(
  "[PRG36] an ACP agent: what can't be answered fails the turn (%s)",
  async (method) => {
    const line = `{"jsonrpc":"2.0","id":${"[".repeat(20_000)}${"]".repeat(20_000)},"method":"${method}"}`;
    const at = await acpStage({ turns: [{ steps: [{ line }, { hang: true }] }] });
    expect((await at.turn([user("Go")])).at(-1)).toMatchObject(beyondUs("program.exited"));
  },
);

test("[PRG36] an ACP agent: its arguments, its output, and what it asks for", async () => {
  const call = { toolCallId: "c1", kind: "execute", status: "pending", rawInput: input };
  const ended = { toolCallId: "c1", status: "completed", rawOutput: input };
  const at = await acpStage({
    turns: [
      {
        steps: [
          { update: { sessionUpdate: "tool_call", ...call, status: "in_progress" } },
          { update: { sessionUpdate: "tool_call_update", ...ended } },
          { ask: { params: { toolCall: { ...call, toolCallId: "c2" }, options: [] } } },
        ],
      },
    ],
  });
  const events = await at.turn([user("Go")], { answer: "allow" });
  expect(ofType(events, "tool_call")).toMatchObject([told, told]);
  expect(ofType(events, "tool_result")[0]).toMatchObject({ output: told.arguments, failed: false });
  expect(at.asked).toMatchObject([{ id: "c2", arguments: told.arguments }]);
  expect(events.at(-1)).toEqual(finish);
});

test("[PRG36] pi: its arguments, and what it asks for", async () => {
  const call = { toolCallId: "c1", toolName: "bash", args: input };
  const at = await piStage({
    turns: [
      {
        steps: [
          { type: "tool_execution_start", ...call },
          { may: { id: "c1", name: "bash", input } },
          { type: "tool_execution_end", ...call, result: { content: [] } },
          ...piAnswer("Done."),
        ],
      },
    ],
  });
  const events = await at.turn([user("Go")]);
  expect(ofType(events, "tool_call")).toMatchObject([told]);
  expect(events.at(-1)).toEqual(finish);
});

test("[PRG36] codex: a call of a tool of its servers", async () => {
  const item = { type: "mcpToolCall", id: "m1", server: "other", tool: "look", status: "inProgress" };
  const call = { ...item, arguments: input, result: null, error: null, durationMs: null };
  const on = await codexStage({
    turns: [[began(call), ended({ ...call, status: "completed" }), codexDone]],
  });
  const events = await on.ask([user("go")]);
  expect(ofType(events, "tool_call")).toMatchObject([told]);
  expect(events.at(-1)).toEqual(finish);
});
