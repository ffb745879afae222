import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { agentNamed, answerTo, playByAgent } from "../support/agents.js";
import { delegates } from "../support/delegation.js";
import { answer, ExternalAgent, externalEntry, type PostedRequest } from "../support/external-agent.js";
import { endOf, MortalGateway, reached } from "../support/mortal-gateway.js";
import { type RunScene, verifyAll } from "../support/runs.js";
import { onEitherStore } from "../support/stores.js";

onEitherStore("external agents and a gateway that is killed", (kind) => {
  let gateway: MortalGateway;
  let agent: ExternalAgent;
  let scene: RunScene;

  beforeAll(async () => {
    agent = await ExternalAgent.start();
    gateway = await MortalGateway.make(kind);
    const config = { agents: [externalEntry(agent.url), agentNamed(gateway.model.url, "general")] };
    writeFileSync(join(gateway.place.dataDir, "heddle.config.json"), JSON.stringify(config));
    scene = await gateway.start();
  });
  beforeEach(() => agent.forget());
  afterAll(async () => {
    await gateway?.remove();
    await agent?.close();
  });

  async function killAndStart(): Promise<void> {
    await gateway.kill();
    scene = await gateway.start();
  }
  /** The port is another after a restart: what the agent has is the path. */
  const answerNow = ({ body }: PostedRequest, said: object) => {
    const { pathname } = new URL(body.callbackUrl);
    const { origin } = new URL(scene.wire.socket.url.replace("ws:", "http:"));
    return answer({ body: { ...body, callbackUrl: `${origin}${pathname}` } }, said);
  };
  const texts = async (thread_id: string) =>
    (await scene.messages(thread_id)).map(({ content }) => content.map(({ text }) => text).join(""));
  const statusIs = (run_id: string, status: string) =>
    reached(async () => expect((await scene.getRun(run_id)).status).toBe(status));

  test("[EXT40] a message that was taken before a kill waits after it, is not posted again, and is answered", async () => {
    const { id } = await scene.start();
    const { run } = await scene.startRun(id, "before");
    const post = await agent.posted(0);
    await scene.changed(run.id, ({ status }) => status === "waiting");
    await killAndStart();
    await killAndStart();
    expect(await scene.getRun(run.id)).toMatchObject({ status: "waiting" });
    expect((await scene.get(id)).status).toBe("waiting");
    expect((await answerNow(post, { text: "after" })).status).toBe(200);
    expect(await endOf(scene, run.id)).toMatchObject({ status: "completed" });
    expect(agent.posts).toHaveLength(1);
    expect(await texts(id)).toEqual(["before", "after"]);
    await verifyAll(scene);
  });

  test("[EXT41] killed while it was posting: the message is posted again under the same key, and the run waits", async () => {
    agent.react = () => new Promise(() => {});
    const { id } = await scene.start();
    const { run } = await scene.startRun(id, "twice");
    await agent.posted(0);
    agent.react = () => ({ status: 202 });
    await killAndStart();
    const again = await agent.posted(1);
    await statusIs(run.id, "waiting");
    const [first] = agent.posts;
    expect(again.headers["idempotency-key"]).toBe(first?.headers["idempotency-key"]);
    expect(again.body.message).toEqual(first?.body.message);
    expect((await answer(again, { text: "once" })).status).toBe(200);
    expect(await endOf(scene, run.id)).toMatchObject({ status: "completed" });
    expect(await texts(id)).toEqual(["twice", "once"]);
    await verifyAll(scene);
  });

  test("[EXT42] an answer to what was posted before the kill counts, also while it is being posted again", async () => {
    agent.react = () => new Promise(() => {});
    const { id } = await scene.start();
    const { run } = await scene.startRun(id, "which one?");
    const first = await agent.posted(0);
    await killAndStart();
    await agent.posted(1);
    expect((await answerNow(first, { text: "this one" })).status).toBe(200);
    expect(await endOf(scene, run.id)).toMatchObject({ status: "completed" });
    expect(await texts(id)).toEqual(["which one?", "this one"]);
    await verifyAll(scene);
  });

  test("[EXT43] an answer that got its 200 is there after a kill right behind it, once, and the next message works", async () => {
    const { id } = await scene.start();
    const { run } = await scene.startRun(id, "one");
    const post = await agent.posted(0);
    await scene.changed(run.id, ({ status }) => status === "waiting");
    expect((await answerNow(post, { text: "sure" })).status).toBe(200);
    expect((await answerNow(post, { text: "and more" })).status).toBe(200);
    await killAndStart();
    expect(await endOf(scene, run.id)).toMatchObject({ status: "completed" });
    expect(JSON.parse((await answerNow(post, { text: "sure" })).text)).toEqual({ ok: true, duplicate: true });
    expect(await texts(id)).toEqual(["one", "sure", "and more"]);
    const { run: next } = await scene.startRun(id, "two");
    await answerNow(await agent.posted(1), { text: "yes" });
    expect(await endOf(scene, next.id)).toMatchObject({ status: "completed" });
    await verifyAll(scene);
  });

  test("[EXT46] a sync delegation whose gateway is killed meanwhile waits on, and gets the answer", async () => {
    const { id } = await scene.start({ agent_id: "general" });
    playByAgent(gateway.model, {
      general: [delegates({ agentId: "remote", content: "take your time" }), "done"],
    });
    const { run } = await scene.startRun(id, "go");
    const post = await agent.posted(0);
    await reached(async () => {
      const runs = await scene.runs();
      expect(runs.find(({ parent_run_id }) => parent_run_id === run.id)?.status).toBe("waiting");
    });
    await killAndStart();
    expect((await answerNow(post, { text: "took it" })).status).toBe(200);
    expect(await endOf(scene, run.id)).toMatchObject({ status: "completed" });
    expect(answerTo(gateway.model, "general")).toMatchObject({ status: "complete", response: "took it" });
    expect(agent.posts).toHaveLength(1);
    await verifyAll(scene);
  });

  test("[EXT45] killed at random moments while answers come in: each that was acknowledged is there once, and every run ends or waits", async () => {
    for (const ms of [0, 3, 8, 15, 30]) {
      agent.forget();
      const { id } = await scene.start();
      const { run } = await scene.startRun(id, `after ${ms}`);
      const post = await agent.posted(0);
      await scene.changed(run.id, ({ status }) => status === "waiting");
      const said = `answer after ${ms}`;
      const sent = answerNow(post, { text: said }).then(
        ({ status }) => status,
        () => 0,
      );
      await new Promise((resolve) => setTimeout(resolve, ms));
      await killAndStart();
      const acknowledged = (await sent) === 200;
      const { status } = await scene.getRun(run.id);
      if (acknowledged) expect(status).toBe("completed");
      if (status !== "completed") await answerNow(post, { text: said });
      expect(await endOf(scene, run.id)).toMatchObject({ status: "completed" });
      expect(await texts(id)).toEqual([`after ${ms}`, said]);
    }
    await verifyAll(scene);
  });
});
