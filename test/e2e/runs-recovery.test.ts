import { afterAll, beforeAll, expect, test } from "vitest";
import type { Message, Run } from "../../src/protocol/index.js";
import { holdStore } from "../support/hold-store.js";
import { endOf, MortalGateway, reached } from "../support/mortal-gateway.js";
import type { ServerTurn } from "../support/model-server/script.js";
import { calls, type RunScene, says, verifyAll } from "../support/runs.js";
import { onEachStore } from "../support/stores.js";

/** What the model says in each thread, known by a word of its first message. */
const turns = (holding: string): Record<string, ServerTurn[]> => ({
  before: [says("Answer to before.")],
  logged: [says("Answer to logged.")],
  silent: [{ steps: [{ hang: true }] }, says("Answer to silent.")],
  partial: [calls("system_time"), { steps: [{ text: ["Half ", "an"] }, { hang: true }] }, says("Partly heard.")],
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

  test("x", async () => {
    for (const word of Object.keys(runs)) {
      const out: unknown[] = [];
      for (const id of runs[word] ?? []) {
        const run = await endOf(scene, id).catch(() => scene.getRun(id));
        out.push(run.status, run.error);
      }
      console.log(word, out, await said(word), requests(word).length);
      for (const id of runs[word] ?? []) console.log(JSON.stringify(await scene.wire.call("run/replay", { run_id: id }).then((a) => a.result ?? a.error)));
    }
    console.log(gateway.trace("test_write"), gateway.trace("test_look"));
  });
});

function inShort({ role, content, stopReason }: Message): string {
  const texts = content.map((block) => {
    if (block.type === "tool_call_ref") return "[call]";
    return block.type === "thinking" ? `(${block.text})` : String(block.text);
  });
  return `${role}${stopReason === undefined ? "" : ` (${stopReason})`}: ${texts.join(" ")}`;
}
