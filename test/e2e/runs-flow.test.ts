import { expect, test } from "vitest";
import { calls, forEachApi, runStage, says } from "../support/runs.js";
import { onEachStore, sqliteStore } from "../support/stores.js";
import { soon } from "../support/threads.js";

const usage = { usage: { input: 11, output: 7 } };

onEachStore("a message becomes an answer", (kind) => {
  const stage = runStage(kind);

  test("[RUN1] run/start answers with the run and its message, before anything is answered", async () => {
    const scene = await stage.scene();
    const { id: thread_id } = await scene.start();
    scene.plays({ steps: [{ gate: "flow1" }, { text: "Hello." }] });
    const { run, message } = await scene.startRun(thread_id, "Hi!");
    expect(run).toEqual({
      id: expect.stringMatching(/^run_/),
      number: 1,
      thread_id,
      workspace_id: scene.workspace_id,
      status: "running",
      steps: 0,
      agent_id: "openai-compatible",
      model: "qwen3",
      user_message_id: message.id,
      agent_message_id: expect.any(String),
      created_at: expect.any(Number),
      started_at: expect.any(Number),
    });
    expect(message).toMatchObject({
      role: "user",
      content: [{ type: "text", text: "Hi!" }],
      run_id: run.id,
    });
    expect((await scene.getRun(run.id)).status).toBe("running");
    scene.model.open("flow1");
    await scene.ended(run.id);
  });

  test("[RUN2] the question stands in the log before the model is asked", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    scene.plays({ steps: [{ gate: "flow2" }, { text: "Here." }] });
    const arrived = scene.model.request(0).then(() => scene.lines(id));
    const { run, message } = await scene.startRun(id, "Where are you?");
    const [line, ...rest] = await arrived;
    expect(rest).toEqual([]);
    expect(line).toMatchObject({ id: message.id, role: "user", content: [{ text: "Where are you?" }] });
    scene.model.open("flow2");
    await scene.ended(run.id);
    expect(scene.lines(id)).toHaveLength(2);
  });

  test("[RUN3] the end of a run and its answer, with everything that was said and done", async () => {
    const scene = await stage.scene();
    const { id: thread_id } = await scene.start();
    scene.plays(
      {
        steps: [
          { thinking: "Which time is it?" },
          { text: "I look." },
          { tool_call: { id: "call_7", name: "system_time", arguments: '{"timezone":"UTC"}' } },
          usage,
        ],
      },
      { steps: [{ text: ["It is ", "late."] }, usage] },
    );
    const run = await scene.answered(thread_id, "What time is it?");
    expect(run).toMatchObject({ status: "completed", steps: 2, usage: { input: 22, output: 14 } });
    expect(run.error).toBeUndefined();
    expect(run.content).toBeUndefined();
    expect(run.ended_at).toBeGreaterThanOrEqual(run.started_at as number);
    expect(await scene.getRun(run.id)).toEqual(run);
    const [question, answer] = await scene.messages(thread_id);
    expect(question).toMatchObject({ id: run.user_message_id, run_id: run.id });
    expect(answer).toEqual({
      id: run.agent_message_id,
      role: "agent",
      timestamp: expect.any(String),
      content: [
        { type: "thinking", text: "Which time is it?" },
        { type: "text", text: "I look." },
        { type: "tool_call_ref", toolCallId: "call_7", step: 1 },
        { type: "text", text: "It is late." },
      ],
      toolCalls: [
        {
          toolCallId: "call_7",
          name: "system_time",
          status: "completed",
          input: '{"timezone":"UTC"}',
          output: expect.stringContaining("UTC"),
          duration: expect.any(Number),
        },
      ],
      stopReason: "end_turn",
      model: "qwen3",
      tokens: { input: 22, output: 14 },
      heddle: { runId: run.id, thinkingMs: { 0: expect.any(Number) } },
      run_id: run.id,
    });
    const { run_id: _, ...line } = answer as object & { run_id?: string };
    expect(scene.lines(thread_id)[1]).toEqual(line);
  });

  test("[RUN3] why an answer ended is told in the words of the format", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    scene.plays(
      { steps: [{ text: "Once upon" }, { finish: "length" }] },
      { steps: [{ text: "No." }, { finish: "content_filter" }] },
    );
    await scene.answered(id, "Tell me everything");
    await scene.answered(id, "And more");
    const reasons = (await scene.messages(id)).flatMap((each) =>
      "stopReason" in each ? [each.stopReason] : [],
    );
    expect(reasons).toEqual(["max_tokens", "refusal"]);
  });

  test("[RUN4] runs are numbered per thread, and a wrong workspace has none of them", async () => {
    const scene = await stage.scene();
    const [a, b] = [await scene.start(), await scene.start()];
    scene.plays({ repeat: true, steps: [{ text: "Yes." }] });
    const numbers: number[] = [];
    for (const thread of [a, a, b, a]) numbers.push((await scene.answered(thread.id, "Well?")).number);
    expect(numbers).toEqual([1, 2, 1, 3]);
    const [run] = await scene.runs(b.id);
    const wrong = { run_id: run?.id, workspace_id: stage.gateway().home };
    for (const method of ["run/get", "run/cancel", "run/journal"]) {
      expect(await scene.wire.error(method, wrong)).toMatchObject({
        code: -32602,
        data: { kind: "run.not_found" },
      });
    }
    const unknown = await scene.wire.error("run/get", { run_id: `${run?.id.slice(0, -4)}0000` });
    expect(unknown).toMatchObject({ code: -32602, data: { kind: "run.not_found" } });
  });

  test("[RUN5] lists are filtered by thread and status, and pages give every run once", async () => {
    const scene = await stage.scene();
    const { workspace_id } = scene;
    const [a, b] = [await scene.start(), await scene.start()];
    scene.plays(
      { when: "fail me", steps: [{ status: 400, body: "no" }], repeat: true },
      { repeat: true, steps: [{ text: "Yes." }] },
    );
    const made: string[] = [];
    for (let i = 0; i < 5; i++) {
      const thread = i % 2 === 0 ? a : b;
      made.push((await scene.ask(thread.id, i === 3 ? "fail me" : "Well?")).id);
    }
    const list = async (more: object) => {
      const { data } = await scene.wire.result("run/list", { workspace_id, ...more });
      return data.map(({ id }) => id);
    };
    expect(await list({ order: "created" })).toEqual(made.toReversed());
    expect(await list({ thread_id: b.id, order: "created" })).toEqual([made[3], made[1]]);
    expect(await list({ status: ["failed"] })).toEqual([made[3]]);
    expect(await list({ status: ["failed", "completed"], thread_id: b.id })).toHaveLength(2);
    expect(await list({ status: ["queued"] })).toEqual([]);
    for (const order of ["created", "updated"] as const) {
      const paged: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await scene.wire.result("run/list", { workspace_id, order, limit: 2, cursor });
        paged.push(...page.data.map(({ id }) => id));
        cursor = page.next_cursor;
      } while (cursor !== undefined);
      expect(paged.toSorted()).toEqual(made.toSorted());
    }
    const refusals = [
      { workspace_id: "wsp_unknown" },
      { workspace_id, status: [] },
      { workspace_id, status: ["done"] },
      { workspace_id, cursor: "none" },
    ];
    for (const refused of refusals) expect((await scene.wire.error("run/list", refused)).code).toBe(-32602);
  });

  test("[RUN6] a thread is running while its run is under way, and idle after it", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    scene.plays({ steps: [{ gate: "flow6" }, { text: "Done." }] });
    const { run } = await scene.startRun(id, "Work!");
    await scene.model.request(0);
    expect((await scene.get(id)).status).toBe("running");
    expect((await scene.tree()).threads.map(({ status }) => status)).toEqual(["running"]);
    scene.model.open("flow6");
    await scene.ended(run.id);
    expect((await scene.get(id)).status).toBe("idle");
    await scene.wire.settled();
    const told = scene.wire.notifications("thread/changed").map(({ params }) => params.thread.status);
    expect(told.at(-1)).toBe("idle");
    expect(told).toContain("running");
  });

  test("[RUN10] the same key answers the first run, under way or ended, and asks nobody again", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    const other = await scene.start();
    scene.plays({ steps: [{ gate: `key-${kind.name}` }, { text: "Once." }] }, says("Elsewhere."));
    const key = { idempotency_key: "k1" };
    const first = await scene.startRun(id, "Only once", key);
    await scene.model.request(0);
    const again = await scene.startRun(id, "Only once", key);
    expect(again.run.id).toBe(first.run.id);
    expect(again.message).toEqual(first.message);
    scene.model.open(`key-${kind.name}`);
    const ended = await scene.ended(first.run.id);
    expect(await scene.startRun(id, "Other words", key)).toEqual({ run: ended, message: first.message });
    await stage.restart();
    const later = await stage.again(scene);
    expect(await later.startRun(id, "Only once", key)).toEqual({ run: ended, message: first.message });
    expect(later.lines(id)).toHaveLength(2);
    // The key belongs to the thread.
    expect((await later.answered(other.id, "Only once", key)).id).not.toBe(first.run.id);
    expect(scene.model.requests).toHaveLength(2);
  });

  test("[RUN11] calls with one key at the same instant make one run", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    scene.plays(says("Once."));
    const wires = await Promise.all([0, 1, 2].map(() => stage.gateway().wire()));
    const { workspace_id } = scene;
    const params = { workspace_id, thread_id: id, content: "Only once", idempotency_key: "k" };
    const answers = await Promise.all([...wires, ...wires].map((wire) => wire.result("run/start", params)));
    const [first] = answers;
    expect(new Set(answers.map(({ run }) => run.id)).size).toBe(1);
    expect(new Set(answers.map(({ message }) => message.id)).size).toBe(1);
    await scene.wire.result("subscribe", { workspace_id });
    await soon(async () => (await scene.getRun(first?.run.id as string)).status).toBe("completed");
    expect(await scene.runs(id)).toHaveLength(1);
    expect(scene.lines(id)).toHaveLength(2);
  });
});

forEachApi("a message becomes an answer", (api) => {
  const stage = runStage(sqliteStore);

  test("[RUN3] text, thoughts, calls and tokens of every API end up in the log", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: api.id });
    const thinking = { thinking: ["Let me", " see."], signature: "c2lnbmF0dXJl" };
    scene.plays(
      { steps: [thinking, { text: "I look." }, ...calls("system_time").steps, usage] },
      { steps: [{ text: "Late." }, usage] },
    );
    const run = await scene.answered(id, "What time is it?");
    expect(run).toMatchObject({ steps: 2, model: api.model, usage: { input: 22, output: 14 } });
    const [, answer] = await scene.messages(id);
    expect(answer).toMatchObject({
      content: [
        { type: "thinking", text: "Let me see." },
        { type: "text", text: "I look." },
        { type: "tool_call_ref", step: 1 },
        { type: "text", text: "Late." },
      ],
      toolCalls: [{ name: "system_time", status: "completed" }],
      stopReason: "end_turn",
      model: api.model,
      tokens: { input: 22, output: 14 },
    });
  });
});

const stage = runStage(sqliteStore);

test("[RUN7] what is no content is refused, and nothing is left of it", async () => {
  const scene = await stage.scene();
  const { id: thread_id } = await scene.start();
  const { workspace_id } = scene;
  const png = "iVBORw0KGgo=";
  const refused: unknown[] = [
    "",
    "  \n ",
    "a\0b",
    "\ud800",
    [],
    [{ type: "text", text: "" }],
    [{ type: "file", data: "x" }],
    [{ type: "image", data: "not base64!", mimeType: "image/png" }],
    [{ type: "image", data: png, mimeType: "text/html" }],
    Array.from({ length: 65 }, () => ({ type: "text", text: "x" })),
    7,
    { text: "x" },
  ];
  for (const content of refused) {
    const error = await scene.wire.error("run/start", { workspace_id, thread_id, content });
    expect(error.code, JSON.stringify(content)).toBe(-32602);
  }
  for (const more of [{ idempotency_key: "" }, { config: { model: 7 } }, { config: { max_tokens: 0 } }]) {
    const params = { workspace_id, thread_id, content: "x", ...more };
    expect((await scene.wire.error("run/start", params)).code).toBe(-32602);
  }
  expect(await scene.runs()).toEqual([]);
  expect(await scene.messages(thread_id)).toEqual([]);
  expect(scene.model.requests).toEqual([]);
});

test("[RUN8] a run's own settings count for it alone; what can't be used is refused at once", async () => {
  const scene = await stage.scene();
  const { id } = await scene.start({ config: { model: "qwen-small", max_tokens: 100 } });
  scene.plays({ repeat: true, steps: [{ text: "Yes." }] });
  const own = { config: { model: "qwen-large", max_tokens: null } };
  const models = [await scene.answered(id, "one", own), await scene.answered(id, "two")].map(
    ({ model }) => model,
  );
  expect(models).toEqual(["qwen-large", "qwen-small"]);
  const bodies = scene.model.requests.map(({ body }) => JSON.parse(body));
  expect(bodies).toMatchObject([{ model: "qwen-large" }, { model: "qwen-small", max_tokens: 100 }]);
  expect(bodies[0]).not.toHaveProperty("max_tokens");
  const { workspace_id } = scene;
  const unknown = { workspace_id, thread_id: id, content: "x", config: { provider: "nobody" } };
  expect(await scene.wire.error("run/start", unknown)).toMatchObject({ data: { kind: "agent.unavailable" } });
  expect(await scene.runs()).toHaveLength(2);
});

test("[RUN9] images of a message become files of the thread and reach the model", async () => {
  const scene = await stage.scene();
  const { id } = await scene.start();
  const data = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex").toString("base64");
  scene.plays("A picture.");
  const content = [
    { type: "text" as const, text: "What is this?" },
    { type: "image" as const, data, mimeType: "image/png" },
  ];
  await scene.answered(id, content);
  const [question] = await scene.messages(id);
  const [, image] = (question?.content ?? []) as unknown as { assetRef: string }[];
  expect(image).toMatchObject({
    type: "image",
    mimeType: "image/png",
    assetRef: expect.stringMatching(/\.png$/),
  });
  expect(scene.model.requests[0]?.body).toContain(data);
  const asset = await fetch(`${stage.gateway().url}/threads/${id}/assets/${image?.assetRef}`, {
    headers: { authorization: `Bearer ${stage.gateway().token}` },
  });
  expect(Buffer.from(await asset.arrayBuffer()).toString("base64")).toBe(data);
});
