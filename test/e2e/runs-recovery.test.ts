import { afterAll, beforeAll, expect, test } from "vitest";
import type { Message } from "../../src/protocol/index.js";
import { holdStore } from "../support/hold-store.js";
import type { ServerTurn } from "../support/model-server/script.js";
import { endOf, MortalGateway, reached } from "../support/mortal-gateway.js";
import { calls, type RunScene, says, verifyAll } from "../support/runs.js";
import { onEachStore } from "../support/stores.js";

/** What the model says in each thread, known by a word of its first message. */
const turns = (holding: string): Record<string, ServerTurn[]> => ({
  before: [says("Answer to before.")],
  logged: [says("Answer to logged.")],
  silent: [{ steps: [{ hang: true }] }, says("Answer to silent.")],
  partial: [
    calls("system_time"),
    { steps: [{ text: ["Half ", "an"] }, { hang: true }] },
    says("Partly heard."),
  ],
  thought: [{ steps: [{ thinking: "Let me see" }, { hang: true }] }],
  answered: [{ steps: [{ while_there: holding }, { text: "A whole answer." }] }],
  cancelled: [{ steps: [{ text: "So far" }, { hang: true }] }],
  writing: [calls("test_write", { id: "w1" }), says("After writing.")],
  looking: [calls("test_look", { id: "l1" }), says("After looking.")],
  mixed: [mixedCalls, says("After all three.")],
  queue: [{ steps: [{ hang: true }] }, says("One."), says("Two."), says("Three.")],
  steered: [{ steps: [{ hang: true }] }, says("First part."), says("Second part.")],
  late: [{ steps: [{ text: "Begun" }, { hang: true }] }],
});

const mixedCalls: ServerTurn = {
  steps: ["system_time", "test_write", "test_look"].map((name, at) => ({
    tool_call: { id: `call_${at}`, name, arguments: at === 0 ? "{}" : JSON.stringify({ id: `m${at}` }) },
  })),
};

type Word = keyof ReturnType<typeof turns>;

onEachStore("a gateway that was killed in the middle of everything", (kind) => {
  let gateway: MortalGateway;
  let scene: RunScene;
  const threads: Record<Word, string> = {};
  const runs: Record<Word, string[]> = {};

  async function ask(word: Word, more = "", idempotency_key?: string): Promise<void> {
    threads[word] ??= (await scene.start()).id;
    const key = idempotency_key === undefined ? {} : { idempotency_key };
    const { run } = await scene.startRun(threads[word], `#${word}${more}`, key);
    runs[word] = [...(runs[word] ?? []), run.id];
  }

  const runOf = (word: Word, at = 0) => runs[word]?.[at] as string;
  const threadOf = (word: Word) => threads[word] as string;
  const requests = (word: Word) =>
    gateway.model.requests.filter(({ body }) => body.includes(`#${word}`)).map(({ body }) => body);
  const types = async (word: Word) => (await scene.journal(runOf(word))).map(({ type }) => type);
  const logged = (word: Word) => scene.lines(threadOf(word)).length;

  /** Brings every thread to the moment it is about. */
  async function prepare(): Promise<void> {
    for (const name of ["test_write", "test_look", "model"] as const) gateway.hold(name);
    const all = Object.entries(turns(gateway.holding("model")));
    gateway.plays(...all.flatMap(([word, list]) => list.map((turn) => ({ ...turn, when: `#${word}` }))));
    for (const word of all.map(([name]) => name).slice(2)) await ask(word, "", `key of ${word}`);
    await ask("queue", " second");
    await ask("queue", " third");
    await reached(async () => {
      for (const word of ["partial", "thought", "cancelled", "late"])
        expect(await types(word)).toContain("effect.progress");
      for (const word of ["silent", "answered", "queue", "steered"]) expect(requests(word)).toHaveLength(1);
      expect(gateway.trace("test_write").toSorted()).toEqual(["begin m1", "begin w1"]);
      expect(gateway.trace("test_look").toSorted()).toEqual(["begin l1", "begin m2"]);
      expect((await types("mixed")).filter((type) => type === "effect.receipt")).toHaveLength(2);
    });
    for (const word of ["steered", "late"])
      await scene.wire.result("run/steer", { run_id: runOf(word), content: `and mind this` });
    gateway.hold("prompt", "#before", "#logged");
    await ask("before");
    await ask("logged");
  }

  /** Messages come into the logs, and nothing of it can be committed any more. */
  async function killAtTheLogs(): Promise<void> {
    const letGo = await holdStore(gateway.place);
    gateway.hold("prompt", "#before");
    gateway.release("model");
    scene.wire.call("run/cancel", { run_id: runOf("cancelled") }).catch(() => {});
    await reached(() => expect(["logged", "answered", "cancelled"].map(logged)).toEqual([1, 2, 2]));
    await gateway.kill();
    await letGo();
  }

  beforeAll(async () => {
    gateway = await MortalGateway.make(kind);
    scene = await gateway.start();
    await prepare();
    await killAtTheLogs();
    gateway.release("prompt");
    gateway.release("test_look");
    scene = await gateway.start();
  });
  afterAll(() => gateway?.remove());

  /** The texts of a thread's messages with who said them, and why an answer ended. */
  async function said(word: Word): Promise<string[]> {
    return (await scene.messages(threadOf(word))).map(inShort);
  }

  test("[RCV1] before the message was in the log: it is written once, and answered", async () => {
    expect(await endOf(scene, runOf("before"))).toMatchObject({ status: "completed" });
    expect(await said("before")).toEqual(["user: #before", "agent (end_turn): Answer to before."]);
  });

  test("[RCV2] the message was in the log and nothing of it was committed: it stands there once, and is answered", async () => {
    expect(await endOf(scene, runOf("logged"))).toMatchObject({ status: "completed" });
    expect(await said("logged")).toEqual(["user: #logged", "agent (end_turn): Answer to logged."]);
    expect(requests("logged")).toHaveLength(1);
  });

  test("[RCV3] asked, and nothing had come: the model is asked again, with the same bytes", async () => {
    expect(await endOf(scene, runOf("silent"))).toMatchObject({ status: "completed", steps: 1 });
    const [first, second, ...more] = requests("silent");
    expect(second).toBe(first);
    expect(more).toEqual([]);
    expect(await said("silent")).toEqual(["user: #silent", "agent (end_turn): Answer to silent."]);
    const { request } = await scene.context(runOf("silent"));
    expect(request).toMatchObject({ exact: true, body: second });
  });

  test("[RCV4] text had come: the run ends as interrupted, with what there is of its answer, and nothing is asked again", async () => {
    const run = await endOf(scene, runOf("partial"));
    expect(run).toMatchObject({ status: "interrupted", steps: 2, error: { code: "run.interrupted" } });
    expect(await said("partial")).toEqual(["user: #partial", "agent (interrupted): [call] Half an"]);
    expect(requests("partial")).toHaveLength(2);
    const [, answer] = await scene.messages(threadOf("partial"));
    expect(answer).toMatchObject({ id: run.agent_message_id, toolCalls: [{ status: "completed" }] });
    await endOf(scene, runOf("thought"));
    expect(await said("thought")).toEqual(["user: #thought", "agent (interrupted): (Let me see)"]);
  });

  test("[RCV5] the answer was in the log and the end was not committed: the run is completed, and nothing is doubled", async () => {
    const run = await endOf(scene, runOf("answered"));
    expect(run).toMatchObject({ status: "completed", steps: 1 });
    expect(run.error).toBeUndefined();
    expect(await said("answered")).toEqual(["user: #answered", "agent (end_turn): A whole answer."]);
    expect(requests("answered")).toHaveLength(1);
    expect((await scene.get(threadOf("answered"))).message_count).toBe(2);
  });

  test("[RCV6] a run ends as the log says that it did", async () => {
    expect(await endOf(scene, runOf("cancelled"))).toMatchObject({ status: "cancelled" });
    expect(await said("cancelled")).toEqual(["user: #cancelled", "agent (cancelled): So far"]);
    expect(requests("cancelled")).toHaveLength(1);
  });

  test("[RCV7] a tool that is not safe to repeat: its call is recorded as interrupted, the model is told, and it ran once", async () => {
    expect(await endOf(scene, runOf("writing"))).toMatchObject({ status: "completed", steps: 2 });
    expect(gateway.trace("test_write").toSorted()).toEqual(["begin m1", "begin w1"]);
    const receipts = (await scene.journal(runOf("writing"))).filter(({ type }) => type === "effect.receipt");
    expect(receipts.map(({ status }) => status)).toEqual(["ok", "interrupted", "ok"]);
    expect(toolMessages(requests("writing")[1])).toEqual([
      { id: "call_1", content: expect.stringContaining("may or may not have had its effect") },
    ]);
    const [, answer] = await scene.messages(threadOf("writing"));
    expect(answer?.toolCalls).toMatchObject([
      { status: "failed", output: expect.stringContaining("Interrupted") },
    ]);
  });

  test("[RCV8] a tool that is safe to repeat is called again", async () => {
    expect(await endOf(scene, runOf("looking"))).toMatchObject({ status: "completed", steps: 2 });
    const traces = gateway.trace("test_look").filter((line) => line.endsWith("l1"));
    expect(traces).toEqual(["begin l1", "begin l1", "end l1"]);
    expect(toolMessages(requests("looking")[1])).toEqual([{ id: "call_1", content: "traced l1" }]);
  });

  test("[RCV9] of several calls, those that were answered keep their answer, and all are told in the order they were asked", async () => {
    expect(await endOf(scene, runOf("mixed"))).toMatchObject({ status: "completed", steps: 2 });
    expect(toolMessages(requests("mixed")[1])).toEqual([
      { id: "call_0", content: expect.stringContaining("unix") },
      { id: "call_1", content: expect.stringContaining("Interrupted") },
      { id: "call_2", content: "traced m2" },
    ]);
    const receipts = (await scene.journal(runOf("mixed"))).filter(({ type }) => type === "effect.receipt");
    expect(receipts.map(({ status }) => status)).toEqual(["ok", "ok", "interrupted", "ok", "ok"]);
  });

  test("[RCV10] runs that waited are carried out after it, in their order", async () => {
    for (const at of [0, 1, 2])
      expect(await endOf(scene, runOf("queue", at))).toMatchObject({ status: "completed" });
    expect(await said("queue")).toEqual([
      "user: #queue",
      "agent (end_turn): One.",
      "user: #queue second",
      "agent (end_turn): Two.",
      "user: #queue third",
      "agent (end_turn): Three.",
    ]);
  });

  test("[RCV11] what was steered is told with the next step; when there is none, it stands in the log", async () => {
    expect(await endOf(scene, runOf("steered"))).toMatchObject({ status: "completed", steps: 2 });
    expect(await said("steered")).toEqual([
      "user: #steered",
      "agent (steered): First part.",
      "user: and mind this",
      "agent (end_turn): Second part.",
    ]);
    const [first, again, next] = requests("steered");
    expect(again).toBe(first);
    expect(next).toContain("and mind this");
    expect(await endOf(scene, runOf("late"))).toMatchObject({ status: "interrupted" });
    expect(await said("late")).toEqual(["user: #late", "agent (interrupted): Begun", "user: and mind this"]);
  });

  test("[RCV12] a client that sends its message again gets the run it began", async () => {
    for (const word of ["silent", "partial", "writing"]) {
      const { run, message } = await scene.startRun(threadOf(word), `#${word}`, {
        idempotency_key: `key of ${word}`,
      });
      expect(run.id).toBe(runOf(word));
      expect(message.id).toBe(run.user_message_id);
    }
  });

  test("[RCV13] afterwards nothing says that it is running, and the next message is answered with all that was said", async () => {
    for (const list of Object.values(runs)) for (const id of list) await endOf(scene, id);
    const { workspace_id } = scene;
    const busy = await scene.wire.result("run/list", {
      workspace_id,
      status: ["queued", "running", "waiting"],
    });
    expect(busy.data).toEqual([]);
    expect((await scene.list()).map(({ status }) => status)).toEqual(Object.keys(runs).map(() => "idle"));
    const run = await scene.ask(threadOf("partial"), "And now?");
    expect(run).toMatchObject({ status: "completed", number: 2 });
    const { messages } = JSON.parse(requests("partial").at(-1) ?? "") as { messages: Told[] };
    expect(messages.filter(({ role }) => role !== "system").map(toldInShort)).toEqual([
      "user: #partial",
      "assistant: [call_1]",
      "tool: call_1",
      "assistant: Half an",
      "user: And now?",
    ]);
  });

  test("[RCV14] every run is proven by its record, however it ended", async () => {
    for (const list of Object.values(runs)) for (const id of list) await endOf(scene, id);
    await verifyAll(scene);
  });
});

interface Told {
  readonly role: string;
  readonly content: string;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { readonly id: string }[];
}

function toldInShort({ role, content, tool_call_id, tool_calls }: Told): string {
  const calls = tool_calls?.map(({ id }) => `[${id}]`).join(" ");
  return `${role}: ${calls ?? tool_call_id ?? content}`;
}

/** The results of tools in a request, in order. */
function toolMessages(body: string | undefined): { id: string | undefined; content: string }[] {
  const { messages } = JSON.parse(body ?? "{}") as { messages: Told[] };
  return messages
    .filter(({ role }) => role === "tool")
    .map(({ tool_call_id, content }) => ({ id: tool_call_id, content }));
}

function inShort({ role, content, stopReason }: Message): string {
  const texts = content.map((block) => {
    if (block.type === "tool_call_ref") return "[call]";
    return block.type === "thinking" ? `(${block.text})` : String(block.text);
  });
  return `${role}${stopReason === undefined ? "" : ` (${stopReason})`}: ${texts.join(" ")}`;
}
