import { writeFileSync } from "node:fs";
import { beforeEach, expect, test } from "vitest";
import { agentNamed, playByAgent } from "../support/agents.js";
import { type Doer, doer, doing } from "../support/programs.js";
import { type RunScene, runStage } from "../support/runs.js";
import { onEachStore } from "../support/stores.js";

/** One whose window holds only a few messages. */
function forgetting(program: Doer): object {
  const agent = program.agent("small", { toolAllowlist: ["system_time"], ownTools: true });
  const { chat } = agent as { chat: object };
  return { ...agent, chat: { ...chat, contextWindow: 3_000, maxTokens: 500 } };
}

onEachStore("runs of an agent that is a program", (kind) => {
  const program: Doer = doer();
  const stage = runStage(kind, {
    config: (url) => ({ agents: [program.agent("doer"), agentNamed(url, "model"), forgetting(program)] }),
  });
  let scene: RunScene;
  let before = 0;
  beforeEach(async () => {
    scene = await stage.scene();
    before = program.prompts().length;
  });
  const prompts = () => program.prompts().slice(before);

  test("[PRG10] what it says and does becomes one message, with calls, results, durations and diffs", async () => {
    const { id } = await scene.start();
    const diff = { path: "a.txt", oldText: "one\n", newText: "two\n" };
    const run = await scene.answered(
      id,
      doing(
        { think: "hm" },
        { say: "First. " },
        { tool: "read", input: { at: 1 }, output: "seen" },
        { tool: "edit", input: { path: "a.txt" }, output: "edited", diff },
        { say: "Done." },
      ),
    );
    expect(run).toMatchObject({ steps: 1, agent_id: "doer" });
    const data = await scene.messages(id);
    const answer = data.at(-1);
    expect(answer?.content).toMatchObject([
      { type: "thinking", text: "hm" },
      { type: "text", text: "First. " },
      { type: "tool_call_ref" },
      { type: "tool_call_ref" },
      { type: "text", text: "Done." },
    ]);
    expect(answer?.toolCalls).toMatchObject([
      { name: "read", status: "completed", input: '{"at":1}', output: "seen" },
      { name: "edit", status: "completed", diff },
    ]);
  });

  test("[PRG36] arguments that can't be written are told as that, and the thread goes on", async () => {
    const { id } = await scene.start();
    await scene.answered(id, doing({ tool: "read", input: { at: "@nested:20000" }, output: "seen" }));
    const answer = (await scene.messages(id)).at(-1);
    expect(answer?.toolCalls).toMatchObject([{ input: "[nested too deep to be shown]", output: "seen" }]);
    await scene.answered(id, doing({ say: "Still here." }));
  });

  test("[PRG1] [PRG2] [PRG3] a session goes on with the new message alone, and every byte handed over is shown", async () => {
    await scene.saveDoc("Say MARKER-ONE to everyone.");
    const { id } = await scene.start();
    const first = await scene.answered(id, doing({ say: "one" }));
    const second = await scene.answered(id, doing({ say: "two" }));
    const [told, again] = prompts();
    expect(told).toContain("MARKER-ONE");
    expect(again).toBe(doing({ say: "two" }));
    expect(await scene.manifest(first.id)).toMatchObject({
      delivery: { way: "message", session: "new", replayed: 0 },
    });
    const manifest = await scene.manifest(second.id);
    expect(manifest).toMatchObject({ delivery: { way: "already_there", session: "kept", replayed: 0 } });
    const { request, delivery, messages } = await scene.context(second.id);
    expect(delivery).toEqual(manifest.delivery);
    expect(request).toMatchObject({ exact: true });
    expect(request.body).toContain(JSON.stringify(doing({ say: "two" })).slice(1, -1));
    expect(request.body).not.toContain("MARKER-ONE");
    // What the agent is to know is shown all the same, section by section.
    expect(JSON.stringify(messages)).toContain("MARKER-ONE");
    const events = (await scene.journal(second.id)).map(({ type }) => type);
    expect(events.indexOf("program.handed")).toBeLessThan(events.indexOf("effect.receipt"));
  });

  test("[PRG1] instructions that changed reach the session that goes on, once, and are marked", async () => {
    await scene.saveDoc("MARKER-OLD");
    const { id } = await scene.start();
    await scene.answered(id, "hello");
    const { explicit } = await scene.wire.result("thread/agents_doc/get", {
      workspace_id: scene.workspace_id,
    });
    await scene.wire.result("thread/agents_doc/save", {
      workspace_id: scene.workspace_id,
      content: "MARKER-NEW",
      expected_version: explicit?.version,
    });
    await scene.answered(id, "again");
    await scene.answered(id, "and again");
    const [, changed = "", last = ""] = prompts();
    expect(changed.split("MARKER-NEW").length).toBe(2);
    expect(changed).not.toContain("MARKER-OLD");
    expect(last).toBe("and again");
  });

  test("[PRG8] [PRG9] a session goes on when its beginning has left the window, and run/preview shows what is handed over", async () => {
    const { id } = await scene.start({ agent_id: "small" });
    const ways: unknown[] = [];
    for (let at = 0; at < 5; at += 1) {
      const content = doing({ say: `${at} ${"word ".repeat(400)}` });
      const { request } = await scene.preview(id, { content });
      const run = await scene.answered(id, content);
      const context = await scene.context(run.id);
      expect(request.body, `message ${at}`).toBe(context.request.body);
      if (at > 0) expect(prompts().at(-1)).toBe(content);
      const { dropped = [], delivery } = await scene.manifest(run.id);
      ways.push([dropped.length > 0, delivery?.session]);
    }
    expect(ways.slice(0, 2)).toEqual([
      [false, "new"],
      [false, "kept"],
    ]);
    expect(ways.at(-1)).toEqual([true, "kept"]);
    for (const pid of program.living()) process.kill(pid, "SIGKILL");
    const fork = await scene.fork(id);
    await scene.answered(fork.id, "where are we?");
    expect(prompts().at(-1)).toMatch(/earlier messages? of this conversation left out/);
  });

  test("[PRG13] what is steered into a turn that has outgrown the window is told as well", async () => {
    const { id } = await scene.start({ agent_id: "small" });
    const file = program.file(`outgrown-${kind.name}`);
    const read = { tool: "read", output: "word ", times: 5_000 };
    const { run } = await scene.startRun(id, doing(read, { say: "working" }, { wait: file }));
    await expect.poll(() => prompts().length).toBe(1);
    await scene.wire.result("run/steer", { run_id: run.id, content: "and this" });
    writeFileSync(file, "");
    expect(await scene.ended(run.id)).toMatchObject({ status: "completed", steps: 2 });
    expect(prompts().at(-1)).toBe("and this");
    expect(await scene.wire.result("run/replay", { run_id: run.id })).toMatchObject({ verified: true });
  });

  test("[PRG5] what another agent said meanwhile is told as a record", async () => {
    const { id } = await scene.start();
    await scene.answered(id, "hello");
    await scene.wire.result("message/append", {
      workspace_id: scene.workspace_id,
      thread_id: id,
      message: { role: "agent", content: [{ type: "text", text: "SAID-ELSEWHERE" }] },
    });
    await scene.answered(id, "go on");
    const [, last = ""] = prompts();
    expect(last).toMatch(/^<meanwhile>[\s\S]*SAID-ELSEWHERE[\s\S]*<\/meanwhile>\n\ngo on$/);
  });

  test("[PRG7] a fork and a cleared thread begin a new session, with what is there", async () => {
    const { id } = await scene.start();
    await scene.answered(id, doing({ say: "ANSWER-ONE" }));
    const fork = await scene.fork(id);
    const run = await scene.answered(fork.id, "what did you say?");
    expect(prompts().at(-1)).toContain("ANSWER-ONE");
    expect(await scene.manifest(run.id)).toMatchObject({ delivery: { session: "new", replayed: 2 } });
    await scene.wire.result("thread/clear", { workspace_id: scene.workspace_id, thread_id: id });
    const cleared = await scene.answered(id, "anything?");
    expect(prompts().at(-1)).not.toContain("ANSWER-ONE");
    expect(await scene.manifest(cleared.id)).toMatchObject({ delivery: { session: "new", replayed: 0 } });
  });

  test("[PRG13] what is steered goes to the same session as its next turn", async () => {
    const { id } = await scene.start();
    const file = program.file(`steered-${kind.name}`);
    const { run } = await scene.startRun(id, doing({ say: "working" }, { wait: file }));
    await expect.poll(() => prompts().length).toBe(1);
    await scene.wire.result("run/steer", { run_id: run.id, content: "and this" });
    writeFileSync(file, "");
    expect(await scene.ended(run.id)).toMatchObject({ status: "completed", steps: 2 });
    expect(prompts().at(-1)).toBe("and this");
    expect(await scene.manifest(run.id)).toMatchObject({ delivery: { session: "kept" } });
  });

  test("[PRG27] a line that is no message is no failure, and stands in the journal", async () => {
    const { id } = await scene.start();
    const run = await scene.answered(id, doing({ garbage: "a word of its own" }, { say: "fine" }));
    const receipts = (await scene.journal(run.id)).filter(({ type }) => type === "effect.receipt");
    expect(receipts).toMatchObject([{ diagnostics: [expect.stringContaining("a word of its own")] }]);
  });

  test("[PRG1] [PRG8] examples of a base prompt are told once, and a session that goes on is handed the message alone", async () => {
    const example = { user: "EXAMPLE QUESTION", assistant: "EXAMPLE ANSWER" };
    const { ref } = await scene.wire.result("blob/put", {
      messages: [
        { role: "system", content: "BASE RULE" },
        ...Object.entries(example).map(([role, content]) => ({ role: role as "user", content })),
      ],
    });
    const { id } = await scene.start({ config: { default_prompt_refs: [ref] } });
    for (const say of ["one", "two"]) await scene.answered(id, doing({ say }));
    await scene.wire.result("message/append", {
      thread_id: id,
      message: { role: "system", content: "A NOTICE" },
    });
    for (const say of ["three", "four"]) await scene.answered(id, doing({ say }));
    const [first, second, third, fourth] = prompts();
    expect(first).toContain("EXAMPLE ANSWER");
    expect(second).toBe(doing({ say: "two" }));
    // A notice of the log counts among the instructions, and what it changes is told with the next message.
    expect(third).toMatch(/A NOTICE[\s\S]*<\/instructions>\s*do \[\{"say":"three"\}\]$/);
    expect(fourth).toBe(doing({ say: "four" }));
    const preview = await scene.wire.result("run/preview", { thread_id: id, content: "next" });
    expect(preview.request.body).toBe(JSON.stringify({ type: "text", text: "next" }));
  });

  test("[PRG1] [PRG5] a session does not hear its own answer again after a turn in which it said nothing", async () => {
    const { id } = await scene.start();
    const wait = program.file(`quiet-${kind}`);
    const { run } = await scene.startRun(id, doing({ say: "first" }, { wait }));
    await expect.poll(prompts).toHaveLength(1);
    await scene.wire.result("run/steer", { run_id: run.id, content: doing() });
    writeFileSync(wait, "");
    await scene.ended(run.id);
    await scene.answered(id, doing({ say: "third" }));
    expect(prompts().slice(1)).toEqual([doing(), doing({ say: "third" })]);
    await scene.ended((await scene.startRun(id, doing())).run.id);
    await scene.answered(id, doing({ say: "last" }));
    expect(prompts().slice(3)).toEqual([doing(), doing({ say: "last" })]);
  });

  test("[PRG33] a model delegates to a program, and gets its answer", async () => {
    const { id } = await scene.start({ agent_id: "model" });
    const call = {
      agentId: "doer",
      content: doing({ say: "by the program" }),
      mode: "sync",
      session: "create",
    };
    playByAgent(stage.model(), {
      model: [
        { steps: [{ tool_call: { id: "c", name: "agents_message", arguments: JSON.stringify(call) } }] },
        "done",
      ],
    });
    await scene.answered(id, "ask it");
    expect(JSON.stringify(stage.model().requests.at(-1)?.body)).toContain("by the program");
  });
});
