import { expect, test } from "vitest";
import type { Run } from "../../src/protocol/index.js";
import { agentNamed, answerTo, playByAgent } from "../support/agents.js";
import { childOf, delegates, returnedTo } from "../support/delegation.js";
import { answer, externalAgent, externalEntry, SECRET_HEADER } from "../support/external-agent.js";
import { endOf, reached } from "../support/mortal-gateway.js";
import { type RunScene, runStage, verifyAll, waitOn } from "../support/runs.js";
import { onEachStore } from "../support/stores.js";

const plugins = { artifacts: { enabled: false }, bash: { enabled: false }, files: { enabled: false } };

onEachStore("external agents", (kind) => {
  const agent = externalAgent();
  const stage = runStage(kind, {
    config: (url) => ({
      agents: [agentNamed(url, "general"), externalEntry(agent.get().url)],
      plugins,
    }),
  });

  /** A run that waits for its answer, and what was posted for it. */
  async function asked(scene: RunScene, content = "hello there", thread_id?: string) {
    const id = thread_id ?? (await scene.start({ agent_id: "remote" })).id;
    const before = agent.get().posts.length;
    const { run } = await scene.startRun(id, content);
    const post = await agent.get().posted(before);
    await waiting(scene, run.id);
    return { thread_id: id, run, post };
  }
  const waiting = (scene: RunScene, run_id: string): Promise<Run> =>
    scene.changed(run_id, ({ status }) => status === "waiting");
  const texts = async (scene: RunScene, thread_id: string) =>
    (await scene.messages(thread_id)).map(({ role, content }) => [
      role,
      content.map(({ text }) => String(text ?? "")).join(""),
    ]);

  test("[EXT1] it is listed as external and available", async () => {
    const scene = await stage.scene();
    const { data } = await scene.wire.result("agent/list", { workspace_id: scene.workspace_id });
    const listed = data.find(({ agent_id }) => agent_id === "remote");
    expect(listed).toMatchObject({ type: "external", available: true });
    expect(listed).not.toHaveProperty("provider");
    expect(listed).not.toHaveProperty("reason");
  });

  test("[EXT2] a message is posted as 002 writes it, with the headers and a key; then run and thread wait", async () => {
    const scene = await stage.scene();
    const { thread_id, run, post } = await asked(scene);
    const { url } = stage.gateway();
    expect(post.body).toEqual({
      sessionId: thread_id,
      agentId: "remote",
      callbackUrl: expect.stringMatching(
        new RegExp(`^${url}/external/${scene.workspace_id}/${thread_id}/[\\w-]{43}$`),
      ),
      message: { type: "user", text: "hello there", createdAt: expect.stringMatching(/^\d{4}-.*Z$/) },
    });
    expect(post.headers).toMatchObject({
      "content-type": "application/json",
      "idempotency-key": `${run.id}-1`,
      "x-agent-key": SECRET_HEADER,
    });
    expect((await scene.get(thread_id)).status).toBe("waiting");
    const told = scene.wire.notifications("thread/changed").map(({ params }) => params.thread);
    expect(told.findLast(({ id }) => id === thread_id)?.status).toBe("waiting");
    const [question] = await scene.messages(thread_id);
    expect(post.body.message.createdAt).toBe(question?.timestamp);
    await answer(post, { text: "bye" });
  });

  test.each<[string, object | string]>([
    ["text", { text: "42" }],
    ["message.text", { message: { text: "42" } }],
    ["plain text", "42"],
  ])("[EXT3] the first answer ends the run that waits (%s)", async (_form, said) => {
    const scene = await stage.scene();
    const { thread_id, run, post } = await asked(scene);
    const answered = await answer(post, said);
    expect(answered.status).toBe(200);
    expect(JSON.parse(answered.text)).toEqual({ ok: true, run_id: run.id });
    expect(await scene.ended(run.id)).toMatchObject({ status: "completed", steps: 1 });
    const [, said1] = await scene.messages(thread_id);
    expect(said1).toMatchObject({
      id: run.agent_message_id,
      role: "agent",
      content: [{ type: "text", text: "42" }],
      stopReason: "end_turn",
      run_id: run.id,
    });
    expect((await scene.get(thread_id)).status).toBe("idle");
    expect(scene.wire.notifications("message/appended").at(-1)?.params.message.id).toBe(said1?.id);
  });

  test("[EXT4] the next message goes out when the one before is answered, in the same session with the same address", async () => {
    const scene = await stage.scene();
    const first = await asked(scene, "one");
    const { run: second } = await scene.startRun(first.thread_id, "two");
    expect(second.status).toBe("queued");
    expect(agent.get().posts).toHaveLength(1);
    await answer(first.post, { text: "1" });
    const post = await agent.get().posted(1);
    expect(post.body).toMatchObject({ sessionId: first.thread_id, message: { text: "two" } });
    expect(post.body.callbackUrl).toBe(first.post.body.callbackUrl);
    await waiting(scene, second.id);
    await answer(post, { text: "2" });
    await scene.ended(second.id);
    expect(await texts(scene, first.thread_id)).toEqual([
      ["user", "one"],
      ["agent", "1"],
      ["user", "two"],
      ["agent", "2"],
    ]);
  });

  test("[EXT5] what waits survives a stop and a restart, is not posted again, and is answered through the next gateway", async () => {
    const scene = await stage.scene();
    const { thread_id, run, post } = await asked(scene);
    await stage.restart();
    const again = await stage.again(scene);
    expect(await again.getRun(run.id)).toMatchObject({ status: "waiting" });
    expect((await again.get(thread_id)).status).toBe("waiting");
    const { pathname } = new URL(post.body.callbackUrl);
    const moved = { body: { ...post.body, callbackUrl: `${stage.gateway().url}${pathname}` } };
    expect((await answer(moved, { text: "late but fine" })).status).toBe(200);
    expect(await endOf(again, run.id)).toMatchObject({ status: "completed" });
    expect(agent.get().posts).toHaveLength(1);
    expect(await texts(again, thread_id)).toEqual([
      ["user", "hello there"],
      ["agent", "late but fine"],
    ]);
    await verifyAll(again);
  });

  test("[EXT44] a gateway that is told to stop while it posts leaves the run for the next one, which posts it again", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "remote" });
    agent.get().react = () => new Promise(() => {});
    const { run } = await scene.startRun(id, "stopping");
    await agent.get().posted(0);
    agent.get().react = () => ({ status: 202 });
    await stage.restart();
    const again = await stage.again(scene);
    const post = await agent.get().posted(1);
    expect(post.headers["idempotency-key"]).toBe(`${run.id}-1`);
    await reached(async () => expect((await again.getRun(run.id)).status).toBe("waiting"));
    expect(post.body.callbackUrl.startsWith(stage.gateway().url)).toBe(true);
    await answer(post, { text: "here" });
    expect(await endOf(again, run.id)).toMatchObject({ status: "completed" });
    expect(await texts(again, id)).toEqual([
      ["user", "stopping"],
      ["agent", "here"],
    ]);
  });

  test("[EXT6] an answer that comes before the agent has said that it took the message counts", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "remote" });
    let ended: () => void = () => {};
    const end = new Promise<void>((resolve) => {
      ended = resolve;
    });
    agent.get().react = async (post) => {
      expect((await answer(post, { text: "at once" })).status).toBe(200);
      await end;
      return { status: 500 };
    };
    const { run } = await scene.startRun(id, "quick");
    expect(await scene.ended(run.id)).toMatchObject({ status: "completed" });
    // The thread goes on although the first request is still open.
    agent.get().react = () => ({ status: 200 });
    const { run: next, post } = await asked(scene, "next", id);
    ended();
    await answer(post, { text: "done" });
    expect(await scene.ended(next.id)).toMatchObject({ status: "completed" });
    expect(agent.get().posts).toHaveLength(2);
  });

  test("[EXT7] further answers and those that come after a cancel are messages of the thread, told to everyone, also after a restart", async () => {
    const scene = await stage.scene();
    const { thread_id, run, post } = await asked(scene);
    await answer(post, { text: "first" });
    await scene.ended(run.id);
    const second = await answer(post, { text: "second" });
    expect([second.status, JSON.parse(second.text)]).toEqual([200, { ok: true, late: true }]);
    const told = () =>
      scene.wire
        .notifications("message/appended")
        .map(({ params }) => params.message)
        .find(({ content }) => content[0]?.text === "second");
    expect(await waitOn(scene.wire, told, "the second answer")).toMatchObject({ role: "agent" });
    const cancelled = await asked(scene, "never mind", thread_id);
    await scene.wire.result("run/cancel", { run_id: cancelled.run.id });
    expect(JSON.parse((await answer(post, { text: "third" })).text)).toEqual({ ok: true, late: true });
    await stage.restart();
    const again = await stage.again(scene);
    const { pathname } = new URL(post.body.callbackUrl);
    const moved = { body: { ...post.body, callbackUrl: `${stage.gateway().url}${pathname}` } };
    expect(JSON.parse((await answer(moved, { text: "fourth" })).text)).toEqual({ ok: true, late: true });
    expect((await texts(again, thread_id)).map(([, text]) => text)).toEqual([
      "hello there",
      "first",
      "second",
      "never mind",
      "third",
      "fourth",
    ]);
    expect((await again.getRun(cancelled.run.id)).status).toBe("cancelled");
  });

  test("[EXT8] the same answer twice is recorded once; after the next message it is an answer again", async () => {
    const scene = await stage.scene();
    const { thread_id, run, post } = await asked(scene);
    const both = await Promise.all([answer(post, { text: "yes" }), answer(post, { text: "yes" })]);
    await scene.ended(run.id);
    const third = await answer(post, "yes");
    const said = [...both, third].map(({ status, text }) => ({ status, ...JSON.parse(text) }));
    expect(said.filter(({ duplicate }) => duplicate)).toEqual([
      { status: 200, ok: true, duplicate: true },
      { status: 200, ok: true, duplicate: true },
    ]);
    expect((await texts(scene, thread_id)).slice(1)).toEqual([["agent", "yes"]]);
    const next = await asked(scene, "sure?", thread_id);
    await answer(next.post, { text: "yes" });
    expect(await scene.ended(next.run.id)).toMatchObject({ status: "completed" });
    expect(await texts(scene, thread_id)).toHaveLength(4);
  });

  test("[EXT9] an agent that says that it failed fails the run with its words, and the thread goes on", async () => {
    const scene = await stage.scene();
    const { thread_id, run, post } = await asked(scene);
    expect((await answer(post, { error: "Out of coffee." })).status).toBe(200);
    expect(await scene.ended(run.id)).toMatchObject({
      status: "failed",
      error: { code: "external.failed", message: "Out of coffee." },
    });
    const next = await asked(scene, "again", thread_id);
    await answer(next.post, { text: "fine now" });
    expect(await scene.ended(next.run.id)).toMatchObject({ status: "completed" });
  });

  test("[EXT10] cancelling ends a run that waits, and one that is being posted, at once", async () => {
    const scene = await stage.scene();
    const { thread_id, run } = await asked(scene);
    const { run: now } = await scene.wire.result("run/cancel", { run_id: run.id });
    expect(now.status).toBe("cancelled");
    expect((await scene.get(thread_id)).status).toBe("idle");
    agent.get().react = () => new Promise(() => {});
    const before = agent.get().posts.length;
    const { run: stuck } = await scene.startRun(thread_id, "stuck");
    await agent.get().posted(before);
    expect((await scene.wire.result("run/cancel", { run_id: stuck.id })).run.status).toBe("cancelled");
    expect((await scene.get(thread_id)).status).toBe("idle");
  });

  test("[EXT11] what a run that waits is steered with goes out at once as a message of its own; the next answer ends it", async () => {
    const scene = await stage.scene();
    const { thread_id, run, post } = await asked(scene, "one");
    await scene.wire.result("run/steer", { run_id: run.id, content: "and two" });
    const further = await agent.get().posted(1);
    expect(further.body.message.text).toBe("and two");
    expect(further.headers["idempotency-key"]).toBe(`${run.id}-2`);
    await reached(async () => expect((await scene.getRun(run.id)).status).toBe("waiting"));
    await answer(post, { text: "both" });
    expect(await scene.ended(run.id)).toMatchObject({ status: "completed", steps: 2 });
    expect(await texts(scene, thread_id)).toEqual([
      ["user", "one"],
      ["user", "and two"],
      ["agent", "both"],
    ]);
  });

  test("[EXT11] what it is steered with while its message is on its way goes out behind that", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "remote" });
    let take = () => {};
    agent.get().react = () =>
      new Promise((resolve) => {
        take = () => resolve({ status: 202 });
      });
    const { run } = await scene.startRun(id, "one");
    await agent.get().posted(0);
    await scene.wire.result("run/steer", { run_id: run.id, content: "two" });
    await scene.wire.result("run/steer", { run_id: run.id, content: "three" });
    agent.get().react = () => ({ status: 202 });
    take();
    const further = await agent.get().posted(1);
    expect(further.body.message.text).toBe("two\n\nthree");
    await reached(async () => expect((await scene.getRun(run.id)).status).toBe("waiting"));
    const { messages } = await scene.context(run.id, 2);
    expect(messages.map(({ content }) => content)).toEqual(["two", "three"]);
    await answer(further, { text: "all" });
    expect(await scene.ended(run.id)).toMatchObject({ status: "completed", steps: 2 });
    expect((await texts(scene, id)).map(([, text]) => text)).toEqual(["one", "two", "three", "all"]);
  });

  test("[EXT12] a sync delegation waits for the answer, an async one gets it back", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "general" });
    playByAgent(scene.model, {
      general: [delegates({ agentId: "remote", content: "do it" }), "done", "thanks", "got it"],
    });
    const { run } = await scene.startRun(id, "go");
    const post = await agent.get().posted(0);
    expect(post.body.message.text).toBe("do it");
    const child = await childOf(scene, "remote", "waiting");
    await answer(post, { text: "did it" });
    expect(await scene.ended(run.id)).toMatchObject({ status: "completed" });
    expect(answerTo(scene.model, "general")).toMatchObject({
      status: "complete",
      agentId: "remote",
      responseId: child.id,
      response: "did it",
    });
    playByAgent(scene.model, {
      general: [delegates({ agentId: "remote", content: "later", mode: "async" }), "off it goes", "got it"],
    });
    await scene.answered(id, "go on");
    const later = await agent.get().posted(1);
    await answer(later, { text: "much later" });
    const [returned] = await returnedTo(scene, id);
    expect(returned).toMatchObject({ status: "completed" });
    expect((await texts(scene, id)).findLast(([role]) => role === "user")?.[1]).toContain("much later");
  });
});
