import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startApp } from "../../src/app/index.js";
import {
  answer,
  ExternalAgent,
  externalAgent,
  externalEntry,
  SECRET_HEADER,
} from "../support/external-agent.js";
import { reached } from "../support/mortal-gateway.js";
import { type RunScene, runStage } from "../support/runs.js";
import { temporaryDirectory } from "../support/stores.js";

const trace = join(temporaryDirectory(), "turns.txt");
const agent = externalAgent();
const gone = await freePort();
const stage = runStage(undefined, {
  config: () => ({
    agents: [
      externalEntry(agent.get().url),
      {
        ...externalEntry(agent.get().url, { callbackBaseUrl: "https://tunnel.example/heddle/" }),
        agentId: "tunnelled",
      },
      { ...externalEntry(`http://user:pass-word@127.0.0.1:${agent.get().port}/`), agentId: "named" },
      { ...externalEntry(`http://127.0.0.1:${gone}/`), agentId: "gone" },
    ],
    hooks: [{ module: tracingHook() }],
  }),
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function tracingHook(): string {
  const module = join(temporaryDirectory(), "turns.mjs");
  writeFileSync(
    module,
    `import { appendFileSync } from "node:fs";
     export default { id: "test.turns", contributes: [], subscriptions: [{
       hook_id: "test.turns", phase: "turn.post_turn",
       run({ run_id, outcome }) { appendFileSync(${JSON.stringify(trace)}, run_id + " " + outcome.status + "\\n"); },
     }] };`,
  );
  return module;
}

const turnsOf = (run_id: string) =>
  (existsSync(trace) ? readFileSync(trace, "utf8") : "")
    .split("\n")
    .filter((line) => line.startsWith(run_id));

async function started(agent_id = "remote", content = "hello") {
  const scene = await stage.scene();
  const { id: thread_id } = await scene.start({ agent_id });
  const { run } = await scene.startRun(thread_id, content);
  return { scene, thread_id, run };
}
const waits = (scene: RunScene, run_id: string) =>
  scene.changed(run_id, ({ status }) => status === "waiting");

test("[EXT30] a busy server is asked again as it wishes, with the same key and the same message, until it takes it", async () => {
  const replies = [
    { status: 429, headers: { "retry-after": "0" } },
    { status: 503, headers: { "retry-after": "0" } },
    { status: 500, headers: { "retry-after": "0" } },
    { status: 200, body: "ok" },
  ];
  agent.get().react = () => replies.shift() ?? { status: 418 };
  const { scene, run } = await started();
  await waits(scene, run.id);
  const { posts } = agent.get();
  expect(posts).toHaveLength(4);
  expect(new Set(posts.map(({ text }) => text)).size).toBe(1);
  expect(new Set(posts.map(({ headers }) => headers["idempotency-key"]))).toEqual(new Set([`${run.id}-1`]));
  await answer(posts[0] as never, { text: "done" });
  expect(await scene.ended(run.id)).toMatchObject({ status: "completed" });
});

test("[EXT31] one that stays busy fails the run after five attempts, with the server's words and without secrets", async () => {
  agent.get().react = ({ headers, body }) => ({
    status: 503,
    headers: { "retry-after": "0", "content-type": "application/json" },
    body: JSON.stringify({ error: `no room for ${headers["x-agent-key"]} and ${body.callbackUrl}\nsorry.` }),
  });
  const { scene, thread_id, run } = await started();
  const ended = await scene.ended(run.id);
  expect(ended).toMatchObject({ status: "failed", error: { code: "external.unavailable" } });
  const { message } = ended.error as { message: string };
  expect(message).toMatch(
    /^The agent at 127\.0\.0\.1:\d+ answers with status 503: no room for \[redacted\] and /,
  );
  expect(message).toMatch(/sorry\. It was tried 5 times\.$/);
  expect(message).not.toContain(SECRET_HEADER);
  expect(message).not.toContain(agent.get().posts[0]?.body.callbackUrl.split("/").at(-1));
  expect(agent.get().posts).toHaveLength(5);
  agent.get().react = () => ({ status: 202 });
  const { run: next } = await scene.startRun(thread_id, "again");
  await waits(scene, next.id);
});

test("[EXT32] what is refused fails at once; a redirect is not followed, and nothing goes where it leads", async () => {
  const elsewhere = await ExternalAgent.start();
  const replies = [
    { status: 401, body: "who are you?" },
    { status: 307, headers: { location: elsewhere.url } },
    { status: 501 },
  ];
  agent.get().react = () => replies.shift() ?? { status: 418 };
  const ends = [];
  for (const _ of [1, 2, 3]) {
    const { scene, run } = await started();
    ends.push((await scene.ended(run.id)).error);
  }
  expect(ends).toEqual([
    {
      code: "external.refused",
      message: expect.stringMatching(/ answers with status 401: who are you\?\.$/),
    },
    { code: "external.refused", message: expect.stringMatching(/sends messages elsewhere \(status 307\)/) },
    { code: "external.refused", message: expect.stringMatching(/ answers with status 501\.$/) },
  ]);
  expect(agent.get().posts).toHaveLength(3);
  expect(elsewhere.posts).toEqual([]);
  await elsewhere.close();
});

test("[EXT33] one that can't be reached is tried again for a while, then the run fails and says so; one that comes back gets it", async () => {
  const lost = await started("gone");
  expect(await lost.scene.ended(lost.run.id)).toMatchObject({
    status: "failed",
    error: {
      code: "external.unreachable",
      message: expect.stringMatching(/could not be reached \(ECONNREFUSED\)/),
    },
  });
  const { scene, run } = await started("gone");
  const late = await ExternalAgent.start(gone);
  const post = await late.posted(0);
  expect(post.body.message.text).toBe("hello");
  await waits(scene, run.id);
  await scene.wire.result("run/cancel", { run_id: run.id });
  await late.close();
}, 60_000);

test("[EXT34] the answer goes where the configuration says; a name in the address is sent as a header", async () => {
  const { scene, thread_id, run } = await started("tunnelled");
  const { callbackUrl } = (await agent.get().posted(0)).body;
  const path = `/external/${scene.workspace_id}/${thread_id}/`;
  expect(callbackUrl.startsWith(`https://tunnel.example/heddle${path}`)).toBe(true);
  await waits(scene, run.id);
  await started("named");
  const { authorization } = (await agent.get().posted(1)).headers;
  expect(authorization).toBe(`Basic ${Buffer.from("user:pass-word").toString("base64")}`);
});

test("[EXT35] no secret is recorded or shown: not the one of the callback, not the headers, not the address", async () => {
  const { scene, thread_id, run } = await started();
  const post = await agent.get().posted(0);
  await waits(scene, run.id);
  await answer(post, { text: "done" });
  await scene.ended(run.id);
  const secret = post.body.callbackUrl.split("/").at(-1) as string;
  const context = await scene.context(run.id);
  const shown = JSON.stringify([
    context,
    await scene.manifest(run.id),
    await scene.journal(run.id),
    await scene.preview(thread_id, { content: "x" }),
    await scene.get(thread_id),
    await scene.wire.result("agent/get", { workspace_id: scene.workspace_id, agent_id: "remote" }),
    scene.text(thread_id),
    scene.text(thread_id, "messages.jsonl"),
  ]);
  for (const hidden of [secret, SECRET_HEADER, "token-in-the-path"]) expect(shown).not.toContain(hidden);
  const recorded = await scene.journal(run.id);
  const handed = recorded.find(({ type }) => type === "program.handed") as { request?: string } | undefined;
  const blob = await scene.wire.result("blob/get", { ref: handed?.request as string });
  const text = Buffer.from(blob.content_base64, "base64").toString();
  expect(text).toBe(post.text.replace(secret, "[secret]"));
  expect(context.request).toEqual({
    url: `http://127.0.0.1:${agent.get().port}/…`,
    body: text,
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    exact: false,
  });
});

test("[EXT36] it gets the message and nothing else; what is shown says so, also before it is sent", async () => {
  const scene = await stage.scene();
  await scene.saveDoc("Always be brief.");
  const { id } = await scene.start({ agent_id: "remote" });
  const preview = await scene.preview(id, { content: "how are you?" });
  const { run } = await scene.startRun(id, "how are you?");
  const post = await agent.get().posted(0);
  await waits(scene, run.id);
  expect(post.text).not.toContain("brief");
  expect(Object.keys(post.body)).toEqual(["sessionId", "agentId", "callbackUrl", "message"]);
  const context = await scene.context(run.id);
  const delivery = {
    way: "not_sent",
    session: "new",
    replayed: 0,
    adds: [expect.stringMatching(/own instructions/)],
  };
  expect(context.delivery).toEqual(delivery);
  expect(context.messages.map(({ role, content }) => [role, content])).toEqual([["user", "how are you?"]]);
  const manifest = await scene.manifest(run.id);
  expect(manifest).toMatchObject({ provider: "external", model: "external", delivery });
  expect(manifest.tools.filter(({ offered }) => offered)).toEqual([]);
  expect(manifest.tools[0]?.reason).toMatch(/external agent/);
  expect(preview.manifest.delivery).toEqual(delivery);
  expect(preview.messages.map(({ content }) => content)).toEqual(["how are you?"]);
  const { message, ...rest } = JSON.parse(preview.request.body);
  expect(rest).toEqual(JSON.parse(context.request.body.replace(/,"message".*$/, "}")));
  expect(message.text).toBe("how are you?");
});

test("[EXT37] a provider or a model can't be chosen for it", async () => {
  const scene = await stage.scene();
  const { id: thread_id } = await scene.start({ agent_id: "remote" });
  for (const config of [{ provider: "openai" }, { model: "gpt-5" }]) {
    const error = await scene.wire.error("run/start", {
      workspace_id: scene.workspace_id,
      thread_id,
      content: "x",
      config,
    });
    expect(error.data).toMatchObject({ kind: "agent.invalid_param", param: Object.keys(config)[0] });
  }
  expect(agent.get().posts).toEqual([]);
});

test("[EXT38] hooks hear of the end once, whether the answer came before or after the message was taken", async () => {
  const waited = await started();
  const post = await agent.get().posted(0);
  await waits(waited.scene, waited.run.id);
  await answer(post, { text: "after" });
  agent.get().react = async (early) => {
    await answer(early, { text: "before" });
    return { status: 202 };
  };
  const quick = await started();
  await quick.scene.ended(quick.run.id);
  // A turn after it is heard of later.
  agent.get().react = () => ({ status: 400 });
  const last = await quick.scene.ask(quick.thread_id, "last");
  await reached(() => expect(turnsOf(last.id)).toEqual([`${last.id} failed`]));
  expect(turnsOf(waited.run.id)).toEqual([`${waited.run.id} completed`]);
  expect(turnsOf(quick.run.id)).toEqual([`${quick.run.id} completed`]);
});

test("[EXT39] a message with an image is posted as text that names it", async () => {
  const scene = await stage.scene();
  const { id } = await scene.start({ agent_id: "remote" });
  const png =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  await scene.startRun(id, [
    { type: "text", text: "what is this?" },
    { type: "image", data: png, mimeType: "image/png" },
  ]);
  expect((await agent.get().posted(0)).body.message.text).toBe("what is this?\n[image]");
});

test("[EXT51] a gateway that listens nowhere says so instead of sending a message that nobody could answer", async () => {
  const configFile = join(temporaryDirectory(), "heddle.config.json");
  writeFileSync(configFile, JSON.stringify({ agents: [externalEntry(agent.get().url)] }));
  const app = await startApp({
    dataDir: temporaryDirectory(),
    logLevel: "silent",
    configFile,
    commandsPort: false,
  });
  const told: { id?: number; result?: { run?: { error?: object } } }[] = [];
  const connection = app.gateway.connect({
    send: (text, sent) => {
      told.push(JSON.parse(text));
      sent();
    },
    close: () => {},
  });
  const call = (id: number, method: string, params: object) => {
    connection.receive(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    // biome-ignore lint/suspicious/noExplicitAny: tests look at whatever came
    return reached<any>(() => {
      const found = told.find((each) => each.id === id);
      expect(found).toBeDefined();
      return found?.result;
    });
  };
  try {
    const { data } = await call(1, "workspace/list", {});
    const workspace_id = data[0].id;
    const { thread } = await call(2, "thread/start", { workspace_id });
    const { run } = await call(3, "run/start", { workspace_id, thread_id: thread.id, content: "hello" });
    const ended = await reached(async () => {
      const { run: now } = await call(told.length + 100, "run/get", { run_id: run.id });
      expect(now.status).toBe("failed");
      return now;
    });
    expect(ended.error).toEqual({
      code: "external.no_callback",
      message: expect.stringMatching(/heddle serve/),
    });
    expect(agent.get().posts).toEqual([]);
  } finally {
    await app.stop();
  }
});
