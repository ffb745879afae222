import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { locationOf, runSql } from "../contract/support/stage.js";
import { endOf, MortalGateway, reached } from "../support/mortal-gateway.js";
import { agentAt, apis, calls, type RunScene, says } from "../support/runs.js";
import { onEachStore } from "../support/stores.js";

const words = ["config", "inputs", "question", "answer", "files", "agent", "journal", "healthy"] as const;
type Word = (typeof words)[number];

onEachStore("a gateway that finds less than was left", (kind) => {
  let gateway: MortalGateway;
  let scene: RunScene;
  const threads = new Map<Word, string>();
  const runs = new Map<Word, string>();
  const threadOf = (word: Word) => threads.get(word) as string;
  const runOf = (word: Word) => runs.get(word) as string;
  const configFile = () => join(gateway.place.dataDir, "heddle.config.json");

  /** Each has a configuration of its own, so that no blob of it is another thread's too. */
  async function ask(word: Word): Promise<void> {
    const { id } = await scene.start(word === "agent" ? { agent_id: "leaving" } : {});
    threads.set(word, id);
    const config = { max_tokens: 1_000 + words.indexOf(word) };
    runs.set(word, (await scene.startRun(id, `#${word}`, { config })).run.id);
  }

  const sql = (statement: string) => runSql(locationOf(kind, gateway.place), statement);
  const event = async (word: Word, type: string) =>
    (await scene.journal(runOf(word))).find((one) => one.type === type);

  beforeAll(async () => {
    gateway = await MortalGateway.make(kind);
    const agents = [agentAt(gateway.model.url), agentAt(gateway.model.url, apis[0], { agentId: "leaving" })];
    const { hooks } = JSON.parse(readFileSync(configFile(), "utf8"));
    writeFileSync(configFile(), JSON.stringify({ agents, hooks }));
    scene = await gateway.start();
    gateway.hold("test_look");
    gateway.hold("prompt", "#question");
    gateway.plays(
      { ...calls("test_look", { id: "l1" }), when: "#answer" },
      ...words.map((word) => ({ when: `#${word}`, steps: [{ hang: true as const }] })),
      { ...says("Here I am."), repeat: true },
    );
    for (const word of words) await ask(word);
    await reached(() => expect(gateway.model.requests).toHaveLength(words.length - 1));
    await reached(() => expect(gateway.trace("test_look")).toEqual(["begin l1"]));
    const refs = [
      (await event("config", "run.requested"))?.config,
      (await event("inputs", "prompt.compiled"))?.inputs,
      (await event("question", "run.requested"))?.input,
      (await event("answer", "effect.receipt"))?.result,
    ];
    await gateway.kill();
    for (const ref of refs)
      await sql(`delete from blob where hash = '${String(ref).slice("sha256:".length)}'`);
    rmSync(scene.path(threadOf("files")), { recursive: true });
    writeFileSync(configFile(), JSON.stringify({ agents: agents.slice(0, 1) }));
    await sql(`update journal_event set body = '{}' where thread_id = '${threadOf("journal")}' and seq = 2`);
    gateway.release("test_look");
    gateway.plays({ ...says("Here I am."), repeat: true });
    scene = await gateway.start();
  });
  afterAll(() => gateway?.remove());

  test.each([
    ["config", "blob.not_found"],
    ["inputs", "blob.not_found"],
    ["question", "blob.not_found"],
    ["answer", "blob.not_found"],
    ["files", "thread."],
    ["agent", "agent.not_found"],
    ["journal", "run.journal_broken"],
  ] as const)(
    "[RCV15] a run that can't be taken up for want of its %s ends as failed and says why",
    async (word, code) => {
      const run = await endOf(scene, runOf(word));
      expect(run.status).toBe("failed");
      expect(run.error?.code).toContain(code);
      expect(run.error?.message).toMatch(/\.$/);
    },
  );

  test("[RCV15] what one run lacks keeps no other from going on, and the next message of its thread is answered", async () => {
    expect(await endOf(scene, runOf("healthy"))).toMatchObject({ status: "completed" });
    for (const word of ["config", "inputs", "answer", "journal", "healthy"] as const) {
      const run = await scene.ask(threadOf(word), "Are you there?");
      expect(run, word).toMatchObject({ status: "completed", number: 2 });
      expect(await scene.wire.result("run/replay", { run_id: run.id }), word).toMatchObject({
        verified: true,
      });
      expect((await scene.get(threadOf(word))).status).toBe("idle");
    }
    expect(await scene.wire.result("run/replay", { run_id: runOf("journal") })).toMatchObject({
      verified: false,
      first_difference: { check: "integrity", where: "event 2" },
    });
  });
});
