import { expect, test } from "vitest";
import { acpStage, assistant, ofType, says, textIn, user } from "../support/programs/fake-acp-stage.js";
import { groupRuns } from "../support/programs.js";

const finish = { type: "finish", reason: "stop" };

test("[ACPA30] a program that is not there", async () => {
  const at = await acpStage({}, { config: { command: "/nowhere/agent" } });
  expect(await at.turn([user("Hi")])).toEqual([
    expect.objectContaining({ type: "failed", code: "program.missing" }),
  ]);
});

test("[ACPA31] an agent that is not signed in says how to sign in", async () => {
  const refused = { code: -32000, message: "Authentication required." };
  const authMethods = [{ id: "l", name: "Login", description: "Run `fake login`" }, { id: "k" }];
  const at = await acpStage({ initialized: { authMethods }, refuse: { "session/new": refused } });
  const [failed] = await at.turn([user("Hi")]);
  expect(failed).toMatchObject({
    code: "program.signed_out",
    message: expect.stringContaining("Authentication required. It offers: Run `fake login`."),
  });
  const later = await acpStage({ turns: [{ steps: [{ error: refused }] }] });
  expect((await later.turn([user("Hi")])).at(-1)).toMatchObject({ code: "program.signed_out" });
});

test("[ACPA32] one that exits at once, or in mid-turn, is told with its last words, without keys", async () => {
  const env = { FAKE_API_KEY: "sk-very-secret" };
  const exit = { code: 7, words: "no key sk-very-secret\nbye" };
  const atOnce = await acpStage({ exit }, { env });
  const [failed] = await atOnce.turn([user("Hi")]);
  expect(failed).toMatchObject({
    code: "program.exited",
    message: expect.stringContaining("ended with exit code 7: no key [redacted] bye."),
  });
  const inTurn = await acpStage(
    { turns: [{ steps: [says("Wel"), { half: '{"jsonrpc"' }, { exit }] }] },
    { env },
  );
  const events = await inTurn.turn([user("Hi")]);
  expect(textIn(events)).toBe("Wel");
  expect(ofType(events, "diagnostic")).toEqual([]);
  expect(events.at(-1)).toMatchObject({
    code: "program.exited",
    message: expect.stringContaining("exit code 7: no key [redacted] bye"),
  });
});

test("[ACPA32] one that exits while somebody is asked, or between turns", async () => {
  const toolCall = { toolCallId: "c", kind: "edit", rawInput: { a: 1 } };
  const asking = { ask: { params: { toolCall, options: [] } } };
  const at = await acpStage({ turns: [{ steps: [asking] }] });
  let die = () => {};
  const work = {
    ask: async () => {
      die();
      return new Promise<never>(() => {});
    },
  };
  const turn = at.turn([user("Hi")], { work });
  die = () => void at.heard().then(([first]) => process.kill(first?.started ?? 0, "SIGKILL"));
  expect((await turn).at(-1)).toMatchObject({
    code: "program.exited",
    message: expect.stringContaining("was ended by SIGKILL"),
  });
  const between = await acpStage({ turns: [{ steps: [says("Yes.")] }] });
  await between.turn([user("Hi")]);
  const [{ started = 0 } = {}] = await between.heard();
  process.kill(started, "SIGKILL");
  await expect.poll(() => groupRuns(started)).toBe(false);
  const session = { id: "s-1", told: 2, instructions: "" };
  const events = await between.turn([user("Hi"), assistant("Yes."), user("More")], { work: { session } });
  expect(events.at(-1)).toEqual(finish);
  expect(ofType(events, "request").at(-1)?.delivery).toMatchObject({ session: "new", replayed: 2 });
});

test("[ACPA33] one that does not get ready is ended", async () => {
  for (const method of ["initialize", "session/new"]) {
    const at = await acpStage({ silent: [method] }, { config: { timeouts: { startMs: 400 } } });
    expect((await at.turn([user("Hi")])).at(-1)).toMatchObject({ code: "program.silent" });
    const [{ started = 0 } = {}] = await at.heard();
    if (started > 0) expect(groupRuns(started)).toBe(false);
  }
});

test("[ACPA34] lines that are no messages are shown, those from before the turn too", async () => {
  const at = await acpStage({
    before: ["Welcome!", "[1,2]", "7"],
    turns: [{ steps: [says("A"), { line: "warning: {" }, { line: '{"a":1}' }, { line: "" }, says("B")] }],
  });
  const events = await at.turn([user("Hi")]);
  expect(textIn(events)).toBe("AB");
  expect(ofType(events, "diagnostic").map(({ text }) => text)).toEqual([
    "Welcome!",
    "[1,2]",
    "7",
    "warning: {",
    '{"a":1}',
  ]);
  expect(events.at(-1)).toEqual(finish);
});

test("[ACPA34] one that says nothing else is not understood", async () => {
  const at = await acpStage({ before: Array.from({ length: 600 }, () => "noise"), silent: ["initialize"] });
  expect((await at.turn([user("Hi")])).at(-1)).toMatchObject({ code: "program.unintelligible" });
});

test("[ACPA35] what is told out of order, of another session or without sense changes nothing", async () => {
  const chunk = { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "NOT" } };
  const at = await acpStage({
    muddled: true,
    turns: [
      {
        steps: [
          { update: chunk, of: "another" },
          { update: { sessionUpdate: "agent_message_chunk", content: "NOT" } },
          { update: { sessionUpdate: "agent_message_chunk" } },
          { update: { sessionUpdate: "tool_call" } },
          { update: { sessionUpdate: "plan", entries: "NOT" } },
          { update: { sessionUpdate: "from_the_future" } },
          { update: { sessionUpdate: "from_the_future" } },
          { line: '{"jsonrpc":"2.0","method":"session/update"}' },
          { line: '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":null}}' },
          { line: '{"jsonrpc":"2.0","method":"unknown/thing","params":7}' },
          { line: '{"jsonrpc":"2.0","id":9999,"result":{"stopReason":"refusal"}}' },
          { line: '{"jsonrpc":"2.0","id":null,"error":"broken"}' },
          says("Yes."),
        ],
      },
    ],
  });
  const events = await at.turn([user("Hi")]);
  expect(textIn(events)).toBe("Yes.");
  expect(ofType(events, "session")).toEqual([{ type: "session", id: "s-1" }]);
  expect(ofType(events, "diagnostic").map(({ text }) => text)).toEqual([
    "The agent told of a tool call without an id.",
    expect.stringContaining("from_the_future"),
  ]);
  expect(events.at(-1)).toEqual(finish);
});

test("[ACPA36] what the agent says went wrong is the failure", async () => {
  const error = { code: -32603, message: "Internal error", data: { details: "429 from the model" } };
  const at = await acpStage({ turns: [{ steps: [says("A"), { error }] }] });
  expect((await at.turn([user("Hi")])).at(-1)).toMatchObject({
    code: "program.failed",
    message: expect.stringContaining("Internal error: 429 from the model."),
  });
  const stopped = await acpStage({ turns: [{ steps: [{ end: { stopReason: "cancelled" } }] }] });
  expect((await stopped.turn([user("Hi")])).at(-1)).toMatchObject({ code: "program.failed" });
});

// Beside other tests everything takes its time, also to end a process.
const WITHIN_MS = process.env.CI ? 5_000 : 1_000;

test("[ACPA37] a cancelled turn leaves nothing of the group, though it ignores signals", async () => {
  const at = await acpStage({ stubborn: true, turns: [{ steps: [says("A"), { hang: true }] }] });
  const abort = new AbortController();
  const events = [];
  let cancelledAt = 0;
  for await (const event of at.events([user("Hi")], { signal: abort.signal })) {
    events.push(event.type);
    if (event.type !== "text") continue;
    cancelledAt = performance.now();
    abort.abort();
  }
  expect(events).toEqual(["request", "text", "aborted"]);
  expect(performance.now() - cancelledAt).toBeLessThan(WITHIN_MS);
  const heard = await at.heard();
  const pid = heard.find(({ started }) => started !== undefined)?.started ?? 0;
  const child = heard.find((one) => one.child !== undefined)?.child ?? 0;
  expect(groupRuns(pid)).toBe(false);
  expect(() => process.kill(child, 0)).toThrow();
});

test("[ACPA37] a turn that is cancelled when it was handed over is not asked, nor is one before it begins", async () => {
  const at = await acpStage({ stubborn: true, turns: [{ steps: [says("A")] }] });
  const abort = new AbortController();
  const events = [];
  for await (const event of at.events([user("Hi")], { signal: abort.signal })) {
    events.push(event.type);
    abort.abort();
  }
  expect(events).toEqual(["request", "aborted"]);
  expect(await at.sent("session/prompt")).toEqual([]);
  expect(await at.turn([user("Hi")], { signal: AbortSignal.abort() })).toEqual([{ type: "aborted" }]);
  expect((await at.heard()).filter(({ started }) => started !== undefined)).toHaveLength(1);
});

test("[ACPA32] a kept one that ends without a word is followed by another, which is told all", async () => {
  const told = { when: "conversation_so_far", steps: [says("Again.")] };
  const dies = { when: "More", steps: [{ exit: { code: 3 } }] };
  const at = await acpStage({ turns: [told, dies, { steps: [says("Yes.")] }] });
  await at.turn([user("Hi")]);
  const session = { id: "s-1", told: 2, instructions: "" };
  const events = await at.turn([user("Hi"), assistant("Yes."), user("More")], { work: { session } });
  expect(events.at(-1)).toEqual(finish);
  expect(ofType(events, "request").map(({ delivery }) => delivery?.session)).toEqual(["kept", "new"]);
});

test("[ACPA32] its last words hold no token of the bridge", async () => {
  const words = "failed to connect with Bearer t7.bridge-secret-0123456789";
  const at = await acpStage({ turns: [{ steps: [{ exit: { code: 2, words } }] }] });
  const bridge = { url: "http://127.0.0.1:1/mcp", token: "t7.bridge-secret-0123456789" };
  const work = { bridge: { ...bridge, command: "heddle", args: ["mcp"], env: {} } };
  const [last] = (await at.turn([user("Hi")], { work })).slice(-1);
  expect(last).toMatchObject({
    code: "program.exited",
    message: expect.stringContaining("failed to connect"),
  });
  expect(JSON.stringify(last)).not.toContain("bridge-secret");
});

test("[ACPA38] an agent of another version is not understood", async () => {
  for (const initialized of [{ protocolVersion: 2 }, { protocolVersion: "x" }]) {
    const at = await acpStage({ initialized });
    expect(await at.turn([user("Hi")])).toEqual([
      expect.objectContaining({ type: "failed", code: "program.unintelligible" }),
    ]);
  }
  const nameless = await acpStage({ sessionId: "" });
  expect((await nameless.turn([user("Hi")])).at(-1)).toMatchObject({ code: "program.unintelligible" });
});

test("[ACPA39] a flood arrives whole", async () => {
  const at = await acpStage({ turns: [{ steps: [{ flood: 4_000 }] }] });
  const events = await at.turn([user("Hi")]);
  expect(textIn(events).length).toBe(4_000_000);
  expect(events.at(-1)).toEqual(finish);
});
