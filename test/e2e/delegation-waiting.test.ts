import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { sqliteDriver } from "../../src/base/index.js";
import { answerTo, playByAgent, requestsOf } from "../support/agents.js";
import {
  askedIn,
  atRest,
  childOf,
  delegates,
  delegationConfig,
  returnedTo,
  runsOf,
  saysAfter,
} from "../support/delegation.js";
import { holdStore } from "../support/hold-store.js";
import { reached } from "../support/mortal-gateway.js";
import { type RunScene, runStage, says, verifyAll } from "../support/runs.js";
import { onEitherStore } from "../support/stores.js";
import { Wire } from "../support/wire.js";

const ask = (content: string, more: object = {}) => delegates({ agentId: "notes", content, ...more });
const hangs = { steps: [{ text: "Well. " }, { hang: true as const }] };

onEitherStore("what a call waits for", (kind) => {
  const config = delegationConfig(["general", "notes", "other"], { limits: { maxDelegationDepth: 2 } });
  const stage = runStage(kind, { config });
  let gates = 0;
  const newGate = () => `waiting ${kind.name} ${++gates}`;

  async function statusOf(scene: RunScene, agent_id: string) {
    return (await runsOf(scene, agent_id)).map(({ status }) => status);
  }

  test("[DEL30] a timeout does not cancel the target; from then on it counts as async, and its result comes back", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "general" });
    const gate = newGate();
    playByAgent(scene.model, {
      general: [ask("slowly", { timeout: 0.2 }), "I go on", "thanks"],
      notes: [saysAfter(gate, "at last")],
    });
    await scene.answered(id, "go");
    const child = await childOf(scene, "notes", "running");
    expect(answerTo(scene.model, "general")).toEqual({
      mode: "sync",
      status: "timeout",
      agentId: "notes",
      sessionId: child.thread_id,
      sessionName: expect.any(String),
      created: true,
      responseId: child.id,
      timeoutSeconds: 0.2,
      message: "It had not ended after 0.2 seconds. It goes on; its result will come back to you.",
    });
    scene.model.open(gate);
    await returnedTo(scene, id);
    expect((await askedIn(scene, id)).at(-1)).toMatch(/slowly[\s\S]*at last/);
    expect((await scene.getRun(child.id)).status).toBe("completed");
    await verifyAll(scene);
  });

  test("[DEL31] one that ends at the very moment of the timeout is told once, never twice and never not", async () => {
    const scene = await stage.scene();
    const callers = await Promise.all(Array.from({ length: 12 }, () => scene.start({ agent_id: "general" })));
    scene.model.play((body) => {
      const { model, messages } = JSON.parse(body) as { model: string; messages: { content: string }[] };
      if (model === "notes") return { steps: [{ delay_ms: 60 + Math.random() * 120 }, { text: "answer" }] };
      return messages.at(-1)?.content === "go"
        ? ask("hurry", { timeout: 0.15, session: "create" })
        : says("I see");
    });
    await Promise.all(callers.map(({ id }) => scene.answered(id, "go")));
    await atRest(scene);
    const told = await reached(async () => {
      const all = await Promise.all(callers.map(({ id }) => outcomesIn(scene, id)));
      expect(all.filter((one) => one === "timeout")).toEqual([]);
      return all;
    });
    expect(told.filter((one) => one !== "complete" && one !== "timeout, returned")).toEqual([]);
    await atRest(scene);
    expect(await Promise.all(callers.map(({ id }) => outcomesIn(scene, id)))).toEqual(told);
  });

  /** How a thread heard of the only thing it asked for. */
  async function outcomesIn(scene: RunScene, id: string): Promise<string> {
    const messages = await scene.messages(id);
    const answered = messages.flatMap(({ toolCalls }) =>
      (toolCalls ?? []).map(({ output }) => (JSON.parse(String(output)) as { status: string }).status),
    );
    const returned = (await askedIn(scene, id)).filter((text) => text.startsWith("[agents_message]"));
    return [...answered, ...returned.map(() => "returned")].join(", ");
  }

  test("[DEL32] a busy target is waited for within the timeout: the message waits its turn there", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "general" });
    const { id: busy } = await scene.start({ agent_id: "notes" });
    const gate = newGate();
    playByAgent(scene.model, {
      notes: [saysAfter(gate, "for a person"), "for general"],
      general: [ask("when you can"), "done"],
    });
    await scene.startRun(busy, "mine first");
    const { run } = await scene.startRun(id, "go");
    expect(await childOf(scene, "notes", "queued")).toMatchObject({ thread_id: busy });
    scene.model.open(gate);
    await scene.ended(run.id);
    expect(answerTo(scene.model, "general")).toMatchObject({ status: "complete", response: "for general" });

    const other = newGate();
    playByAgent(scene.model, {
      notes: [saysAfter(other, "for a person"), "for general"],
      general: [ask("not for long", { timeout: 0.2 }), "done", "thanks"],
    });
    await scene.startRun(busy, "mine first again");
    await scene.answered(id, "go");
    expect(answerTo(scene.model, "general")).toMatchObject({ status: "timeout", created: false });
    expect(await childOf(scene, "notes", "queued")).toBeTruthy();
    scene.model.open(other);
    await returnedTo(scene, id);
  });

  test("[DEL33] a target that fails or is cancelled is an error of exactly status, agentId, sessionId, responseId and message", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "general" });
    const broken = { steps: [{ status: 400, body: { error: { message: "no such model" } } }] };
    playByAgent(scene.model, { general: [ask("fail"), "I see"], notes: [broken] });
    await scene.answered(id, "go");
    const failed = await childOf(scene, "notes", "failed");
    const facts = { agentId: "notes", sessionId: failed.thread_id };
    expect(answerTo(scene.model, "general")).toEqual({
      status: "failed",
      ...facts,
      responseId: failed.id,
      message: failed.error?.message,
    });
    expect(failed.error?.message).toMatch(/\S/);

    playByAgent(scene.model, { general: [ask("stop"), "I see"], notes: [hangs] });
    const { run } = await scene.startRun(id, "again");
    const child = await childOf(scene, "notes", "running");
    await scene.wire.result("run/cancel", { run_id: child.id });
    expect(await scene.ended(run.id)).toMatchObject({ status: "completed" });
    expect(answerTo(scene.model, "general")).toEqual({
      status: "cancelled",
      ...facts,
      responseId: child.id,
      message: "Its run was cancelled.",
    });
    expect((await scene.messages(id)).at(-1)).toMatchObject({ toolCalls: [{ status: "failed" }] });
    await verifyAll(scene);
  });

  test("[DEL34] cancelling a run cancels what it waits for, at work or queued, at every level, and nothing that it does not wait for", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "general" });
    const gate = newGate();
    playByAgent(scene.model, {
      general: [
        delegates(
          { agentId: "notes", content: "ask other", session: "create" },
          { agentId: "other", content: "alone", mode: "async", session: "create" },
        ),
      ],
      notes: [delegates({ agentId: "other", content: "you do it", session: "create" })],
      other: [saysAfter(gate, "done"), saysAfter(gate, "done")],
    });
    const { run } = await scene.startRun(id, "go");
    await reached(async () => expect(await statusOf(scene, "other")).toEqual(["running", "running"]));
    await scene.wire.result("run/cancel", { run_id: run.id });
    await reached(async () => expect(await statusOf(scene, "notes")).toEqual(["cancelled"]));
    const of = async (mode: string) =>
      (await runsOf(scene, "other")).filter(({ origin }) => origin?.mode === mode);
    await reached(async () => expect(await of("sync")).toMatchObject([{ status: "cancelled" }]));
    expect(await of("async")).toMatchObject([{ status: "running" }]);
    playByAgent(scene.model, { general: ["thanks"] });
    scene.model.open(gate);
    await returnedTo(scene, id);

    const busy = newGate();
    const { id: others } = await scene.start({ agent_id: "notes" });
    playByAgent(scene.model, {
      notes: [saysAfter(busy, "for a person")],
      general: [ask("queued", { session: others })],
    });
    await scene.startRun(others, "mine first");
    const second = await scene.startRun(id, "go");
    const child = await childOf(scene, "notes", "queued");
    await scene.wire.result("run/cancel", { run_id: second.run.id });
    await reached(async () => expect((await scene.getRun(child.id)).status).toBe("cancelled"));
    scene.model.open(busy);
    await atRest(scene);
    expect(
      requestsOf(scene.model, "notes").filter(({ messages }) => /queued/.test(JSON.stringify(messages))),
    ).toEqual([]);
    await verifyAll(scene);
  });

  test("[DEL35] a caller that is cancelled while it is still asking leaves nothing at work", async () => {
    const scene = await stage.scene();
    for (let at = 0; at < 8; at++) {
      const { id } = await scene.start({ agent_id: "general" });
      playByAgent(scene.model, { general: [ask("too late", { session: "create" })], notes: [hangs] });
      const { run } = await scene.startRun(id, "go");
      await scene.changed(run.id, ({ status }) => status === "running");
      await reached(async () =>
        expect((await scene.journal(run.id)).filter(({ type }) => type === "effect.receipt")).toHaveLength(1),
      );
      await scene.wire.result("run/cancel", { run_id: run.id });
      expect((await scene.getRun(run.id)).status).toBe("cancelled");
    }
    const runs = await atRest(scene);
    expect(runs.filter(({ status }) => status !== "cancelled")).toEqual([]);
  });

  test("[DEL37] what a command of a run delegates is the run's: cancelling the run cancels it", async () => {
    const scene = await stage.scene();
    const { workspace_id } = scene;
    const { id: thread_id } = await scene.start({ agent_id: "general" });
    playByAgent(scene.model, { general: [hangs], notes: [hangs] });
    const { run } = await scene.startRun(thread_id, "go");
    await scene.changed(run.id, ({ status }) => status === "running");
    const { url, app } = stage.gateway();
    const command = await Wire.open(url, app.gateway.access.issue({ workspace_id, thread_id }));
    const args = { agentId: "notes", content: "from a command" };
    const called = command.result("tool/call", { workspace_id, name: "agents_message", arguments: args });
    const child = await childOf(scene, "notes", "running");
    expect(child).toMatchObject({ parent_run_id: run.id, origin: { run_id: run.id, depth: 1 } });
    await scene.wire.result("run/cancel", { run_id: run.id });
    expect(await called).toMatchObject({ status: "failed" });
    await reached(async () => expect((await scene.getRun(child.id)).status).toBe("cancelled"));
    command.close();
    await atRest(scene);
  });

  test("[DEL36] a caller that is interrupted hears later of what goes on without it", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "general" });
    const { id: busy } = await scene.start({ agent_id: "notes" });
    playByAgent(scene.model, {
      notes: [{ steps: [{ hang: true }] }, "after the restart"],
      general: [ask("in its turn"), "thanks"],
    });
    const first = await scene.startRun(busy, "mine first");
    const { run } = await scene.startRun(id, "go");
    await childOf(scene, "notes", "queued");
    await stage.restart();
    const again = await stage.again(scene);
    expect(await again.getRun(first.run.id)).toMatchObject({ status: "interrupted" });
    expect(await again.getRun(run.id)).toMatchObject({ status: "interrupted" });
    await returnedTo(again, id);
    expect((await askedIn(again, id)).at(-1)).toMatch(/in its turn[\s\S]*after the restart/);
    await verifyAll(again);
  }, 30_000);
});

const locked = runStage(undefined, { config: delegationConfig(["general", "notes"]) });

/** How the file of the store has it, whatever a gateway remembers: whether a call waits, and where the run stands that it asked for. */
function onDisk(run_id: string): unknown {
  const file = sqliteDriver().open(join(locked.gateway().place.dataDir, "heddle.db"));
  try {
    return file
      .prepare("select d.mode, r.status from delegation d join run r on r.id = d.run_id where r.id = ?")
      .all(run_id)[0];
  } finally {
    file.close();
  }
}

/** The store must be held before the call's time is up, on a busy machine too. */
const HELD_WITHIN_S = 3;

test("[DEL39] a timeout that the store does not take is one all the same, and the result comes back once", {
  timeout: 40_000,
}, async () => {
  const scene = await locked.scene();
  const { id } = await scene.start({ agent_id: "general" });
  playByAgent(scene.model, {
    general: [ask("slowly", { timeout: HELD_WITHIN_S }), "I go on", "thanks"],
    notes: [saysAfter("locked once", "at last")],
  });
  const begun = performance.now();
  const { run } = await scene.startRun(id, "go");
  await childOf(scene, "notes", "running");
  await scene.model.request(1);
  const release = await holdStore(locked.gateway().place);
  // The first attempt is over, and what follows the answer still waits.
  await sleep(10_500 - (performance.now() - begun));
  await release();
  expect(await scene.ended(run.id)).toMatchObject({ status: "completed" });
  expect(answerTo(scene.model, "general")).toMatchObject({
    status: "timeout",
    timeoutSeconds: HELD_WITHIN_S,
  });
  scene.model.open("locked once");
  await returnedTo(scene, id);
  expect((await askedIn(scene, id)).slice(1)).toEqual([expect.stringMatching(/slowly[\s\S]*at last/)]);
  await verifyAll(scene);
});

test("[DEL39] it comes back also where the end of the target is the first that the store takes: no kill loses it", {
  timeout: 60_000,
}, async () => {
  const scene = await locked.scene();
  const { id } = await scene.start({ agent_id: "general" });
  playByAgent(scene.model, {
    general: [ask("slowly", { timeout: HELD_WITHIN_S }), "I go on", "thanks"],
    notes: [saysAfter("locked twice", "at last")],
  });
  const begun = performance.now();
  await scene.startRun(id, "go");
  const child = await childOf(scene, "notes", "running");
  await scene.model.request(1);
  const release = await holdStore(locked.gateway().place);
  // The second attempt is over too, and the third not due.
  await sleep(14_500 - (performance.now() - begun));
  await release();
  scene.model.open("locked twice");
  const ended = await reached(() => {
    const row = onDisk(child.id) as { status: string };
    expect(row.status).toBe("completed");
    return row;
  });
  expect(ended).toMatchObject({ mode: "async" });
  await reached(async () => expect(await askedIn(scene, id)).toHaveLength(2));
  await atRest(scene);
  expect((await askedIn(scene, id)).slice(1)).toEqual([expect.stringMatching(/slowly[\s\S]*at last/)]);
});
