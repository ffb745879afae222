import { mkdirSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ServerStep, ServerTurn } from "../support/model-server/script.js";
import {
  agentAt,
  apis,
  calls,
  forEachApi,
  KEY,
  patience,
  type RunScene,
  runStage,
  says,
  verifyAll,
} from "../support/runs.js";
import { onEitherStore, sqliteStore } from "../support/stores.js";

interface Failure {
  readonly name: string;
  readonly steps: readonly ServerStep[];
  readonly code: string;
  /** What is kept of the answer. */
  readonly kept?: string;
  /** Default: 1. */
  readonly requests?: number;
}

const html = { headers: { "content-type": "text/html" } };

const failures: readonly Failure[] = [
  {
    name: "429 without end",
    steps: [{ status: 429, body: "slow down" }],
    code: "provider.rate_limited",
    requests: 3,
  },
  { name: "500", steps: [{ status: 500, body: "oops" }], code: "provider.server_error", requests: 3 },
  { name: "401", steps: [{ status: 401, body: `bad key ${KEY}` }], code: "provider.unauthorized" },
  { name: "404", steps: [{ status: 404, body: "no such model" }], code: "provider.not_found" },
  {
    name: "a wrong content type",
    steps: [html, { raw: "<html>Welcome</html>" }],
    code: "provider.content_type",
  },
  {
    name: "a stream that closes in mid-event",
    steps: [{ text: "I was going to" }, { raw: 'data: {"type":"hal' }, { cut: true }],
    code: "provider.broken_stream",
    kept: "I was going to",
  },
  {
    name: "a stream that ends before its end",
    steps: [{ text: ["I was ", "going to"] }, { end: true }],
    code: "provider.broken_stream",
    kept: "I was going to",
  },
  {
    name: "an event that is no JSON",
    steps: [{ text: "I was" }, { event: "{never closed" }, { text: " going to" }],
    code: "provider.broken_stream",
    kept: "I was",
  },
  {
    name: "a failure in the middle of the stream",
    steps: [{ text: "I was" }, { error: { type: "overloaded_error", message: "Too many of you" } }],
    code: "provider.overloaded",
    kept: "I was",
  },
  { name: "an empty answer", steps: [{ end: true }], code: "provider.empty_answer", requests: 1 },
];

forEachApi("a provider that fails", (api) => {
  const stage = runStage(sqliteStore);

  test.each(failures)(
    "[RUN60] $name is a clear failure of the run",
    async ({ steps, code, kept, requests }) => {
      const scene = await stage.scene();
      const { id } = await scene.start({ agent_id: api.id });
      scene.plays({ repeat: true, steps: [...steps] });
      const run = await scene.ask(id, "the question");
      expect(run).toMatchObject({
        status: "failed",
        steps: 1,
        error: { code },
        ended_at: expect.any(Number),
      });
      expect(run.error?.message).toMatch(/^\S.{20,}\.$/s);
      expect(JSON.stringify(run)).not.toContain(KEY);
      expect(await scene.getRun(run.id)).toEqual(run);
      expect(scene.model.requests).toHaveLength(requests ?? 1);
      const [question, answer, ...rest] = await scene.messages(id);
      expect(question).toMatchObject({ id: run.user_message_id });
      expect(rest).toEqual([]);
      if (kept === undefined) expect(answer).toBeUndefined();
      else {
        expect(answer).toMatchObject({
          id: run.agent_message_id,
          stopReason: "error",
          content: [{ type: "text", text: kept }],
        });
      }
      await expectUsable(scene, id, kept);
    },
  );

  test("[RUN61] 429 and then an answer is an answer", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: api.id });
    scene.plays({ steps: [{ status: 429, headers: { "retry-after-ms": "5" } }] }, says("Now."));
    const run = await scene.answered(id, "the question");
    expect(run).toMatchObject({ steps: 1 });
    expect(run).not.toHaveProperty("error");
    const [first, second] = scene.model.requests;
    expect(second?.body).toBe(first?.body);
    await expectUsable(scene, id, "Now.");
  });

  test("[RUN62] an event of an unknown kind is passed over", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: api.id });
    const unknown = { event: { type: "response.never_heard_of", data: { deep: [1] } } };
    scene.plays({ steps: [{ text: "One" }, unknown, { text: " two." }] });
    await scene.answered(id, "the question");
    expect((await scene.messages(id))[1]?.content).toEqual([{ type: "text", text: "One two." }]);
  });

  test("[RUN63] a call that breaks off is not made, and is no part of what is told next", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: api.id });
    const call = { tool_call: { id: "call_1", name: "system_time", arguments: ['{"time', 'zone":"UTC"}'] } };
    scene.plays({ steps: [{ text: "I look." }, call, { cut: true }] });
    const run = await scene.ask(id, "the question");
    expect(run).toMatchObject({ status: "failed", error: { code: "provider.broken_stream" } });
    const [, answer] = await scene.messages(id);
    expect(answer?.content).toEqual([{ type: "text", text: "I look." }]);
    expect(answer).not.toHaveProperty("toolCalls");
    const asked = scene.model.requests.length;
    scene.plays("Noon.");
    await scene.answered(id, "again");
    expect(await scene.received(asked)).not.toContain("call_1");
    await verifyAll(scene);
  });

  test("[RUN64] a failure in a later step keeps what the steps before it did", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: api.id });
    scene.plays(
      { steps: [{ text: "I look." }, ...calls("system_time").steps] },
      { steps: [{ status: 400, body: "no" }] },
    );
    const run = await scene.ask(id, "the question");
    expect(run).toMatchObject({ status: "failed", steps: 2, error: { code: "provider.bad_request" } });
    expect((await scene.messages(id))[1]).toMatchObject({
      stopReason: "error",
      content: [{ text: "I look." }, { type: "tool_call_ref" }],
      toolCalls: [{ name: "system_time", status: "completed" }],
    });
    await expectUsable(scene, id, "I look.");
    expect(scene.model.requests.at(-1)?.body).toContain("system_time");
  });
});

/** The next message works: its request is one that the API takes, and tells what was kept. */
async function expectUsable(scene: RunScene, thread_id: string, kept: string | undefined): Promise<void> {
  expect((await scene.get(thread_id)).status).toBe("idle");
  const asked = scene.model.requests.length;
  scene.plays("All is well.");
  await scene.answered(thread_id, "and now?");
  const body = await scene.received(asked);
  for (const words of ["the question", "and now?", ...(kept === undefined ? [] : [kept])]) {
    expect(body.split(JSON.stringify(words).slice(1, -1))).toHaveLength(2);
  }
  expectAlternating(JSON.parse(body));
  await verifyAll(scene);
}

/** Anthropic's API is given the model's and the user's words in turns, also where a question was not answered. */
function expectAlternating({ messages = [] }: { messages?: Turn[] }): void {
  if (messages.some(({ role }) => role === "system" || role === "tool")) return;
  for (const [at, { role }] of messages.entries()) {
    if (at > 0) expect(role).not.toBe(messages[at - 1]?.role);
  }
}

interface Turn {
  readonly role: string;
}

const impatient = { firstTokenMs: 200, silenceMs: 200 };

onEitherStore("a provider that is not there, or not quick", (kind) => {
  const stage = runStage(kind, {
    config: (url) => ({
      agents: [
        agentAt(url, apis[0], {
          agentId: "impatient",
          chat: {
            config: {
              baseURL: `${url}/v1`,
              timeouts: { ...patience.timeouts, ...impatient },
              retry: { retries: 0 },
            },
          },
        }),
        agentAt("http://127.0.0.1:1", apis[0], { agentId: "down" }),
        agentAt(url, apis[1], { agentId: "wrong-protocol", chat: { provider: "anthropic" } }),
      ],
    }),
  });

  test("[RUN65] a provider that is down is told with its address", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "down" });
    const run = await scene.ask(id, "hello?");
    expect(run).toMatchObject({
      status: "failed",
      error: { code: "provider.unreachable", message: expect.stringContaining("127.0.0.1:1") },
    });
    expect((await scene.get(id)).status).toBe("idle");
    expect(await scene.messages(id)).toHaveLength(1);
    // The same thread with a provider that is there.
    scene.plays("Here.");
    const { id: other } = await scene.fork(id, { agent_id: "impatient" });
    await scene.answered(other, "and you?");
    await verifyAll(scene);
  });

  test("[RUN125] a log that can't be written any more: the model at work is left, the run says why, and the next message works", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "impatient" });
    scene.plays("First.");
    await scene.answered(id, "one");
    const third = { when: "three", steps: [{ text: "Third." }] };
    scene.plays(third, { when: "two", steps: [{ hang: true }], repeat: true });
    const lock = join(scene.root, ".agent", "threads", id, "thread.lock");
    rmSync(lock);
    mkdirSync(lock);
    const refused = await scene.ask(id, "two");
    expect(refused).toMatchObject({ status: "failed", error: { message: expect.stringContaining(lock) } });
    for (const { closed } of scene.model.requests.slice(1)) expect((await closed).byClient).toBe(true);
    rmdirSync(lock);
    await scene.answered(id, "three");
    const said = (await scene.messages(id)).map(({ content }) => content[0]?.text);
    expect(said).toEqual(["one", "First.", "three", "Third."]);
    await verifyAll(scene);
  });

  test("[RUN66] a provider that does not begin, or falls silent, is given up", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "impatient" });
    const turns: ServerTurn[] = [
      { steps: [{ hang: true }] },
      { steps: [{ text: "I was" }, { hang: true }] },
      { steps: [{ text: "Now." }] },
    ];
    scene.plays(...turns);
    const late = await scene.ask(id, "one");
    expect(late).toMatchObject({ status: "failed", error: { code: "provider.timeout" } });
    const silent = await scene.ask(id, "two");
    expect(silent).toMatchObject({ status: "failed", error: { code: "provider.timeout" } });
    for (const request of scene.model.requests) expect((await request.closed).byClient).toBe(true);
    await scene.answered(id, "three");
    const said = (await scene.messages(id)).map(({ content }) => content[0]?.text);
    expect(said).toEqual(["one", "two", "I was", "three", "Now."]);
    await verifyAll(scene);
  });
});
