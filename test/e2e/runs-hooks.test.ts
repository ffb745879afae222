import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { startGateway } from "../support/gateway.js";
import { agentAt, apis, calls, type RunScene, runStage, says, verifyAll } from "../support/runs.js";
import { sqliteStore, temporaryDirectory } from "../support/stores.js";
import { soon } from "../support/threads.js";

const SECRET = "words of the hook itself";

/** A hook that does what the message tells it: `NAME:THROW` for example. */
const behaviour = `
  const section = (section_id, content, more = {}) =>
    ({ contributions: [{ kind: "prompt_section", section_id, title: "From " + section_id, content, ...more }] });
  export async function behave(name, { input }, { signal }) {
    const told = input.includes(name + ":") ? input.split(name + ":")[1].split(" ")[0] : "";
    if (told === "THROW") throw new Error("${SECRET}");
    if (told === "HANG") await new Promise(() => {});
    if (told === "LOOP") for (;;);
    if (told === "HUGE") return section(name, "x".repeat(10 * 1024 * 1024));
    if (told === "UNDECLARED") return { contributions: [{ kind: "diagnostic", level: "info", message: "${SECRET}" }] };
    if (told === "NONSENSE") return { contributions: "${SECRET}" };
    if (told === "TWICE") return { contributions: [...section(name, "a").contributions, ...section(name, "b").contributions] };
    if (told === "NOTHING") return undefined;
    if (told === "LONG") return section(name, "line of text\\n".repeat(100));
    return section(name, "Contributed by " + name + ".", { source_refs: [{ kind: "file", id: "notes.md", version: 3 }] });
  }`;

const subscription = (hook_id: string, more: object) => ({
  hook_id,
  phase: "turn.pre_prompt_compile",
  execution: "deadline",
  deadline_ms: 1_000,
  ...more,
});

let dir = "";

/** Packages of a soft and a hard hook, a watching module, and a command. */
function config(url: string) {
  dir = temporaryDirectory();
  process.env.HOOK_TEST_TOKEN = "must not be seen";
  writeFileSync(join(dir, "behave.mjs"), behaviour);
  const module = (id: string, more: object) => {
    const text = JSON.stringify({ id, contributes: ["prompt_section"] });
    writeFileSync(
      join(dir, `${id}.mjs`),
      `import { behave } from "./behave.mjs";
       const subscription = ${JSON.stringify(subscription(`${id}.hook`, more))};
       const run = (context, call) => behave("${id}", context, call);
       export default { ...${text}, subscriptions: [{ ...subscription, run }] };`,
    );
    return { module: join(dir, `${id}.mjs`) };
  };
  writeFileSync(
    join(dir, "watch.mjs"),
    `import { appendFileSync } from "node:fs";
     const keep = (context) => appendFileSync(${JSON.stringify(join(dir, "seen.jsonl"))}, JSON.stringify({ ...context, env: Object.keys(process.env) }) + "\\n");
     const hook = (name, phase, run) => ({ hook_id: "watch." + name, phase, failure_policy: "fail_closed", run });
     export default { id: "watch", contributes: ["prompt_section"], subscriptions: [
       { ...hook("before", "turn.pre_prompt_compile", keep), priority: 1 },
       hook("compiled", "turn.post_prompt_compile", (context) => {
         keep(context);
         if (context.manifest.history.chars === 7) throw new Error("${SECRET}");
       }),
       { ...hook("after", "turn.post_turn", keep), failure_policy: "best_effort" },
     ] };`,
  );
  writeFileSync(
    join(dir, "command.mjs"),
    `import { text } from "node:stream/consumers";
     import { behave } from "./behave.mjs";
     process.stdout.write(JSON.stringify((await behave("command", JSON.parse(await text(process.stdin)), {})) ?? { contributions: [] }));`,
  );
  return {
    agents: [agentAt(url, apis[0], { systemPrompt: "Base." })],
    hooks: [
      module("soft", { failure_policy: "best_effort", budget: 400 }),
      module("hard", { failure_policy: "fail_closed", priority: 15, deadline_ms: 3_000 }),
      { module: join(dir, "watch.mjs") },
      {
        id: "command",
        contributes: ["prompt_section"],
        command: [process.execPath, join(dir, "command.mjs")],
        subscriptions: [
          subscription("command.hook", { priority: 5, execution: "blocking", deadline_ms: undefined }),
        ],
      },
    ],
  };
}

const stage = runStage(sqliteStore, { config });

/** What a hook saw in runs of a thread. */
const seen = (thread_id: string, hook_id: string) =>
  (existsSync(join(dir, "seen.jsonl")) ? readFileSync(join(dir, "seen.jsonl"), "utf8") : "")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line))
    .filter((one) => one.thread_id === thread_id && one.hook_id === hook_id);

async function systemIn(scene: RunScene, index: number): Promise<string[]> {
  const { messages } = JSON.parse(await scene.received(index));
  return messages[0].content.split("\n\n");
}

async function failuresOf(scene: RunScene, hook_id: string) {
  const { data } = await scene.wire.result("hook/list", {});
  const found = data.flatMap(({ subscriptions }) => subscriptions).find((one) => one.hook_id === hook_id);
  return found?.failures as { total: number; last: { reason: string; message: string }[] };
}

describe("hooks of the configuration", () => {
  test("[TLD80] modules and commands contribute sections, in their order, and the manifest says who", async () => {
    const scene = await stage.scene();
    await scene.saveDoc("Be brief.");
    const { id } = await scene.start();
    scene.plays("One.", "Two.");
    const run = await scene.answered(id, "One?");
    const told = await systemIn(scene, 0);
    expect(told[0]).toBe("Base.");
    expect(told[1]).toBe("Contributed by command.");
    expect(told.slice(-3)[0]).toBe("Contributed by hard.");
    expect(told.slice(-3)[1]).toMatch(/^Available tools:/);
    expect(told.slice(-3)[2]).toBe("Contributed by soft.");
    const { sections, hook_sources } = await scene.manifest(run.id);
    expect(sections.map((section) => section.id)).toEqual([
      "base",
      "command",
      "agents_md",
      "hard",
      "tools",
      "soft",
    ]);
    expect(sections[3]).toMatchObject({
      title: "From hard",
      source: {
        kind: "hook",
        hook_id: "hard.hook",
        package_id: "hard",
        subscription_id: "hard.hook@turn.pre_prompt_compile",
        documents: [{ kind: "file", id: "notes.md", version: 3 }],
      },
    });
    expect(hook_sources.map(({ priority }) => priority)).toEqual([5, 10, 15, 20, 100]);
    await scene.answered(id, "Two?");
    expect(await systemIn(scene, 1)).toEqual(told);
    await verifyAll(scene);
  });

  const failures = {
    THROW: "threw",
    HANG: "late",
    LOOP: "late",
    HUGE: "too_large",
    UNDECLARED: "undeclared_kind",
    NONSENSE: "invalid_answer",
    TWICE: "invalid_answer",
  };

  test.each(Object.entries(failures))(
    "[TLD81] [TLD82] %s: best effort goes on without it, fail closed ends the run and nothing is sent",
    async (told, reason) => {
      const scene = await stage.scene();
      const { id } = await scene.start();
      scene.plays("Went on.", "Next.");
      const soft = await scene.answered(id, `soft:${told} now`);
      expect((await systemIn(scene, 0)).join()).not.toContain("by soft");
      expect((await scene.manifest(soft.id)).sections.map((section) => section.id)).not.toContain("soft");
      const compiled = (await scene.journal(soft.id)).find(({ type }) => type === "prompt.compiled");
      expect(compiled?.diagnostics).toMatchObject([{ hook_id: "soft.hook", level: "warning" }]);
      expect((await failuresOf(scene, "soft.hook")).last[0]).toMatchObject({ reason });
      const hard = await scene.ask(id, `hard:${told} now`);
      expect(hard).toMatchObject({ status: "failed", steps: 0, error: { code: "hook.failed" } });
      expect(hard.error?.message).toMatch(/^Hook hard\.hook of package hard /);
      expect(scene.model.requests).toHaveLength(1);
      expect((await failuresOf(scene, "hard.hook")).last[0]).toMatchObject({ reason });
      expect((await scene.messages(id)).map(({ role }) => role)).toEqual(["user", "agent", "user"]);
      await scene.answered(id, "Next?");
      const sent = scene.model.requests.map(({ body }) => body).join();
      expect(sent + JSON.stringify(hard)).not.toContain(SECRET);
      await verifyAll(scene);
    },
  );

  test("[TLD81] a command that fails or floods is left out too", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    scene.model.play([{ ...says("Went on."), repeat: true }]);
    const reasons = { THROW: "exited", HUGE: "too_large", UNDECLARED: "undeclared_kind" };
    for (const [at, [told, reason]] of Object.entries(reasons).entries()) {
      await scene.answered(id, `command:${told} now`);
      expect((await systemIn(scene, at)).join()).not.toContain("by command");
      expect((await failuresOf(scene, "command.hook")).last[0]).toMatchObject({ reason });
    }
    expect((await failuresOf(scene, "command.hook")).total).toBe(3);
  });

  test("[TLD83] a hook may answer nothing; a section over its budget is cut, and the manifest says so", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    scene.plays("1", "2");
    const without = await scene.answered(id, "soft:NOTHING ");
    expect((await scene.manifest(without.id)).sections.map((one) => one.id)).not.toContain("soft");
    const cut = await scene.answered(id, "soft:LONG ");
    const { sections, hook_sources } = await scene.manifest(cut.id);
    const soft = sections.find((one) => one.id === "soft");
    expect(soft).toMatchObject({ truncation: "hook" });
    expect(soft?.chars).toBeLessThanOrEqual(400);
    const words = async (ref = "") => (await scene.wire.result("blob/get", { ref })).messages?.[0]?.content;
    const told = String(await words(soft?.source.ref));
    const rest = String(await words(soft?.source.cut_ref));
    expect(told).toMatch(new RegExp(`\\[… ${rest.length} characters cut\\]$`));
    expect(JSON.stringify(await scene.received(1))).not.toContain(rest);
    expect(sections.filter(({ source }) => source.cut_ref !== undefined)).toEqual([soft]);
    await verifyAll(scene);
    expect(hook_sources.find((one) => one.section_id === "soft")?.truncation).toBe("hook");
    expect((await scene.manifest(without.id)).prefix_changed_at).toBeUndefined();
    expect((await scene.manifest(cut.id)).prefix_changed_at).toBe("soft");
  });

  test("[TLD84] hooks are asked once a run and told thread, run, agent, message and tools, and no secret", async () => {
    const scene = await stage.scene();
    const { id: thread_id } = await scene.start();
    scene.plays(calls("system_time"), "Late.");
    const run = await scene.answered(thread_id, "What time is it?");
    const told = seen(thread_id, "watch.before");
    expect(told).toEqual([
      {
        workspace_id: scene.workspace_id,
        thread_id,
        run_id: run.id,
        agent_id: "openai-compatible",
        input: "What time is it?",
        tools: ["files_edit", "files_list", "files_read", "files_search", "files_write", "system_time"].map(
          (name) => ({ name, description: expect.any(String) }),
        ),
        agents: [],
        hook_id: "watch.before",
        phase: "turn.pre_prompt_compile",
        env: expect.any(Array),
      },
    ]);
    expect(told[0].env).not.toContain("HOOK_TEST_TOKEN");
    expect(told[0].env.filter((name: string) => name.startsWith("HEDDLE_"))).toEqual([]);
  });

  test("[TLD85] post_prompt_compile sees the manifest of the first step once, before anything is sent", async () => {
    const scene = await stage.scene();
    const { id: thread_id } = await scene.start();
    scene.plays(calls("system_time"), "Late.");
    const run = await scene.answered(thread_id, "What time is it?");
    const [told, ...more] = seen(thread_id, "watch.compiled");
    expect(more).toEqual([]);
    expect(told).toMatchObject({ run_id: run.id, agent_id: run.agent_id, phase: "turn.post_prompt_compile" });
    expect(told.manifest).toEqual(await scene.manifest(run.id, 1));
    // Its message has seven characters: the hook refuses, and nothing is sent.
    scene.model.forget();
    const refused = await scene.ask((await scene.start()).id, "Sieben!");
    expect(refused).toMatchObject({ status: "failed", steps: 1, error: { code: "hook.failed" } });
    expect(refused.error?.message).toMatch(/^Hook watch\.compiled of package watch /);
    expect(scene.model.requests).toEqual([]);
    const { request } = await scene.context(refused.id);
    expect(request).not.toHaveProperty("sha256");
    scene.plays("Now.");
    await scene.answered(refused.thread_id, "And now, again?");
    expect(JSON.parse(await scene.received(0)).messages.slice(1)).toEqual([
      { role: "user", content: "Sieben!" },
      { role: "user", content: "And now, again?" },
    ]);
    await verifyAll(scene);
  });

  test("[TLD86] post_turn is told how a run ended, well or not", async () => {
    const scene = await stage.scene();
    const { id: thread_id } = await scene.start();
    scene.plays("Well.", { steps: [{ status: 400 }] });
    const well = await scene.answered(thread_id, "Well?");
    const ill = await scene.ask(thread_id, "And now?");
    expect(ill.status).toBe("failed");
    await soon(() => seen(thread_id, "watch.after").length).toBe(2);
    const told = seen(thread_id, "watch.after");
    expect(told.map(({ run_id }) => run_id)).toEqual([well.id, ill.id]);
    expect(told.map(({ outcome }) => outcome)).toEqual([
      await scene.getRun(well.id),
      await scene.getRun(ill.id),
    ]);
  });

  test("[TLD87] a run that is cancelled while a hook is at work ends at once, and nothing is sent", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    const { run } = await scene.startRun(id, "hard:HANG now");
    await soon(() => seen(id, "watch.before").length).toBe(1);
    await scene.wire.result("run/cancel", { run_id: run.id });
    expect(await scene.ended(run.id)).toMatchObject({ status: "cancelled", steps: 0 });
    expect(scene.model.requests).toEqual([]);
    await verifyAll(scene);
  });

  test("[TLD88] hook/list shows packages of every kind with where they come from", async () => {
    const scene = await stage.scene();
    const { data } = await scene.wire.result("hook/list", {});
    expect(data.map(({ id, source }) => [id, source.kind])).toEqual([
      ["command", "command"],
      ["hard", "module"],
      ...["agents", "artifact_items", "artifact_panels", "message_context", "skills", "tools"].map((name) => [
        `heddle.prompt.${name}`,
        "built_in",
      ]),
      ["pioneer.prompt.agents_doc", "built_in"],
      ["soft", "module"],
      ["watch", "module"],
    ]);
    const before = data
      .flatMap(({ subscriptions }) => subscriptions)
      .filter(({ phase }) => phase === "turn.pre_prompt_compile");
    const order = before.toSorted((a, b) => a.position - b.position).map(({ hook_id }) => hook_id);
    expect(order).toEqual([
      "watch.before",
      "command.hook",
      "pioneer.thread_agents_doc_prompt",
      "hard.hook",
      "heddle.tools_prompt",
      "heddle.skills_prompt",
      "heddle.artifact_items_prompt",
      "heddle.message_context_prompt",
      "heddle.artifact_panels_prompt",
      "heddle.agents_prompt",
      "soft.hook",
    ]);
  });

  test("[TLD89] a hook that can't be installed keeps the gateway from starting: it may be a limit", async () => {
    const configFile = join(temporaryDirectory(), "heddle.config.json");
    writeFileSync(configFile, JSON.stringify({ hooks: [{ module: "missing.mjs" }] }));
    await expect(startGateway(sqliteStore, { configFile })).rejects.toMatchObject({
      kind: "hook.module_failed",
    });
  });
});
