import { spawnSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { Message, Run } from "../../src/protocol/index.js";
import type { ServerStep, ServerTurn } from "../support/model-server/script.js";
import { MortalGateway, reached } from "../support/mortal-gateway.js";
import type { RunScene } from "../support/runs.js";

/** Each costs the start of a gateway. The full proof, HEDDLE_TEST_KILLS=200, takes a few minutes. */
const KILLS = Number(process.env.HEDDLE_TEST_KILLS ?? 6);
const THREADS = 3;

test(`[RCV21] killed at ${KILLS} random moments of runs with tools: nothing acknowledged is lost or doubled, and everything ends`, async () => {
  const gateway = await MortalGateway.make();
  onTestFinished(() => gateway.remove());
  gateway.model.play(answerTo);
  const clients = Array.from({ length: THREADS }, (_, at) => new Client(`t${at}`));
  const seen = new Set<string>();
  for (let kill = 0; kill < KILLS; kill++) {
    // Some are killed while they start and take up what the one before left.
    if (kill % 4 === 3) await gateway.startAndKill(Math.random() * 700);
    const scene = await gateway.start();
    await check(gateway, scene, { clients, seen });
    for (const client of clients) void client.talk(scene);
    await sleep(Math.random() * 300);
    // On a machine that is busy nothing may have been acknowledged by then, and a kill shows nothing.
    if (kill % 2 === 0) await reached(() => expect(acknowledged(clients)).toBeGreaterThan(kill / 2));
    await gateway.kill();
  }
  const scene = await gateway.start();
  await check(gateway, scene, { clients, seen: new Set() });
  for (const client of clients) await client.sendAgain(scene);
  await check(gateway, scene, { clients, seen });
  expect(acknowledged(clients)).toBeGreaterThan(KILLS / 2);
  await gateway.kill();
  expect(processesWith(gateway.scratch)).toEqual([]);
}, 1_200_000);

function acknowledged(clients: readonly Client[]): number {
  return clients.reduce((sum, client) => sum + client.acknowledged.length, 0);
}

/** Sends messages to a thread of its own, one after the other, and never waits for an answer. */
class Client {
  readonly acknowledged: string[] = [];
  readonly steered: string[] = [];
  thread: string | undefined;
  #next = 1;

  constructor(readonly name: string) {}

  /** Until the connection is gone. */
  async talk(scene: RunScene): Promise<void> {
    while (await this.sendAgain(scene)) await sleep(Math.random() * 60);
  }

  /** The message that was not acknowledged yet, with the key it was sent with. */
  async sendAgain(scene: RunScene): Promise<boolean> {
    this.thread ??= (await whileOpen(scene, () => scene.start()))?.id;
    const { thread } = this;
    if (thread === undefined) return false;
    const content = `${this.name}m${this.#next}.`;
    const started = await whileOpen(scene, () =>
      scene.startRun(thread, content, { idempotency_key: content }),
    );
    if (!started) return false;
    this.acknowledged.push(started.message.id);
    this.#next += 1;
    if (this.#next % 3 === 0) await this.#steer(scene, started.run.id);
    return true;
  }

  async #steer(scene: RunScene, run_id: string): Promise<void> {
    const answer = await whileOpen(scene, () =>
      scene.wire.call("run/steer", { run_id, content: "Mind this." }),
    );
    if (answer?.result) this.steered.push(answer.result.message.id);
  }
}

/** What is answered before the connection is gone; undefined: it is gone. */
async function whileOpen<T>({ wire }: RunScene, work: () => Promise<T>): Promise<T | undefined> {
  if (wire.closeCode !== undefined) return undefined;
  const gone = new Promise<undefined>((done) => wire.socket.once("close", () => done(undefined)));
  return Promise.race([work(), gone]);
}

/** What must hold whenever a gateway has started, whatever happened to those before it. */
async function check(
  gateway: MortalGateway,
  scene: RunScene,
  { clients, seen }: { clients: readonly Client[]; seen: Set<string> },
): Promise<void> {
  const { workspace_id } = scene;
  const unfinished = { workspace_id, status: ["queued" as const, "running" as const, "waiting" as const] };
  await reached(async () => expect((await scene.wire.result("run/list", unfinished)).data).toEqual([]));
  for (const { thread, acknowledged, steered } of clients) {
    if (thread === undefined) continue;
    const messages = await scene.messages(thread);
    const runs = await allRuns(scene, thread);
    const ids = messages.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(steered.filter((id) => !ids.includes(id))).toEqual([]);
    // In their order, and behind them at most the one whose acknowledgement was lost.
    const asked = ids.filter((id) => runs.some(({ user_message_id }) => user_message_id === id));
    expect(asked.slice(0, acknowledged.length)).toEqual(acknowledged);
    expect(asked.length - acknowledged.length).toBeLessThanOrEqual(1);
    for (const run of runs.filter(({ id }) => !seen.has(id))) {
      checkRun(run, messages);
      expect(await scene.wire.result("run/replay", { run_id: run.id })).toMatchObject({ verified: true });
      seen.add(run.id);
    }
  }
  const begun = gateway.trace("test_write").filter((line) => line.startsWith("begin"));
  expect(new Set(begun).size).toBe(begun.length);
}

async function allRuns(scene: RunScene, thread_id: string): Promise<Run[]> {
  const { workspace_id } = scene;
  const runs: Run[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await scene.wire.result("run/list", { workspace_id, thread_id, limit: 500, cursor });
    runs.push(...page.data);
    cursor = page.next_cursor;
    if (cursor === undefined) return runs;
  }
}

/** A run that was answered says so in the log; of one that was interrupted, what it said is there. */
function checkRun(run: Run, messages: readonly Message[]): void {
  const answers = messages.filter(({ role, run_id }) => role === "agent" && run_id === run.id);
  const last = answers.at(-1);
  expect(["completed", "interrupted"]).toContain(run.status);
  if (run.status === "completed") expect(last?.stopReason).toBe("end_turn");
  else expect(last?.stopReason).toBe("interrupted");
  const whole = answers.flatMap(({ content }) => content.flatMap(({ text }) => (text ? [String(text)] : [])));
  if (run.status === "completed") expect(whole.join("")).toContain("That is all.");
}

interface Told {
  readonly role: string;
  readonly content: string;
}

/** What the model says follows from what it was told since the last message of a person. */
function answerTo(body: string): ServerTurn {
  const { messages } = JSON.parse(body) as { messages: Told[] };
  const asked = messages.findLastIndex(({ role, content }) => role === "user" && content !== "Mind this.");
  const since = messages.slice(asked + 1);
  const word = messages[asked]?.content ?? "";
  const number = Number(/\d+\.$/.exec(word)?.[0] ?? 0);
  const asks = since.filter(({ role }) => role === "assistant").length;
  const unsure = since.some(({ content }) => content?.includes("was not called again"));
  if (unsure || asks >= number % 3) return { steps: lastWords(number) };
  const id = `${word}${asks}`;
  return {
    steps: [{ text: "First I look. " }, ...["test_write", "test_look"].map((name) => call(name, id))],
  };
}

/** Some come slowly enough that a part of them is kept before the end. */
function lastWords(number: number): ServerStep[] {
  const pause = { delay_ms: number % 4 === 0 ? 300 : number % 10 };
  return [{ text: "Well. " }, pause, { text: ["That is", " all."] }];
}

function call(name: string, id: string): ServerStep {
  const given = { id, ms: Math.floor(Math.random() * 20) };
  return { tool_call: { id: `${name}_${id.replace(/\W/g, "_")}`, name, arguments: JSON.stringify(given) } };
}

/** Programs that are still there and were started with a word. */
function processesWith(word: string): string[] {
  const { stdout } = spawnSync("ps", ["-A", "-o", "args="], { encoding: "utf8" });
  return stdout.split("\n").filter((line) => line.includes(word));
}
