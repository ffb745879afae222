import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Run } from "../../src/protocol/index.js";
import { askedIn, atRest, delegates, delegationConfig, runsOf } from "../support/delegation.js";
import type { ServerTurn } from "../support/model-server/script.js";
import { startModelServer } from "../support/model-server/server.js";
import { World } from "../support/moments.js";
import { reached } from "../support/mortal-gateway.js";
import { type RunScene, says, verifyAll } from "../support/runs.js";
import { temporaryDirectory } from "../support/stores.js";

interface Told {
  readonly role: string;
  readonly content: string;
}

interface Scenario {
  /** What each agent says follows from what it is told, so that it does not matter who asks it again. */
  readonly says: (agent: string, last: Told) => ServerTurn;
  act(scene: RunScene, run: Run): Promise<void>;
  /** What must hold in the end, whatever state it began with. Tried again until it holds. */
  holds(scene: RunScene, thread_id: string, what: string): Promise<void>;
}

/** Plays a scenario, and then lets a gateway take up every state that was on disk meanwhile. Answers how many there were. */
async function fromEveryMoment(scenario: Scenario): Promise<number> {
  const world = new World();
  const model = await startModelServer();
  onTestFinished(() => model.close());
  model.play((body) => {
    const { model: agent, messages } = JSON.parse(body) as { model: string; messages: Told[] };
    return scenario.says(agent, messages.at(-1) as Told);
  });
  const config = delegationConfig(["general", "notes", "other", "third"])(model.url);
  writeFileSync(join(world.parts.data, "heddle.config.json"), JSON.stringify(config));
  const { scene, stop } = await world.live(model);
  const thread = await scene.start({ agent_id: "general" });
  const stopKeeping = world.keepMoments();
  const { run } = await scene.startRun(thread.id, "go");
  await scenario.act(scene, run);
  await reached(() => scenario.holds(scene, thread.id, "without a kill"));
  await atRest(scene);
  stopKeeping();
  await stop();
  for (const [at, moment] of world.moments.entries()) {
    world.bringBack(moment);
    const taken = await world.live(model);
    if ((await taken.scene.runs()).length > 0) {
      const holds = () => scenario.holds(taken.scene, thread.id, `moment ${at}`);
      await reached(holds);
      await atRest(taken.scene);
      await holds();
    }
    await verifyAll(taken.scene);
    await taken.stop();
  }
  return world.moments.length;
}

/** What became of the calls of a thread, and which results came back to it. */
async function heardIn(scene: RunScene, thread_id: string) {
  const messages = await scene.messages(thread_id);
  const calls = messages.flatMap(({ toolCalls }) =>
    (toolCalls ?? []).map(({ output }) => JSON.parse(String(output)) as { agentId: string; status: string }),
  );
  const returned = (await askedIn(scene, thread_id)).flatMap(
    (text) => /^\[agents_message\] (\w+) has/.exec(text)?.[1] ?? [],
  );
  return { calls: Object.fromEntries(calls.map((call) => [call.agentId, call.status])), returned };
}

const threeWays = delegates(
  { agentId: "notes", content: "and wait", session: "create" },
  { agentId: "other", content: "in the background", mode: "async" },
  { agentId: "third", content: "not for long", timeout: 0.1 },
);

test("[DEL60] sync, async and past its timeout: from every state on disk each is done once, and told once", async () => {
  const moments = await fromEveryMoment({
    says(agent, { role, content }) {
      if (agent === "general") return role === "user" && content === "go" ? threeWays : says("I see.");
      return { steps: [{ delay_ms: agent === "third" ? 250 : 20 }, { text: `from ${agent}` }] };
    },
    act: async () => {},
    async holds(scene, thread_id, what) {
      for (const agent of ["notes", "other", "third"]) {
        const statuses = (await runsOf(scene, agent)).map(({ status }) => status);
        expect(statuses, `${what}: ${agent}`).toEqual(["completed"]);
      }
      const { calls, returned } = await heardIn(scene, thread_id);
      expect(calls, what).toMatchObject({ notes: "complete", other: "started" });
      const third = returned.filter((agent) => agent === "third").length;
      expect(`${calls.third} ${third}`, what).toMatch(/^(complete 0|timeout 1)$/);
      expect(returned.filter((agent) => agent !== "third")).toEqual(["other"]);
    },
  });
  // It would prove little if nearly nothing had been seen on the way.
  expect(moments).toBeGreaterThan(20);
}, 180_000);

test("[DEL61] a caller that is cancelled: from every state on disk what it waited for ends with it, or both go on", async () => {
  const waiting = join(temporaryDirectory(), "waiting");
  writeFileSync(waiting, "");
  const moments = await fromEveryMoment({
    says(agent, { content }) {
      if (agent === "general")
        return content === "go" ? delegates({ agentId: "notes", content: "work" }) : says("I see.");
      return { steps: [{ while_there: waiting }, { text: "done" }] };
    },
    async act(scene, run) {
      await reached(async () => expect(await runsOf(scene, "notes")).toMatchObject([{ status: "running" }]));
      await scene.wire.result("run/cancel", { run_id: run.id });
      await atRest(scene);
      rmSync(waiting);
    },
    async holds(scene, _thread_id, what) {
      const [caller] = await runsOf(scene, "general");
      const children = await runsOf(scene, "notes");
      expect(children.length, what).toBeLessThanOrEqual(1);
      for (const { status } of children) expect(status, what).toBe(caller?.status);
      expect(["completed", "cancelled"], what).toContain(caller?.status);
    },
  });
  expect(moments).toBeGreaterThan(10);
}, 180_000);
