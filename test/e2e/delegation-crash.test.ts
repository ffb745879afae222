import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Run } from "../../src/protocol/index.js";
import { askedIn, atRest, delegates, delegationConfig } from "../support/delegation.js";
import type { ServerTurn } from "../support/model-server/script.js";
import { MortalGateway, reached } from "../support/mortal-gateway.js";
import { type RunScene, says, verifyAll } from "../support/runs.js";

/** Each costs the start of a gateway. */
const KILLS = Number(process.env.HEDDLE_TEST_KILLS ?? 4);
const THREADS = 3;

test(`[DEL66] killed at ${KILLS} random moments of sync and async delegations: each is done once and told once, and everything ends`, async () => {
  const gateway = await MortalGateway.make();
  onTestFinished(() => gateway.remove());
  const config = delegationConfig(["general", "notes", "other"])(gateway.model.url);
  writeFileSync(join(gateway.place.dataDir, "heddle.config.json"), JSON.stringify(config));
  gateway.model.play(answerTo);
  const threads: string[] = [];
  let sent = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    // Some are killed while they start and take up what the one before left.
    if (kill % 4 === 3) await gateway.startAndKill(300 + Math.random() * 700);
    const scene = await gateway.start();
    while (threads.length < THREADS) threads.push((await scene.start({ agent_id: "general" })).id);
    for (const [at, thread] of threads.entries())
      void send(scene, thread, () => `t${at}m${++sent}.`).catch(() => {});
    await sleep(50 + Math.random() * 400);
    // On a machine that is busy nothing may have been handed on by then, and a kill shows nothing.
    if (kill % 2 === 0)
      await reached(async () => expect((await delegated(scene)).length).toBeGreaterThan(kill / 2));
    await gateway.kill();
  }
  const scene = await gateway.start();
  await check(scene, threads);
  await verifyAll(scene);
  expect((await delegated(scene)).length).toBeGreaterThan(KILLS / 2);
  await gateway.kill();
  // Nothing comes back a second time.
  await check(await gateway.start(), threads);
}, 600_000);

async function send(scene: RunScene, thread_id: string, next: () => string): Promise<void> {
  for (;;) {
    await scene.startRun(thread_id, next());
    await sleep(80 + Math.random() * 200);
  }
}

async function delegated(scene: RunScene): Promise<Run[]> {
  const all: Run[] = [];
  for (let cursor: string | undefined; ; ) {
    const { workspace_id } = scene;
    const page = await scene.wire.result("run/list", { workspace_id, limit: 500, cursor });
    all.push(...page.data.filter(({ origin }) => origin?.kind === "delegated"));
    cursor = page.next_cursor;
    if (cursor === undefined) return all;
  }
}

async function check(scene: RunScene, callers: readonly string[]): Promise<void> {
  const unfinished = { workspace_id: scene.workspace_id, status: ["queued", "running", "waiting"] as never };
  const settled = async () => {
    expect((await scene.wire.result("run/list", unfinished)).data).toEqual([]);
    await checkTold(scene, callers);
  };
  // What waits in a queue takes its time.
  await vi.waitFor(settled, { timeout: 120_000, interval: 100 });
  await atRest(scene);
  await checkTold(scene, callers);
  const { threads } = await scene.tree();
  expect(threads.filter(({ status }) => status !== "idle")).toEqual([]);
}

interface Outcome {
  readonly status: string;
  readonly responseId: string;
}

/** Every delegated run was asked for by one call, and heard of once: by that call, or as a result that came back. */
async function checkTold(scene: RunScene, callers: readonly string[]): Promise<void> {
  const children = await delegated(scene);
  const asked = (
    await Promise.all(
      [...new Set(children.map(({ thread_id }) => thread_id))].map((id) => askedIn(scene, id)),
    )
  ).flat();
  expect(new Set(asked).size).toBe(asked.length);
  const outcomes: Outcome[] = [];
  const returned: string[] = [];
  for (const id of callers) {
    for (const { toolCalls } of await scene.messages(id))
      outcomes.push(...(toolCalls ?? []).map(({ output }) => JSON.parse(String(output)) as Outcome));
    returned.push(
      ...(await askedIn(scene, id)).flatMap((text) => /^responseId: (\S+)$/m.exec(text)?.[1] ?? []),
    );
  }
  const heard = children.map(({ id }) => {
    const called = outcomes.filter(({ responseId }) => responseId === id).map(({ status }) => status);
    return [...called, ...returned.filter((one) => one === id).map(() => "returned")].join(", ");
  });
  const right = /^(complete|interrupted|timeout, returned|started, returned)$/;
  expect(heard.filter((one) => !right.test(one))).toEqual([]);
}

interface Told {
  readonly role: string;
  readonly content: string;
}

/** What an agent says follows from what it was told. */
function answerTo(body: string): ServerTurn {
  const { model, messages } = JSON.parse(body) as { model: string; messages: Told[] };
  const { role, content } = messages.at(-1) as Told;
  if (model !== "general") return { steps: [{ delay_ms: Math.random() * 150 }, { text: `${model} did it` }] };
  const number = Number(/^t\dm(\d+)\.$/.exec(content)?.[1] ?? Number.NaN);
  if (role !== "user" || Number.isNaN(number)) return says("That is all.");
  const ask = (agentId: string, more: object = {}) => ({
    agentId,
    content: `${agentId}: ${content}`,
    ...more,
  });
  const background = { mode: "async" as const };
  if (number % 4 === 0) return delegates(ask("notes"));
  if (number % 4 === 1) return delegates(ask("notes", background));
  if (number % 4 === 2) return delegates(ask("notes", { timeout: 0.08, session: "create" }));
  return delegates(ask("notes", { session: "create" }), ask("other", background));
}
