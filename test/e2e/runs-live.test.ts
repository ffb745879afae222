import { expect, test } from "vitest";
import { heldTool } from "../support/held-tool.js";
import { calls, forEachApi, type RunScene, runStage, says, waitOn } from "../support/runs.js";
import { onEitherStore, sqliteStore } from "../support/stores.js";
import type { Wire } from "../support/wire.js";

/** Puts an answer together from its pieces, each at its place, whatever the order they came in. */
function heardOf(wire: Wire, run_id: string): Record<string, string> {
  const blocks: Record<string, string[]> = {};
  for (const { params } of wire.notifications("run/delta")) {
    if (params.run_id !== run_id) continue;
    const { step, kind, id, offset, text } = params;
    const name = `${step} ${kind}${kind === "text" ? "" : ` ${id}`}`;
    blocks[name] ??= [];
    for (let at = 0; at < text.length; at++) blocks[name][offset + at] = text[at] as string;
  }
  const whole = Object.entries(blocks).map(([name, units]) => [
    name,
    Array.from(units, (unit) => unit ?? "?").join(""),
  ]);
  return Object.fromEntries(whole);
}

const deltas = (wire: Wire) => wire.notifications("run/delta").map(({ params }) => params);

/** Waits until a wire has heard some text of a run. */
const hears = (wire: Wire, run_id: string, words: string) =>
  waitOn(
    wire,
    () => Object.values(heardOf(wire, run_id)).some((text) => text.includes(words)) || undefined,
    words,
  );

async function followed(scene: RunScene, wire: Wire, thread_id: string): Promise<void> {
  await wire.result("subscribe", { workspace_id: scene.workspace_id, thread_id });
}

forEachApi("live", (api) => {
  const stage = runStage(sqliteStore);

  test("[RUN70] the pieces of an answer add up to what stands in the log", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: api.id });
    await followed(scene, scene.wire, id);
    const words = ["Käse ", "🧀", " und ", "Brot", "\n", "…"];
    const arguments_ = ['{"time', 'zone":', '"UTC"}'];
    const call = { tool_call: { id: "call_1", name: "system_time", arguments: arguments_ } };
    scene.plays({ steps: [{ thinking: ["Hm, ", "well."] }, { text: "I look." }, call] }, says(words));
    const run = await scene.answered(id, "What is there?");
    const heard = heardOf(scene.wire, run.id);
    const [, answer] = await scene.messages(id);
    const said = answer?.content.flatMap((block) => ("text" in block ? [block.text] : []));
    expect(said).toEqual(["Hm, well.", "I look.", words.join("")]);
    const callId = answer?.toolCalls?.[0]?.toolCallId as string;
    const thought = Object.keys(heard).find((name) => name.startsWith("1 thinking")) as string;
    expect(heard).toEqual({
      [thought]: "Hm, well.",
      "1 text": "I look.",
      [`1 tool_input ${callId}`]: '{"timezone":"UTC"}',
      "2 text": words.join(""),
    });
    const tools = scene.wire.notifications("run/tool").map(({ params }) => params);
    const facts = { workspace_id: scene.workspace_id, thread_id: id, run_id: run.id, step: 1 };
    expect(tools).toEqual([
      { ...facts, tool_call_id: callId, name: "system_time", status: "running" },
      {
        ...facts,
        tool_call_id: callId,
        name: "system_time",
        status: "completed",
        output: expect.stringContaining("UTC"),
        duration_ms: expect.any(Number),
      },
    ]);
    // In order: whoever shows them as they come shows the answer as it was written.
    const offsets = deltas(scene.wire).filter(({ step, kind }) => step === 2 && kind === "text");
    let length = 0;
    for (const { offset, text } of offsets) {
      expect(offset).toBe(length);
      length += text.length;
    }
  });
});

onEitherStore("live", (kind) => {
  const held = heldTool();
  const stage = runStage(kind, { options: { tools: [held.tool] } });

  test("[RUN71] who comes in mid-run gets what came so far, and then the rest", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    await followed(scene, scene.wire, id);
    scene.plays(
      { steps: [{ text: "First. " }, ...calls("system_time").steps] },
      { steps: [{ text: ["So", " far"] }, { gate: "rest" }, { text: [", so", " good."] }] },
    );
    const { run } = await scene.startRun(id, "Go");
    await hears(scene.wire, run.id, "So far");
    const late = await stage.gateway().wire();
    await followed(scene, late, id);
    await hears(late, run.id, "So far");
    expect(deltas(late)).toEqual([
      expect.objectContaining({ step: 1, kind: "text", offset: 0, text: "First. " }),
      expect.objectContaining({ step: 2, kind: "text", offset: 0, text: "So far" }),
    ]);
    await late.settled();
    expect(late.notifications("run/tool")).toEqual(scene.wire.notifications("run/tool").slice(-1));
    scene.model.open("rest");
    await hears(late, run.id, "good.");
    await scene.ended(run.id);
    const { "1 tool_input call_1": input, ...heard } = heardOf(scene.wire, run.id);
    expect(input).toBe("{}");
    expect(heardOf(late, run.id)).toEqual(heard);
    expect(heardOf(late, run.id)["2 text"]).toBe("So far, so good.");
    // Nothing is under way any more: the log has it.
    const after = await stage.gateway().wire();
    await followed(scene, after, id);
    await after.settled();
    expect(deltas(after)).toEqual([]);
  });

  test("[RUN72] those who follow only the workspace hear of runs, not of their words", async () => {
    const scene = await stage.scene();
    const { workspace_id } = scene;
    const { id } = await scene.start();
    const wire = await stage.gateway().wire();
    const { seq } = await wire.result("subscribe", { workspace_id });
    scene.plays(calls("system_time"), says("Late."));
    const run = await scene.answered(id, "When?");
    await waitOn(
      wire,
      () => wire.notifications("run/changed").find(({ params }) => params.run.ended_at),
      "the end",
    );
    expect(wire.notifications("run/delta")).toEqual([]);
    expect(wire.notifications("run/tool")).toEqual([]);
    const told = wire.notifications("run/changed").map(({ params }) => [params.run.id, params.run.status]);
    expect(told).toEqual([
      [run.id, "running"],
      [run.id, "completed"],
    ]);
    const seqs = wire.notifications().map(({ params }) => params.seq);
    expect(seqs).toEqual(seqs.map((_, at) => seq + 1 + at));
  });

  test("[RUN73] the words of another thread, and of a thread that was left, never arrive", async () => {
    const scene = await stage.scene();
    const [mine, other] = [await scene.start(), await scene.start()];
    const wire = await stage.gateway().wire();
    await followed(scene, wire, mine.id);
    scene.plays({
      repeat: true,
      steps: [{ text: ["a", "b", "c"] }],
    });
    const runs = await Promise.all([mine, other, mine, other].map(({ id }) => scene.startRun(id, "x")));
    await Promise.all(runs.map(({ run }) => scene.ended(run.id)));
    await wire.settled();
    expect(new Set(deltas(wire).map(({ thread_id }) => thread_id))).toEqual(new Set([mine.id]));
    const count = deltas(wire).length;
    expect(await wire.result("unsubscribe", { thread_id: mine.id })).toMatchObject({ unsubscribed: true });
    const run = await scene.answered(mine.id, "y");
    await waitOn(
      wire,
      () =>
        wire
          .notifications("run/changed")
          .find(({ params }) => params.run.id === run.id && params.run.ended_at),
      "the end",
    );
    expect(deltas(wire)).toHaveLength(count);
    const unknown = await wire.error("subscribe", { thread_id: "unknown" });
    expect(unknown).toMatchObject({ code: -32602, data: { kind: "thread.not_found" } });
  });

  test("[RUN74] what was steered closes a message: who comes later gets only what came after it", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    await followed(scene, scene.wire, id);
    const words = `live ${kind.name}`;
    scene.plays(
      { steps: [{ text: "Before." }, ...calls("held_work", { words }).steps] },
      { steps: [{ text: "After" }, { gate: "steered" }, { text: "." }] },
    );
    const { run } = await scene.startRun(id, "Go");
    await held.began(1);
    const early = await stage.gateway().wire();
    await followed(scene, early, id);
    await hears(early, run.id, "Before.");
    await early.settled();
    const tools = early.notifications("run/tool").map(({ params }) => [params.name, params.status]);
    expect(tools).toEqual([["held_work", "running"]]);
    await scene.wire.result("run/steer", { run_id: run.id, content: "Faster!" });
    held.release(words);
    await hears(scene.wire, run.id, "After");
    const late = await stage.gateway().wire();
    await followed(scene, late, id);
    await hears(late, run.id, "After");
    expect(deltas(late).map(({ step, text }) => [step, text])).toEqual([[2, "After"]]);
    expect(late.notifications("run/tool")).toEqual([]);
    scene.model.open("steered");
    await scene.ended(run.id);
  });
});

const slow = runStage(sqliteStore, { options: { limits: { sendQueueBytes: 4 * 1024 * 1024 } } });

test("[RUN75] a client that does not read holds up neither the run nor other clients", async () => {
  const scene = await slow.scene();
  const { id } = await scene.start();
  const [reader, sleeper] = [await slow.gateway().wire(), await slow.gateway().wire()];
  await followed(scene, reader, id);
  await followed(scene, sleeper, id);
  sleeper.socket.pause();
  const piece = "x".repeat(64 * 1024);
  const pieces = Array.from({ length: 320 }, (_, i) => `${i} ${piece}`);
  // With pauses, in which whoever reads has read: all of them share one process here.
  const steps = pieces.flatMap((text, at) => [{ text }, ...(at % 4 === 0 ? [{ delay_ms: 10 }] : [])]);
  scene.plays({ steps });
  const { run } = await scene.startRun(id, "Say a lot");
  expect(await scene.ended(run.id)).toMatchObject({ status: "completed" });
  const whole = pieces.join("").length;
  const heard = () => deltas(reader).reduce((sum, { text }) => sum + text.length, 0);
  await waitOn(reader, () => heard() === whole || undefined, "every piece");
  expect(reader.closeCode).toBeUndefined();
  sleeper.socket.resume();
  // Told to try again, or cut off before that got through.
  expect([1006, 1013]).toContain(await sleeper.closed());
  const again = await slow.gateway().wire();
  await again.result("subscribe", { workspace_id: scene.workspace_id, after_seq: 0 });
  const told = () => again.notifications("run/changed").find(({ params }) => params.run.ended_at);
  await waitOn(again, told, "what was missed");
});
