import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ServerTurn } from "../support/model-server/script.js";
import { endOf, MortalGateway } from "../support/mortal-gateway.js";
import { livingProcesses } from "../support/programs.js";
import { type RunScene, says, verifyAll } from "../support/runs.js";
import { type RealAgent, realAgents } from "./real-agents.js";

for (const agent of realAgents) {
  describe(`the real ${agent.name} behind a gateway`, () => suite(agent));
}

/** The turns of the model, by what the last message asks for; what a program asks for itself gets a word. */
type Script = (body: string) => ServerTurn;

function suite(agent: RealAgent): void {
  let gateway: MortalGateway;
  let scene: RunScene;

  beforeAll(async () => {
    gateway = await MortalGateway.make();
    const home = join(gateway.scratch, "home");
    mkdirSync(home);
    const entry = agent.entry(gateway.model.url, home, {
      toolApprovals: { allow: ["*"], ask: [], deny: [] },
    });
    writeFileSync(join(gateway.place.dataDir, "heddle.config.json"), JSON.stringify({ agents: [entry] }));
    scene = await gateway.start();
    plays(() => says("ok"));
  });
  afterAll(() => gateway?.remove());

  const plays = (script: Script) => gateway.model.play((body) => script(body));
  /** Requests about this message, the last one last. */
  const about = (word: string) => gateway.model.requests.filter(({ body }) => body.includes(word));
  const times = (word: string, part: string) => (about(word).at(-1)?.body ?? "").split(part).length - 1;

  async function save(content: string): Promise<void> {
    const { workspace_id } = scene;
    const { explicit } = await scene.wire.result("thread/agents_doc/get", { workspace_id });
    await scene.wire.result("thread/agents_doc/save", {
      workspace_id,
      content,
      expected_version: explicit?.version,
    });
  }

  test("[PRG1] [PRG10] a turn, a tool turn, a resumed turn, and one after the instructions changed", async () => {
    await save("RULE-ONE is in force.");
    const { id } = await scene.start();
    await scene.answered(id, "WORD-A");
    expect(times("WORD-A", "RULE-ONE is in force.")).toBe(1);
    const script: Script = (body) =>
      body.includes("TOOL-RAN-HERE") || !body.includes("WORD-B")
        ? says("seen")
        : agent.command("echo TOOL-RAN-$(echo HERE)");
    plays(script);
    await scene.answered(id, "WORD-B");
    expect(times("WORD-B", "RULE-ONE is in force.")).toBe(1);
    expect(about("TOOL-RAN-HERE").length).toBeGreaterThan(0);
    const answer = (await scene.messages(id)).at(-1);
    expect(answer?.toolCalls).toMatchObject([{ status: "completed" }]);
    expect(JSON.stringify(answer?.toolCalls)).toContain("TOOL-RAN-HERE");
    plays(() => says("ok"));
    await scene.answered(id, "WORD-C");
    expect([times("WORD-C", "RULE-ONE is in force."), times("WORD-C", "WORD-A")]).toEqual([1, 1]);
    await save("RULE-TWO is in force.");
    await scene.answered(id, "WORD-D");
    expect([times("WORD-D", "RULE-TWO is in force."), times("WORD-D", "RULE-ONE is in force.")]).toEqual([
      1, 0,
    ]);
    expect(times("WORD-D", "WORD-A")).toBe(1);
    await verifyAll(scene);
  });

  test("[PRG30] a tool of the bridge is called and recorded", async () => {
    const { id } = await scene.start();
    const given = { title: `By ${agent.name}`, content: "BRIDGED-WORDS" };
    plays((body) =>
      body.includes("BRIDGED-WORDS") || !body.includes("WORD-BRIDGE")
        ? says("noted")
        : agent.bridged("notes_create", given),
    );
    const run = await scene.answered(id, "WORD-BRIDGE");
    const called = (await scene.journal(run.id)).filter(({ type }) => type === "tool.called");
    expect(called).toMatchObject([{ name: "notes_create", status: "completed", by: "agent" }]);
    expect((await scene.messages(id)).at(-1)?.toolCalls).toMatchObject([
      { name: "notes_create", status: "completed" },
    ]);
    plays(() => says("ok"));
  });

  test("[PRG15] [PRG6] a cancelled turn leaves no process behind within a second, and the next has the history and the instructions once", async () => {
    const { id } = await scene.start();
    await save("RULE-TWO is in force.");
    await scene.answered(id, "WORD-E");
    plays((body) => (body.includes("WORD-F") ? agent.command("sleep 600") : says("ok")));
    const { run } = await scene.startRun(id, "WORD-F");
    await expect.poll(() => sleeping(), { timeout: 60_000 }).toBe(true);
    const from = performance.now();
    await scene.wire.result("run/cancel", { run_id: run.id });
    expect((await scene.ended(run.id)).status).toBe("cancelled");
    await expect.poll(() => sleeping(), { interval: 10 }).toBe(false);
    expect(performance.now() - from).toBeLessThan(1_000);
    plays(() => says("ok"));
    await scene.answered(id, "WORD-G");
    expect([
      times("WORD-G", "RULE-TWO is in force."),
      times("WORD-G", "WORD-E"),
      times("WORD-G", "WORD-F"),
    ]).toEqual([1, 1, 1]);
  });

  test("[PRG12] [PRG16] turns after kill -9 of the gateway, between turns and in mid-turn", async () => {
    const { id } = await scene.start();
    await save("RULE-TWO is in force.");
    await scene.answered(id, "WORD-H");
    await gateway.kill();
    scene = await gateway.start();
    await scene.answered(id, "WORD-I");
    expect([times("WORD-I", "RULE-TWO is in force."), times("WORD-I", "WORD-H")]).toEqual([1, 1]);
    plays((body) => (body.includes("WORD-J") ? agent.command("sleep 600") : says("ok")));
    const { run } = await scene.startRun(id, "WORD-J");
    await expect.poll(() => sleeping(), { timeout: 60_000 }).toBe(true);
    await gateway.kill();
    await expect.poll(() => sleeping()).toBe(false);
    plays(() => says("ok"));
    scene = await gateway.start();
    expect(await endOf(scene, run.id)).toMatchObject({ status: "interrupted" });
    await scene.answered(id, "WORD-K");
    expect([
      times("WORD-K", "RULE-TWO is in force."),
      times("WORD-K", "WORD-H"),
      times("WORD-K", "WORD-J"),
    ]).toEqual([1, 1, 1]);
    await verifyAll(scene);
  });

  test("[PRG14] a turn after kill -9 of the program, in mid-turn and between turns", async () => {
    const { id } = await scene.start();
    await save("RULE-TWO is in force.");
    await scene.answered(id, "WORD-L");
    await killPrograms();
    await scene.answered(id, "WORD-M");
    expect([times("WORD-M", "RULE-TWO is in force."), times("WORD-M", "WORD-L")]).toEqual([1, 1]);
    plays((body) => (body.includes("WORD-N") ? agent.command("sleep 600") : says("ok")));
    const { run } = await scene.startRun(id, "WORD-N");
    await expect.poll(() => sleeping(), { timeout: 60_000 }).toBe(true);
    await killPrograms();
    expect(await scene.ended(run.id)).toMatchObject({ status: "failed", error: { code: "program.exited" } });
    plays(() => says("ok"));
    await scene.answered(id, "WORD-O");
    expect([
      times("WORD-O", "RULE-TWO is in force."),
      times("WORD-O", "WORD-L"),
      times("WORD-O", "WORD-N"),
    ]).toEqual([1, 1, 1]);
  });

  test("[PRG16] nothing of it is left when the gateway has stopped", async () => {
    await gateway.stop();
    await expect.poll(programs).toEqual([]);
    scene = await gateway.start();
  });

  /** Its processes, known by their home: some write over their command line. */
  function programs(): number[] {
    const mark = `HOME=${join(gateway.scratch, "home")}\0`;
    return livingProcesses().flatMap(({ pid, group }) => {
      const environment = pid === group ? readFileSync(`/proc/${pid}/environ`, "utf8") : "";
      return environment.includes(mark) ? [pid] : [];
    });
  }
  async function killPrograms(): Promise<void> {
    const found = programs();
    expect(found).not.toEqual([]);
    for (const pid of found) process.kill(pid, "SIGKILL");
    await expect.poll(programs).toEqual([]);
  }
  const sleeping = () => livingProcesses().some(({ words }) => words.join(" ") === "sleep 600");
}
