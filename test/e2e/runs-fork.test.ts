import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import type { Message } from "../../src/protocol/index.js";
import {
  agentAt,
  apis,
  calls,
  forEachApi,
  type RunScene,
  runStage,
  says,
  verifyAll,
} from "../support/runs.js";
import { onEitherStore, sqliteStore } from "../support/stores.js";

const png = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex").toString("base64");

/** A thread with a picture, a tool call and three turns. */
async function talked(scene: RunScene, agent_id?: string) {
  const { id } = await scene.start({ title: "Talk", ...(agent_id !== undefined && { agent_id }) });
  const thinking = { thinking: "Hm.", signature: "c2lnbmF0dXJl" };
  scene.plays(
    { steps: [thinking, { text: "I look." }, ...calls("system_time").steps] },
    says("A cat at noon."),
    says("Two."),
    says("Three."),
  );
  await scene.answered(id, [
    { type: "text", text: "What is it?" },
    { type: "image", data: png, mimeType: "image/png" },
  ]);
  await scene.answered(id, "two?");
  await scene.answered(id, "three?");
  return { id, messages: await scene.messages(id) };
}

/** What a request says, without what names its thread. */
function told(body: string | undefined): unknown {
  const { prompt_cache_key: _, ...rest } = JSON.parse(body ?? "{}");
  return rest;
}

/** Asks both threads the same and answers what was sent for each. */
async function askBoth(scene: RunScene, ids: readonly string[], question = "and now?"): Promise<unknown[]> {
  scene.model.forget();
  scene.plays({ repeat: true, steps: [{ text: "Now this." }] });
  for (const id of ids) await scene.answered(id, question);
  return scene.model.requests.map(({ body }) => told(body));
}

forEachApi("fork", (api) => {
  const stage = runStage(sqliteStore);

  test("[RUN80] a fork from the end is told exactly what its parent would be told", async () => {
    const scene = await stage.scene();
    const { id, messages } = await talked(scene, api.id);
    const fork = await scene.fork(id);
    expect(await scene.messages(fork.id)).toEqual(messages);
    const [parents, forks] = await askBoth(scene, [id, fork.id]);
    expect(forks).toEqual(parents);
    await verifyAll(scene);
  });

  test("[RUN81] a fork from the middle begins with the bytes that were sent before", async () => {
    const scene = await stage.scene();
    const { id, messages } = await talked(scene, api.id);
    const second = scene.model.requests[2]?.body;
    // Up to the first answer: the next question is the second of both.
    const fork = await scene.fork(id, { message_id: messages[1]?.id });
    expect(await scene.messages(fork.id)).toEqual(messages.slice(0, 2));
    const [again] = await askBoth(scene, [fork.id], "two?");
    expect(again).toEqual(told(second));
    await verifyAll(scene);
  });
});

onEitherStore("fork", (kind) => {
  const stage = runStage(kind, {
    config: (url) => ({
      agents: [agentAt(url), agentAt(url, apis[2], { systemPrompt: "You are the other one." })],
    }),
  });

  test("[RUN80] a fork is a thread of its own that says where it comes from", async () => {
    const scene = await stage.scene();
    const folder_id = await scene.folder("Work");
    const { id } = await scene.start({
      title: "Talk",
      folder_id,
      config: { model: "qwen-small", max_tokens: 9 },
    });
    scene.plays("One.", "Two.");
    const run = await scene.answered(id, "one?");
    const fork = await scene.fork(id);
    expect(fork).toMatchObject({
      workspace_id: scene.workspace_id,
      parent_thread_id: id,
      folder_id,
      agent_id: "openai-compatible",
      title: expect.stringContaining("Talk"),
      config: { model: "qwen-small", max_tokens: 9 },
      status: "idle",
      message_count: 2,
      last_snippet: "One.",
    });
    expect(await scene.get(fork.id)).toEqual(fork);
    expect((await scene.messages(fork.id)).map(({ run_id }) => run_id)).toEqual([run.id, run.id]);
    expect(await scene.runs(fork.id)).toEqual([]);
    expect((await scene.answered(fork.id, "two?")).number).toBe(1);
    expect(await scene.messages(id)).toHaveLength(2);
    expect(await scene.messages(fork.id)).toHaveLength(4);
    expect(await scene.found("one")).toHaveLength(2 + 2);
    const told = scene.wire.notifications("thread/changed").map(({ params }) => params.thread);
    expect(told.find(({ id: told_id }) => told_id === fork.id)).toMatchObject({ parent_thread_id: id });
  });

  test("[RUN81] a fork from a question leaves its answer out", async () => {
    const scene = await stage.scene();
    const { id, messages } = await talked(scene);
    const fork = await scene.fork(id, { message_id: messages[2]?.id });
    expect(await scene.messages(fork.id)).toEqual(messages.slice(0, 3));
    const [sent] = (await askBoth(scene, [fork.id], "Well?")) as [{ messages: { content: string }[] }];
    expect(sent.messages.slice(-2).map(({ content }) => content)).toEqual(["two?", "Well?"]);
    expect(JSON.stringify(sent)).not.toContain("Two.");
    await verifyAll(scene);
  });

  test("[RUN82] what is not there can't be forked, and nothing is left of the attempt", async () => {
    const scene = await stage.scene();
    const { id, messages } = await talked(scene);
    const { workspace_id } = scene;
    const refusals = [
      [{ thread_id: id, message_id: "unknown" }, "message.not_found"],
      [{ thread_id: "unknown" }, "thread.not_found"],
      [{ thread_id: id, agent_id: "nobody" }, "agent.not_found"],
      [{ thread_id: id, message_id: "" }, "invalid_params"],
      [{ thread_id: id, config: { default_prompt_refs: [] } }, "invalid_params"],
    ] as const;
    const before = scene.directories();
    for (const [params, refusal] of refusals) {
      const error = await scene.wire.error("thread/fork", { workspace_id, ...params });
      expect(error).toMatchObject({ code: -32602, data: { kind: refusal } });
    }
    expect(await scene.list()).toHaveLength(1);
    expect(scene.directories()).toEqual(before);
    expect(await scene.messages(id)).toEqual(messages);
  });

  test("[RUN83] a fork may have another agent, model and prompt, and takes the images along", async () => {
    const scene = await stage.scene();
    const { id } = await talked(scene);
    const ref = await scene.blob({ text: "Speak like a pirate." });
    const config = { model: "other-model", default_prompt_refs: [ref] };
    const fork = await scene.fork(id, { agent_id: "anthropic", config });
    expect(fork).toMatchObject({ agent_id: "anthropic", config: { model: "other-model" } });
    const [sent] = (await askBoth(scene, [fork.id])) as [{ model: string; system: unknown }];
    expect(sent.model).toBe("other-model");
    expect(JSON.stringify(sent.system)).toContain("Speak like a pirate.");
    expect(JSON.stringify(sent)).toContain(png);
    const [question] = await scene.messages(fork.id);
    const { assetRef } = (question as Message).content[1] as { assetRef?: string };
    expect(existsSync(scene.path(fork.id, "assets", assetRef as string))).toBe(true);
    // Its parent may go.
    await scene.wire.result("thread/delete", { thread_id: id });
    const { url, token } = stage.gateway();
    const asset = await fetch(`${url}/threads/${fork.id}/assets/${assetRef}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(Buffer.from(await asset.arrayBuffer()).toString("base64")).toBe(png);
    await askBoth(scene, [fork.id]);
    await verifyAll(scene);
  });

  test("[RUN84] a thread can be forked while its agent is at work; neither disturbs the other", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    scene.plays({ steps: [{ text: "Half" }, { gate: "forked" }, { text: " done." }] }, says("Mine."));
    const { run } = await scene.startRun(id, "Work!");
    await scene.model.request(0);
    const fork = await scene.fork(id);
    expect(fork).toMatchObject({ status: "idle", message_count: 1 });
    await scene.answered(fork.id, "And you?");
    expect((await scene.getRun(run.id)).status).toBe("running");
    scene.model.open("forked");
    await scene.ended(run.id);
    const said = async (of: string) => (await scene.messages(of)).map(({ content }) => content[0]?.text);
    expect(await said(id)).toEqual(["Work!", "Half done."]);
    expect(await said(fork.id)).toEqual(["Work!", "And you?", "Mine."]);
    await verifyAll(scene);
  });

  test("[RUN85] what was not told yet is told in the fork as it would be in its parent", async () => {
    const scene = await stage.scene();
    const { id } = await talked(scene);
    await scene.append(id, { role: "agent", content: "I remembered something." });
    const fork = await scene.fork(id);
    const [parents, forks] = await askBoth(scene, [id, fork.id]);
    expect(JSON.stringify(parents)).toContain("I remembered something.");
    expect(forks).toEqual(parents);
    await scene.append(id, { role: "user", content: "By the way." });
    const another = await scene.fork(id);
    const [first, second] = await askBoth(scene, [id, another.id], "So?");
    expect(JSON.stringify(first)).toContain("By the way.");
    expect(second).toEqual(first);
    await verifyAll(scene);
  });

  test("[RUN86] a fork of a fork, after a restart, still begins with the same bytes", async () => {
    const scene = await stage.scene();
    const { id } = await talked(scene);
    const first = await scene.fork(id);
    await stage.restart();
    const later = await stage.again(scene);
    const second = await later.fork(first.id);
    expect(second.parent_thread_id).toBe(first.id);
    expect(await later.get(first.id)).toMatchObject({ parent_thread_id: id });
    const [one, two, three] = await askBoth(later, [id, first.id, second.id]);
    expect(two).toEqual(one);
    expect(three).toEqual(one);
    const { id: empty } = await later.start();
    const fork = await later.fork(empty);
    expect(fork).toMatchObject({ parent_thread_id: empty, message_count: 0 });
    await later.answered(fork.id, "Hello?");
    await verifyAll(later);
  });
});
