import { describe, expect, test } from "vitest";
import { takeApart } from "../support/bodies.js";
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

const CONTEXT = 2_000;
const RESERVED = 200;
const small = {
  chat: { contextWindow: CONTEXT, maxTokens: RESERVED },
  systemPrompt: "The base prompt.",
};
const config = (url: string) => ({
  agents: [
    ...apis.map((api) => agentAt(url, api, { ...small, toolAllowlist: [] })),
    agentAt(url, apis[0], { ...small, agentId: "reader", toolAllowlist: ["files_read"] }),
  ],
});

/** A text of about so many tokens that says its name. */
const text = (name: string, tokens = 100) => `${name} ${"lorem ipsum ".repeat(tokens)}`.slice(0, tokens * 3);

interface Kept {
  readonly marker: string | undefined;
  /** Roles and names of what was sent of the history. */
  readonly told: readonly string[];
  readonly system: string;
}

/** What the server got of the conversation with a request to Chat Completions. */
async function keptIn(scene: RunScene, index: number): Promise<Kept> {
  const { messages } = JSON.parse(await scene.received(index));
  const system = messages[0].content as string;
  return {
    system,
    marker: /\[\d+ earlier messages? of this conversation left out[^\]]*\]/.exec(system)?.[0],
    told: messages
      .slice(1)
      .map(
        ({ role, content }: { role: string; content: string }) => `${role} ${String(content).split(" ")[0]}`,
      ),
  };
}

interface Sent {
  readonly role: string;
  readonly tool_calls?: readonly { id: string }[];
  readonly tool_call_id?: string;
}

/** Calls that were not answered right after they were made, and answers to calls that were not made. */
function openCalls(messages: readonly Sent[]): string[] {
  const wrong: string[] = [];
  let open: string[] = [];
  for (const { role, tool_calls = [], tool_call_id = "" } of messages) {
    if (role === "tool" && !open.includes(tool_call_id)) wrong.push(tool_call_id);
    if (role === "tool") open = open.filter((id) => id !== tool_call_id);
    else wrong.push(...open.splice(0));
    open.push(...tool_calls.map(({ id }) => id));
  }
  return [...wrong, ...open];
}

/** The history up to a question, as it would be told whole. */
const wholeTo = (turn: number) =>
  Array.from({ length: turn + 1 }, (_, at) => [`user q${at}`, `assistant a${at}`])
    .flat()
    .slice(0, -1);

const markerOf = (gone: number) =>
  gone === 0
    ? undefined
    : `[${gone} earlier messages of this conversation left out to fit the model's context window]`;

onEitherStore("a thread longer than the window", (kind) => {
  const stage = runStage(kind, { config });

  test("[TLD60] [TLD61] [TLD62] the oldest whole turns leave, the rest and the prefix stay the same for a while", async () => {
    let scene = await stage.scene();
    await scene.saveDoc("Standing instructions.");
    const { id } = await scene.start();
    const TURNS = 24;
    scene.plays(...Array.from({ length: TURNS }, (_, at) => text(`a${at}`)));
    const cuts: number[] = [];
    for (let at = 0; at < TURNS; at++) {
      const run = await scene.answered(id, text(`q${at}`));
      const { window, dropped = [], history } = await scene.manifest(run.id);
      expect(window.context).toBe(CONTEXT);
      expect(window.reserved).toBe(RESERVED);
      expect(window.tokens_estimate).toBeLessThanOrEqual(CONTEXT - RESERVED);
      const { system, marker, told } = await keptIn(scene, at);
      expect(system).toContain("The base prompt.");
      expect(system).toContain("Standing instructions.\n</AGENTS_MD>");
      const gone = dropped.length;
      const log = (await scene.messages(id)).slice(0, 2 * at + 1);
      expect(dropped).toEqual(
        log.slice(0, gone).map((message) => ({ message_id: message.id, limit: "context_window" })),
      );
      expect(told).toEqual(wholeTo(at).slice(gone));
      expect(told[0]).toMatch(/^user/);
      expect(history.messages).toBe(told.length);
      expect(marker).toBe(markerOf(gone));
      const before = cuts.at(-1) ?? 0;
      if (gone !== before) {
        cuts.push(gone);
        expect(window.tokens_estimate).toBeLessThanOrEqual(0.7 * (CONTEXT - RESERVED));
      } else if (at > 0) {
        const [one, two] = [await scene.received(at - 1), await scene.received(at)];
        expect(takeApart("chat", two).head.startsWith(takeApart("chat", one).head)).toBe(true);
      }
      if (at === 13) {
        await stage.restart();
        scene = await stage.again(scene);
      }
    }
    // Now and then, not with every turn.
    expect(cuts.length).toBeGreaterThan(1);
    expect(cuts.length).toBeLessThan(TURNS / 3);
    expect(cuts).toEqual(cuts.toSorted((a, b) => a - b));
    const [last] = await scene.runs(id);
    const { messages, request } = await scene.context(last?.id ?? "");
    expect(request).toMatchObject({ body: await scene.received(TURNS - 1), exact: true });
    const markers = messages.filter(({ section_id, message_id }) => !section_id && !message_id);
    expect(markers).toMatchObject([{ role: "system", content: expect.stringContaining("left out") }]);
    await verifyAll(scene);
  });

  test("[TLD66] one message too large by itself: the run fails, nothing is sent, and the next message works", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    scene.plays("One.", "Three.", "Four.");
    await scene.answered(id, "q1");
    const run = await scene.ask(id, text("q2", 4_000));
    expect(run).toMatchObject({ status: "failed", steps: 0, error: { code: "prompt.too_large" } });
    expect(run.error?.message).toMatch(/does not fit the model: about \d+ tokens, where 1800 are free/);
    expect(scene.model.requests).toHaveLength(1);
    const log = await scene.messages(id);
    expect(log.map(({ role }) => role)).toEqual(["user", "agent", "user"]);
    const next = await scene.answered(id, "q3");
    const { dropped } = await scene.manifest(next.id);
    expect(dropped?.map(({ message_id }) => message_id)).toEqual(log.map((message) => message.id));
    expect((await keptIn(scene, 1)).told).toEqual(["user q3"]);
    await scene.answered(id, "q4");
    expect((await keptIn(scene, 2)).told).toEqual(["user q3", "assistant Three.", "user q4"]);
    await verifyAll(scene);
  });
});

describe("a thread longer than the window", () => {
  const stage = runStage(sqliteStore, { config });

  test("[TLD63] a call and its result leave together: no result without its call is ever sent", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    const TURNS = 14;
    const turn = (at: number) => [calls("system_time", {}, `call_${at}`), says(text(`a${at}`, 120))];
    scene.plays(...Array.from({ length: TURNS }, (_, at) => turn(at)).flat());
    for (let at = 0; at < TURNS; at++) await scene.answered(id, text(`q${at}`, 120));
    const sent = scene.model.requests.map(({ body }) => JSON.parse(body).messages.slice(1));
    expect(sent).toHaveLength(2 * TURNS);
    for (const messages of sent) {
      expect(messages[0].role).toBe("user");
      expect(openCalls(messages)).toEqual([]);
    }
    expect((await keptIn(scene, 2 * TURNS - 1)).marker).toBeDefined();
    await verifyAll(scene);
  });

  test("[TLD64] a window that fills up within a run gives up earlier turns, never the run's own", async () => {
    const scene = await stage.scene();
    scene.write("long.txt", [text("line", 600), text("line", 600)].join("\n"));
    const { id } = await scene.start({ agent_id: "reader" });
    scene.plays(text("a0", 200), text("a1", 200), calls("files_read", { path: "long.txt" }), "Done.");
    await scene.answered(id, text("q0", 200));
    await scene.answered(id, text("q1", 150));
    const run = await scene.answered(id, "Read it.");
    const [one, two] = [await keptIn(scene, 2), await keptIn(scene, 3)];
    expect(one.marker).toBeUndefined();
    expect(two.marker).toMatch(/^\[[24] earlier messages /);
    expect(two.told.slice(-3)).toEqual(["user Read", "assistant null", expect.stringMatching(/^tool /)]);
    expect((await scene.manifest(run.id, 1)).dropped).toBeUndefined();
    expect((await scene.manifest(run.id, 2)).dropped).toHaveLength(Number(two.marker?.match(/\d/)?.[0]));
    await verifyAll(scene);
  });

  test("[TLD66] a result that no window takes fails the run in the middle, and the next message works", async () => {
    const scene = await stage.scene();
    scene.write("long.txt", Array.from({ length: 200 }, (_, at) => text(`line${at}`, 50)).join("\n"));
    const { id } = await scene.start({ agent_id: "reader" });
    scene.plays(calls("files_read", { path: "long.txt" }), "Well.");
    const run = await scene.ask(id, "Read it.");
    expect(run).toMatchObject({ status: "failed", steps: 1, error: { code: "prompt.too_large" } });
    expect(scene.model.requests).toHaveLength(1);
    const log = await scene.messages(id);
    expect(log.map(({ role }) => role)).toEqual(["user", "agent"]);
    expect(log[1]).toMatchObject({ stopReason: "error", toolCalls: [{ status: "completed" }] });
    await scene.answered(id, "q1");
    expect(await keptIn(scene, 1)).toMatchObject({ told: ["user q1"], marker: expect.any(String) });
    await verifyAll(scene);
  });

  test("[TLD65] instructions never leave: when they alone are too large, every run fails until they are shorter", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    await scene.saveDoc(text("instructions", 2_500));
    for (const question of ["q1", "q2"]) {
      expect(await scene.ask(id, question)).toMatchObject({
        status: "failed",
        error: { code: "prompt.too_large" },
      });
    }
    expect(scene.model.requests).toEqual([]);
    await scene.saveDoc("Shorter.");
    scene.plays("Three.");
    await scene.answered(id, "q3");
    expect((await keptIn(scene, 0)).told).toEqual(["user q1", "user q2", "user q3"]);
  });

  test("[TLD67] a fork has lost what its thread had lost, and goes on with the same bytes", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    scene.plays(...Array.from({ length: 13 }, (_, at) => text(`a${at}`)));
    for (let at = 0; at < 12; at++) await scene.answered(id, text(`q${at}`));
    expect((await keptIn(scene, 11)).marker).toBeDefined();
    const fork = await scene.fork(id);
    await scene.answered(fork.id, "elsewhere");
    const [before, after] = [await scene.received(11), await scene.received(12)];
    expect(takeApart("chat", after).head.startsWith(takeApart("chat", before).head)).toBe(true);
    await verifyAll(scene);
  });

  test("[TLD68] a model that answers at length leaves less room; half of the window is always for the prompt", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    scene.plays("1", "2");
    const run = await scene.answered(id, "q1", { config: { max_tokens: 700 } });
    expect((await scene.manifest(run.id)).window.reserved).toBe(700);
    const more = await scene.answered(id, "q2", { config: { max_tokens: 1_900 } });
    expect((await scene.manifest(more.id)).window.reserved).toBe(CONTEXT / 2);
  });

  test("[TLD69] a look at what would be sent says what would leave, with a new message and without one", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    scene.plays(...Array.from({ length: 8 }, (_, at) => text(`a${at}`)), "Yes.");
    for (let at = 0; at < 8; at++) await scene.answered(id, text(`q${at}`));
    const without = await scene.preview(id);
    expect(without.manifest.window.tokens_estimate).toBeLessThanOrEqual(CONTEXT - RESERVED);
    const content = text("q8", 500);
    const { manifest, request } = await scene.preview(id, { content });
    const run = await scene.answered(id, content);
    expect(request.body).toBe(await scene.received(8));
    expect(manifest.dropped).toEqual((await scene.manifest(run.id)).dropped);
    expect(manifest.dropped?.length).toBeGreaterThan(without.manifest.dropped?.length ?? 0);
    scene.plays(text("a9", 2_000));
    await scene.answered(id, "q9");
    expect((await scene.preview(id)).manifest.dropped).toHaveLength(20);
    const error = await scene.wire.error("run/preview", { thread_id: id, content: text("x", 4_000) });
    expect(error).toMatchObject({ code: -32600, data: { kind: "prompt.too_large", limit: 1_800 } });
  });

  forEachApi("every API", ({ id: agent_id, protocol }) => {
    test("[TLD60] the marker and the new message reach the server", async () => {
      const scene = await stage.scene();
      const { id } = await scene.start({ agent_id });
      scene.model.play([{ ...says(text("a", 300)), repeat: true }]);
      for (let at = 0; at < 5; at++) await scene.answered(id, text(`q${at}`, 300));
      const sent = await scene.received(4);
      expect(sent).toContain("earlier messages of this conversation left out to fit");
      expect(sent).toContain("The base prompt.");
      expect(takeApart(protocol, sent).items.at(-1)).toContain("q4 ");
      expect(sent).not.toContain("q0 ");
    });
  });
});
