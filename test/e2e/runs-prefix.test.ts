import { describe, expect, test } from "vitest";
import { takeApart } from "../support/bodies.js";
import type { ServerTurn } from "../support/model-server/script.js";
import { type Api, forEachApi, type RunScene, runStage, verifyAll, waitOn } from "../support/runs.js";
import { onEitherStore, sqliteStore } from "../support/stores.js";

const PIXEL = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 4, 5, 6]).toString("base64");

const thoughtful: ServerTurn = {
  steps: [
    { thinking: "Hm.", signature: "c2lnbmF0dXJl" },
    { text: "Let me look." },
    { tool_call: { id: "call_1", name: "files_read", arguments: '{"path":"a.txt","lines":3}' } },
  ],
};

/** That one request goes on where another ended: the same bytes up to its last item, then so many more items. */
async function expectGoesOn(
  { model }: RunScene,
  api: Api,
  { from, to, more }: { from: number; to: number; more: number },
  restOf: (rest: unknown) => unknown = (rest) => rest,
): Promise<void> {
  const [before, after] = [await model.request(from), await model.request(to)].map(({ body }) =>
    takeApart(api.protocol, body),
  ) as [ReturnType<typeof takeApart>, ReturnType<typeof takeApart>];
  expect(after.items.slice(0, before.items.length)).toEqual(before.items);
  expect(after.head.startsWith(before.head)).toBe(true);
  expect(after.items).toHaveLength(before.items.length + more);
  expect(JSON.stringify(restOf(after.rest))).toBe(JSON.stringify(restOf(before.rest)));
}

const words = (content: string | readonly { type: string; text?: unknown }[]) =>
  typeof content === "string"
    ? content
    : content.map(({ type, text }) => (type === "text" ? text : "")).join("");

/** An answer with a thought and a call is three items for Responses, one for the others. */
const itemsOf = ({ id }: Api) => (id === "openai" ? 3 : 1);

describe("an unchanged thread", () => {
  const stage = runStage(sqliteStore);

  /** A thread in which everything was said that can be said. */
  async function talkative(api: Api): Promise<{ scene: RunScene; id: string }> {
    const scene = await stage.scene();
    scene.write("a.txt", "the text of a\n");
    await scene.saveDoc("Be brief.\n\nAlways.");
    const { id } = await scene.start({ agent_id: api.id });
    scene.plays(thoughtful, "It says so.", "Second.", "Third.", "Fourth.");
    const image = { type: "image" as const, data: PIXEL, mimeType: "image/png" };
    await scene.answered(id, [{ type: "text", text: "First?" }, image]);
    return { scene, id };
  }

  forEachApi("one prefix", (api) => {
    test("[TLD10] each step and each run begins with the bytes of the one before, up to what is new", async () => {
      const { scene, id } = await talkative(api);
      await scene.answered(id, "Second?");
      await scene.answered(id, "Third?");
      await expectGoesOn(scene, api, { from: 0, to: 1, more: itemsOf(api) + 1 });
      await expectGoesOn(scene, api, { from: 1, to: 2, more: 2 });
      await expectGoesOn(scene, api, { from: 2, to: 3, more: 2 });
      const last = takeApart(api.protocol, await scene.received(3)).items.at(-1);
      expect(last).toContain("Third?");
    });

    test("[TLD11] the same after a restart, whatever was only in memory", async () => {
      const { scene: before, id } = await talkative(api);
      await stage.restart();
      const scene = await stage.again(before);
      await scene.answered(id, "Second?");
      await expectGoesOn(scene, api, { from: 1, to: 2, more: 2 });
      await verifyAll(scene);
    });

    test("[TLD12] a fork begins with the bytes of its thread, also from a message in the middle", async () => {
      const { scene, id } = await talkative(api);
      const second = await scene.answered(id, "Second?");
      const whole = await scene.fork(id);
      const half = await scene.fork(id, { message_id: second.user_message_id });
      const first = await scene.fork(id, { message_id: (await scene.messages(id))[1]?.id });
      await scene.answered(whole.id, "Elsewhere?");
      await scene.answered(first.id, "Elsewhere?");
      const withoutKey = (rest: unknown) => ({ ...(rest as object), prompt_cache_key: undefined });
      await expectGoesOn(scene, api, { from: 2, to: 3, more: 2 }, withoutKey);
      await expectGoesOn(scene, api, { from: 1, to: 4, more: 2 }, withoutKey);
      scene.plays("Fifth.");
      await scene.answered(half.id, "Elsewhere?");
      // Two questions in a row are one item for some servers: the bytes are the same up to the first one's words.
      const { head } = takeApart(api.protocol, await scene.received(2));
      const upTo = head.slice(0, head.indexOf("Second?") + "Second?".length);
      expect(takeApart(api.protocol, await scene.received(5)).head.startsWith(upTo)).toBe(true);
      await verifyAll(scene);
    });
  });

  forEachApi("runs that go another way", (api) => {
    test("[TLD15] after a run that was steered, cancelled or failed the next one goes on from its bytes", async () => {
      const scene = await stage.scene();
      const { id } = await scene.start({ agent_id: api.id });
      const gate = `tld15-${api.id}`;
      const partial = {
        steps: [{ thinking: "Hm.", signature: "c2ln" }, { text: "Half an" }, { hang: true }],
      };
      const refusal = { steps: [{ status: 400 }] };
      scene.plays(
        { steps: [{ gate }, { text: "First." }] },
        "Steered.",
        partial as ServerTurn,
        refusal,
        "Last.",
      );
      const steered = (await scene.startRun(id, "First?")).run;
      await scene.model.request(0);
      await scene.wire.result("run/steer", { run_id: steered.id, content: "Rather this." });
      scene.model.open(gate);
      expect(await scene.ended(steered.id)).toMatchObject({ status: "completed", steps: 2 });
      await scene.wire.result("subscribe", { thread_id: id });
      const cancelled = (await scene.startRun(id, "Second?")).run;
      const half = () =>
        scene.wire.notifications("run/delta").find(({ params }) => params.text === "Half an");
      await waitOn(scene.wire, half, "half an answer");
      await scene.wire.result("run/cancel", { run_id: cancelled.id });
      expect(await scene.ended(cancelled.id)).toMatchObject({ status: "cancelled" });
      expect(await scene.ask(id, "Third?")).toMatchObject({ status: "failed" });
      const last = await scene.answered(id, "Fourth?");
      for (const to of [1, 2, 3]) {
        const [before, after] = [await scene.received(to - 1), await scene.received(to)];
        expect(takeApart(api.protocol, after).head.startsWith(takeApart(api.protocol, before).head)).toBe(
          true,
        );
      }
      // Two questions in a row are one item for some servers.
      const { head } = takeApart(api.protocol, await scene.received(3));
      const upTo = head.slice(0, head.indexOf("Third?"));
      expect(takeApart(api.protocol, await scene.received(4)).head.startsWith(upTo)).toBe(true);
      expect((await scene.context(last.id)).messages.slice(2).map(({ content }) => words(content))).toEqual([
        "First?",
        "First.",
        "Rather this.",
        "Steered.",
        "Second?",
        "Half an",
        "Third?",
        "Fourth?",
      ]);
      await verifyAll(scene);
    });
  });

  forEachApi("a thought that was broken off", (api) => {
    test("[TLD16] a thought that nothing followed is kept and not sent back: servers refuse it", async () => {
      const scene = await stage.scene();
      const { id } = await scene.start({ agent_id: api.id });
      const thought = { steps: [{ thinking: "Only a thought.", signature: "c2ln" }, { hang: true }] };
      scene.plays(thought as ServerTurn, "Well.");
      await scene.wire.result("subscribe", { thread_id: id });
      const { run } = await scene.startRun(id, "First?");
      const came = () =>
        scene.wire.notifications("run/delta").find(({ params }) => params.kind === "thinking");
      await waitOn(scene.wire, came, "a thought");
      await scene.wire.result("run/cancel", { run_id: run.id });
      expect(await scene.ended(run.id)).toMatchObject({ status: "cancelled" });
      const next = await scene.answered(id, "Second?");
      expect((await scene.messages(id))[1]?.content).toEqual([{ type: "thinking", text: "Only a thought." }]);
      expect(await scene.received(1)).not.toMatch(/Only a thought|c2ln/);
      expect((await scene.context(next.id)).request).toMatchObject({
        body: await scene.received(1),
        exact: true,
      });
    });
  });

  test("[TLD13] a fork of another agent tells the history, without what only the first one's server wants", async () => {
    const api = { id: "anthropic", protocol: "messages", model: "claude-sonnet-4-5" } as const;
    const { scene, id } = await talkative(api);
    const fork = await scene.fork(id, { agent_id: "google" });
    await scene.answered(fork.id, "And you?");
    const { items } = takeApart("gemini", await scene.received(2));
    expect(items.join()).toContain("the text of a");
    expect(items.join()).toContain("It says so.");
    expect(items.join()).not.toContain("c2lnbmF0dXJl");
    expect(items).toHaveLength(5);
  });

  test("[TLD14] other threads, titles and folders change nothing of it", async () => {
    const api = { id: "openai-compatible", protocol: "chat", model: "qwen3" } as const;
    const { scene, id } = await talkative(api);
    const other = await scene.start({ agent_id: api.id });
    await scene.answered(other.id, "Elsewhere");
    await scene.update(id, { title: "Another title", pinned: true, attributes: { a: 1 } });
    await scene.folder("New");
    await scene.answered(id, "Second?");
    await expectGoesOn(scene, api, { from: 1, to: 3, more: 2 });
    const [one, two] = await scene.runs(id);
    const [now, before] = [await scene.manifest(one?.id ?? ""), await scene.manifest(two?.id ?? "")];
    expect(now.stable_prefix_hash).toBe(before.stable_prefix_hash);
    expect(now.prefix_changed_at).toBeUndefined();
  });
});

onEitherStore("an unchanged thread", (kind) => {
  const stage = runStage(kind);
  const api = { id: "openai-compatible", protocol: "chat", model: "qwen3" } as const;

  test("[TLD11] twenty runs with restarts in between: each goes on where the last one ended", async () => {
    let scene = await stage.scene();
    const { id } = await scene.start();
    scene.plays(...Array.from({ length: 20 }, (_, at) => `Answer ${at}.`));
    for (let at = 0; at < 20; at++) {
      await scene.answered(id, `Question ${at}?`);
      if (at % 7 === 6) {
        await stage.restart();
        scene = await stage.again(scene);
      }
    }
    for (let at = 1; at < 20; at++) await expectGoesOn(scene, api, { from: at - 1, to: at, more: 2 });
    const fork = await scene.fork(id);
    scene.plays("Yes.");
    await scene.answered(fork.id, "Here too?");
    await expectGoesOn(scene, api, { from: 19, to: 20, more: 2 });
    await verifyAll(scene);
  });
});
