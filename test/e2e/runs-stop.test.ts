import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { endOf, MortalGateway, reached } from "../support/mortal-gateway.js";
import type { Exit } from "../support/process.js";
import { calls, type RunScene, runStage, says, verifyAll } from "../support/runs.js";
import { onEitherStore, temporaryDirectory } from "../support/stores.js";
import { traceOf, tracingTools } from "../support/tracing-tools.js";
import type { Answer } from "../support/wire.js";

type Word = "quick" | "slow" | "next" | "first" | "unwanted";

onEitherStore("a gateway that is told to stop", (kind) => {
  let gateway: MortalGateway;
  let scene: RunScene;
  let exit: Exit;
  let refused: Answer;
  const threads = new Map<string, string>();
  const runs = new Map<Word, string>();

  async function ask(word: Word, thread: string = word): Promise<void> {
    if (!threads.has(thread)) threads.set(thread, (await scene.start()).id);
    const { run } = await scene.startRun(threads.get(thread) as string, `#${word}`);
    runs.set(word, run.id);
  }
  const runOf = (word: Word) => runs.get(word) as string;
  const said = async (thread: string) =>
    (await scene.messages(threads.get(thread) as string)).map(({ role, content, stopReason }) => [
      role,
      content.map(({ text }) => text).join(" "),
      stopReason,
    ]);

  beforeAll(async () => {
    gateway = await MortalGateway.make(kind, true);
    gateway.hold("model");
    gateway.hold("first");
    gateway.plays(
      { when: "#next", ...says("The next answer.") },
      {
        when: "#quick",
        steps: [{ text: "Just " }, { while_there: gateway.holding("model") }, { text: "in time." }],
      },
      { when: "#slow", steps: [{ text: "Once upon" }, { hang: true }] },
      { when: "And then?", ...says("a time.") },
      { when: "#unwanted", ...says("Nobody wants to hear it.") },
      { when: "#first", steps: [{ text: "First." }, { while_there: gateway.holding("first") }] },
    );
    scene = await gateway.start();
    await ask("quick");
    await ask("slow");
    await ask("next", "slow");
    await ask("first", "gone");
    await ask("unwanted", "gone");
    const types = async (word: Word) => (await scene.journal(runOf(word))).map(({ type }) => type);
    await reached(async () => expect(await types("slow")).toContain("effect.progress"));
    await reached(async () => expect(await types("quick")).toContain("effect.progress"));
    const stopping = gateway.stop();
    // It has the signal when it does not tell its address any more.
    await reached(() => expect(existsSync(join(gateway.place.dataDir, "gateway.json"))).toBe(false));
    refused = await scene.wire.call("run/start", { thread_id: threads.get("quick"), content: "Too late" });
    gateway.release("first");
    await reached(async () =>
      expect(await scene.getRun(runOf("first"))).toMatchObject({ status: "completed" }),
    );
    await scene.wire.result("thread/delete", { thread_id: threads.get("gone") as string });
    gateway.release("model");
    exit = await stopping;
    scene = await gateway.start();
  });
  afterAll(() => gateway?.remove());

  test("[RCV30] what ends within the time it has is completed, and the gateway exits with 0", async () => {
    expect(exit).toEqual({ code: 0, signal: null });
    expect(await scene.getRun(runOf("quick"))).toMatchObject({ status: "completed" });
    expect(await said("quick")).toEqual([
      ["user", "#quick", undefined],
      ["agent", "Just in time.", "end_turn"],
    ]);
  });

  test("[RCV31] nothing new is admitted meanwhile: run.stopping", () => {
    expect(refused.error?.data).toMatchObject({ kind: "run.stopping" });
    expect(gateway.model.requests.some(({ body }) => body.includes("Too late"))).toBe(false);
  });

  test("[RCV32] what has not ended by then is interrupted with what it said; its request is gone", async () => {
    expect(await scene.getRun(runOf("slow"))).toMatchObject({ status: "interrupted", steps: 1 });
    const asked = gateway.model.requests.filter(
      ({ body }) => body.includes("#slow") && !body.includes("#next"),
    );
    expect(asked).toHaveLength(1);
    expect(await asked[0]?.closed).toMatchObject({ byClient: true });
    expect((await said("slow"))[1]).toEqual(["agent", "Once upon", "interrupted"]);
  });

  test("[RCV34] a thread that is deleted meanwhile takes its runs with it: none is left for the next start", async () => {
    expect(await endOf(scene, runOf("unwanted"))).toMatchObject({ status: "cancelled" });
    expect(gateway.model.requests.some(({ body }) => body.includes("#unwanted"))).toBe(false);
  });

  test("[RCV33] what waited runs after the next start, and is told what was said", async () => {
    expect(await endOf(scene, runOf("next"))).toMatchObject({ status: "completed", number: 2 });
    expect((await said("slow")).slice(2)).toEqual([
      ["user", "#next", undefined],
      ["agent", "The next answer.", "end_turn"],
    ]);
    const body = gateway.model.requests.map((request) => request.body).find((text) => text.includes("#next"));
    expect(body).toContain("Once upon");
    expect(await scene.ask(threads.get("slow") as string, "And then?")).toMatchObject({
      status: "completed",
    });
    await verifyAll(scene);
  });
});

describe("a gateway that stops while tools run", () => {
  const dir = temporaryDirectory();
  const stage = runStage(undefined, { options: { tools: tracingTools(dir) } });

  test("[RCV32] a tool in mid-call is told to end, its call stands as failed, and the model is told at the next message", async () => {
    let scene = await stage.scene();
    writeFileSync(join(dir, "test_write.hold"), "");
    scene.plays(calls("test_write", { id: "w1" }), says("I see."));
    const thread = await scene.start();
    const { run } = await scene.startRun(thread.id, "Write.");
    await reached(() => expect(traceOf(dir, "test_write")).toEqual(["begin w1"]));
    await stage.restart();
    scene = await stage.again(scene);
    expect(await scene.getRun(run.id)).toMatchObject({ status: "interrupted" });
    const [, answer] = await scene.messages(thread.id);
    expect(answer).toMatchObject({ stopReason: "interrupted", toolCalls: [{ status: "failed" }] });
    await scene.answered(thread.id, "And?");
    const roles = JSON.parse(await scene.received(1)).messages.map(({ role }: { role: string }) => role);
    expect(roles.slice(-4)).toEqual(["user", "assistant", "tool", "user"]);
    expect(traceOf(dir, "test_write")[0]).toBe("begin w1");
    await verifyAll(scene);
  });
});
