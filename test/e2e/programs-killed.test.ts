import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { endOf, MortalGateway } from "../support/mortal-gateway.js";
import { type Doer, doer, doing } from "../support/programs.js";
import { type RunScene, verifyAll } from "../support/runs.js";
import { onEitherStore } from "../support/stores.js";

onEitherStore("programs with a gateway that is killed", (kind) => {
  const program: Doer = doer();
  let gateway: MortalGateway;
  let scene: RunScene;

  beforeAll(async () => {
    gateway = await MortalGateway.make(kind);
    const config = {
      agents: [program.agent("doer")],
      hooks: [{ module: join(gateway.scratch, "hold.mjs") }],
    };
    writeFileSync(join(gateway.place.dataDir, "heddle.config.json"), JSON.stringify(config));
    scene = await gateway.start();
  });
  afterAll(() => gateway?.remove());

  async function killAndStart(): Promise<void> {
    await gateway.kill();
    scene = await gateway.start();
  }

  test("[PRG11] [PRG12] killed in mid-turn: what it did and said is kept, it is not asked again, and the next turn goes on", async () => {
    const { id } = await scene.start();
    await scene.answered(id, doing({ say: "zero" }));
    const { run } = await scene.startRun(
      id,
      doing({ say: "one " }, { tool: "read", output: "seen" }, { say: "two" }, { hang: true }),
    );
    const text = async () => (await scene.journal(run.id)).map((event) => String(event.text ?? "")).join("");
    await expect.poll(text).toContain("two");
    const asked = program.prompts().length;
    await killAndStart();
    expect(await endOf(scene, run.id)).toMatchObject({ status: "interrupted" });
    const data = await scene.messages(id);
    expect(data.at(-1)).toMatchObject({
      stopReason: "interrupted",
      content: [{ text: "one " }, { type: "tool_call_ref" }, { text: "two" }],
      toolCalls: [{ name: "read", status: "completed", output: "seen" }],
    });
    expect(program.prompts().length).toBe(asked);
    await expect.poll(() => program.living()).toEqual([]);
    const next = await scene.answered(id, "go on");
    expect(program.prompts().at(-1)).toMatch(
      /zero[\s\S]*one [\s\S]*\[result of read\]\nseen[\s\S]*two[\s\S]*go on$/,
    );
    expect(await scene.manifest(next.id)).toMatchObject({ delivery: { session: "new" } });
    await verifyAll(scene);
  });

  test("[PRG11] killed while calls are under way: those that ended and those that did not are kept, and told", async () => {
    const { id } = await scene.start();
    const diff = { path: "a.txt", oldText: "old", newText: "new" };
    const deploy = { begin: "execute", input: { command: "./deploy.sh" } };
    const edit = { tool: "edit", output: "edited beside it", diff };
    const { run } = await scene.startRun(
      id,
      doing({ say: "I deploy." }, deploy, edit, { think: "Hm." }, { hang: true }),
    );
    const kept = async () => (await scene.journal(run.id)).filter(({ type }) => type === "effect.progress");
    await expect.poll(async () => (await kept()).flatMap(({ ended }) => ended ?? [])).toHaveLength(1);
    await expect.poll(async () => (await kept()).map(({ thinking }) => thinking)).toContain("Hm.");
    await killAndStart();
    expect(await endOf(scene, run.id)).toMatchObject({ status: "interrupted" });
    const last = (await scene.messages(id)).at(-1);
    expect(last).toMatchObject({
      stopReason: "interrupted",
      toolCalls: [
        { name: "execute", status: "failed", output: expect.stringMatching(/may or may not have had/) },
        { name: "edit", status: "completed", output: "edited beside it", diff },
      ],
    });
    expect(last?.content.flatMap(({ text = [] }) => text).sort()).toEqual(["Hm.", "I deploy."]);
    expect(JSON.parse(String(last?.toolCalls?.[0]?.input))).toEqual({ command: "./deploy.sh" });
    await scene.answered(id, "what happened?");
    expect(program.prompts().at(-1)).toMatch(
      /I deploy\.[\s\S]*deploy\.sh[\s\S]*may or may not have had[\s\S]*edited beside it[\s\S]*what happened\?$/,
    );
    await verifyAll(scene);
  });

  test("[PRG12] killed before anything was handed over: it is asked, once", async () => {
    const { id } = await scene.start();
    gateway.hold("prompt", "HELD");
    const { run } = await scene.startRun(id, "HELD until later");
    const asked = program.prompts().length;
    await gateway.kill();
    gateway.release("prompt");
    scene = await gateway.start();
    expect(await endOf(scene, run.id)).toMatchObject({ status: "completed" });
    expect(program.prompts().length).toBe(asked + 1);
  });

  test.each([
    ["nothing came of it", []],
    ["only thoughts came of it", [{ think: "Hm." }]],
  ])(
    "[PRG12] killed before it said a word, and %s: the thread says that it was handed over, and it is told so, not asked again",
    async (_, deeds) => {
      const { id } = await scene.start();
      const asked = `HANDED-OVER\n\n${doing(...deeds, { hang: true })}`;
      const before = program.prompts().length;
      const { run } = await scene.startRun(id, asked);
      await expect.poll(() => program.prompts().length).toBe(before + 1);
      const thought = async () => (await scene.journal(run.id)).some((event) => event.thinking === "Hm.");
      await expect.poll(thought).toBe(deeds.length > 0);
      await killAndStart();
      expect(await endOf(scene, run.id)).toMatchObject({ status: "interrupted" });
      const said = "Interrupted: this was handed over, and may have been carried out in part.";
      expect((await scene.messages(id)).at(-1)).toMatchObject({
        role: "agent",
        stopReason: "interrupted",
        content: [
          ...deeds.map(({ think: text }) => ({ type: "thinking", text })),
          { type: "text", text: expect.stringContaining(said) },
        ],
      });
      await scene.answered(id, "hello, are you there?");
      const told = program.prompts().at(-1) ?? "";
      const [from, to] = [told.indexOf("HANDED-OVER"), told.indexOf("hello, are you there?")];
      expect(told.slice(from, to)).toMatch(/may have been carried out in part[\s\S]*<\//);
      await verifyAll(scene);
    },
  );

  test("[PRG11] killed while somebody is asked: the run ends, and the thread can be used", async () => {
    const { id } = await scene.start();
    const { run } = await scene.startRun(id, doing({ ask: "edit", input: {} }));
    await scene.changed(run.id, ({ status }) => status === "waiting");
    const begun = async () => (await scene.journal(run.id)).some((event) => event.begun !== undefined);
    await expect.poll(begun).toBe(true);
    await killAndStart();
    expect(await endOf(scene, run.id)).toMatchObject({ status: "interrupted" });
    expect((await scene.get(id)).status).toBe("idle");
    expect((await scene.messages(id)).at(-1)).toMatchObject({
      toolCalls: [{ name: "edit", status: "failed", output: expect.stringContaining("It was not made") }],
    });
    await scene.answered(id, "and now?");
  });

  test("[PRG16] a session goes on after the gateway was killed between turns", async () => {
    const { id } = await scene.start();
    await scene.answered(id, "hello");
    await killAndStart();
    await expect.poll(() => program.living()).toEqual([]);
    const run = await scene.answered(id, "and again");
    expect(program.prompts().at(-1)).toBe("and again");
    expect(await scene.manifest(run.id)).toMatchObject({ delivery: { session: "resumed" } });
  });
});
