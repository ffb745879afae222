import { expect, test } from "vitest";
import { answer, externalAgent, externalEntry, type PostedRequest } from "../support/external-agent.js";
import { bearer, exchangeBytes, http, statusOf } from "../support/http.js";
import { type RunScene, runStage } from "../support/runs.js";

const agent = externalAgent();
const stage = runStage(undefined, {
  config: () => ({ agents: [externalEntry(agent.get().url)] }),
});

/** A thread whose run waits for an answer. */
async function asked(): Promise<{ scene: RunScene; thread_id: string; run_id: string; post: PostedRequest }> {
  const scene = await stage.scene();
  const { id: thread_id } = await scene.start();
  const before = agent.get().posts.length;
  const { run } = await scene.startRun(thread_id, "hello");
  const post = await agent.get().posted(before);
  await scene.changed(run.id, ({ status }) => status === "waiting");
  return { scene, thread_id, run_id: run.id, post };
}

const at = (callbackUrl: string) => ({ body: { callbackUrl } as PostedRequest["body"] });
const JSON_TYPE = { "content-type": "application/json" };

test("[EXT20] a wrong secret, an unknown thread and a thread without one get the same 404, and nothing is recorded", async () => {
  const { scene, thread_id, run_id, post } = await asked();
  const { callbackUrl } = post.body;
  const secret = callbackUrl.split("/").at(-1) as string;
  const { id: never } = await scene.start();
  const base = `${stage.gateway().url}/external`;
  const wrong = [
    `${base}/${scene.workspace_id}/${thread_id}/${"A".repeat(43)}`,
    `${base}/${scene.workspace_id}/${thread_id}/${secret.slice(0, -1)}`,
    `${base}/${scene.workspace_id}/${thread_id}/${secret}x`,
    `${base}/${scene.workspace_id}/thr_nobody/${secret}`,
    `${base}/${scene.workspace_id}/${never}/${secret}`,
    `${base}/${scene.workspace_id}/${never}/null`,
    `${base}/${stage.gateway().home}/${thread_id}/${secret}`,
  ];
  const answers = await Promise.all(wrong.map((url) => answer(at(url), { text: "let me in" })));
  expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  expect(answers[0]?.status).toBe(404);
  expect((await scene.getRun(run_id)).status).toBe("waiting");
  expect(await scene.messages(thread_id)).toHaveLength(1);
  expect(await scene.messages(never)).toEqual([]);
  expect((await answer(post, { text: "right" })).status).toBe(200);
});

test("[EXT35] an agent that repeats the address in its answer does not have the secret recorded", async () => {
  const { scene, thread_id, run_id, post } = await asked();
  const { callbackUrl } = post.body;
  const secret = callbackUrl.split("/").at(-1) as string;
  await answer(post, { text: `I answer at ${callbackUrl}.` });
  await scene.ended(run_id);
  await answer(post, { error: `${callbackUrl} is slow` });
  const recorded = JSON.stringify(await scene.messages(thread_id));
  expect(recorded).toContain("/[secret].");
  expect(recorded).toContain("/[secret] is slow");
  expect(recorded).not.toContain(secret);
});

test("[EXT21] for a deleted thread it is the same 404, and nothing is recorded; brought back, it takes answers again", async () => {
  const { scene, thread_id, run_id, post } = await asked();
  const unknown = await answer(at(post.body.callbackUrl.replace(thread_id, "thr_x")), { text: "a" });
  await scene.wire.result("thread/delete", { workspace_id: scene.workspace_id, thread_id });
  expect((await scene.getRun(run_id)).status).toBe("cancelled");
  const refused = await answer(post, { text: "too late" });
  expect([refused.status, refused.text]).toEqual([404, unknown.text]);
  await scene.wire.result("thread/undelete", { workspace_id: scene.workspace_id, thread_id });
  expect(await scene.messages(thread_id)).toHaveLength(1);
  expect(JSON.parse((await answer(post, { text: "now" })).text)).toEqual({ ok: true, late: true });
  expect(await scene.messages(thread_id)).toHaveLength(2);
});

test("[EXT22] answers come in under any Host and Origin, without a token; the token lets nobody in who has no secret", async () => {
  const { scene, run_id, post } = await asked();
  const headers = { host: "tunnel.example", origin: "https://elsewhere.example" };
  expect((await answer(post, { text: "through a tunnel" }, headers)).status).toBe(200);
  expect(await scene.ended(run_id)).toMatchObject({ status: "completed" });
  const wrong = post.body.callbackUrl.replace(/[^/]+$/, "nothing");
  const token = bearer(stage.gateway()) as Record<string, string>;
  expect((await answer(at(wrong), { text: "x" }, token)).status).toBe(404);
});

test("[EXT22] nothing else is open to another Host, whatever its address looks like", async () => {
  const { url, token } = stage.gateway();
  const { host } = new URL(url);
  const paths = [
    "/external/../rpc",
    "/external/a/../../rpc",
    "/external/a/b/..",
    "/external/a/b/../../../rpc",
    "/external/%2e%2e/a/rpc",
    "/external/a/b/c/d",
    "/external/a/b/c?x=/rpc",
    "//external/a/b/c",
    "/externals/a/b/c",
    `http://${host}/external/a/b/c`,
  ];
  for (const path of paths) {
    const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
    const head = `POST ${path} HTTP/1.1\r\nHost: evil.example\r\nAuthorization: Bearer ${token}\r\n`;
    const rest = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`;
    expect(statusOf(await exchangeBytes(url, head + rest)), path).toBe(403);
  }
});

test("[EXT23] only POST is answered there", async () => {
  const { scene, run_id, post } = await asked();
  for (const method of ["GET", "PUT", "DELETE"]) {
    const { status, headers } = await http(post.body.callbackUrl, { method });
    expect([method, status, headers.allow]).toEqual([method, 405, "POST"]);
  }
  const foreign = await http(post.body.callbackUrl, { headers: { host: "evil.example" } });
  expect(foreign.status).toBe(403);
  expect((await scene.getRun(run_id)).status).toBe("waiting");
});

test("[EXT24] an empty answer, broken JSON, what is no UTF-8 or too long is refused, and the run goes on waiting", async () => {
  const { scene, run_id, post } = await asked();
  const { callbackUrl } = post.body;
  const bad: [string | Uint8Array, Record<string, string>, number][] = [
    ["", {}, 400],
    ["  \n ", { "content-type": "text/plain" }, 400],
    ["{}", JSON_TYPE, 400],
    ['{"text": ""}', JSON_TYPE, 400],
    ['{"text": 5}', JSON_TYPE, 400],
    ['{"message": {"text": " "}}', JSON_TYPE, 400],
    ['{"message": null}', JSON_TYPE, 400],
    ['{"text": "half', JSON_TYPE, 400],
    ['["text"]', JSON_TYPE, 400],
    [new Uint8Array([0xff, 0xfe, 0x41]), { "content-type": "text/plain" }, 400],
    [JSON.stringify({ text: "x".repeat(1024 * 1024) }), JSON_TYPE, 413],
    ["[".repeat(1_000_000), JSON_TYPE, 400],
  ];
  for (const [body, headers, status] of bad) {
    const answered = await http(callbackUrl, { method: "POST", headers, body });
    expect([String(body).slice(0, 30), answered.status]).toEqual([String(body).slice(0, 30), status]);
    expect(JSON.parse(answered.text)).toEqual({ error: expect.any(String) });
  }
  expect((await scene.getRun(run_id)).status).toBe("waiting");
  const long = "y".repeat(1024 * 1024 - 100);
  expect((await answer(post, { text: long })).status).toBe(200);
  expect(await scene.ended(run_id)).toMatchObject({ status: "completed" });
});

test("[EXT25] what no message may hold is replaced; text that is no JSON is taken as it is", async () => {
  const { scene, thread_id, run_id, post } = await asked();
  const body = '{"text": "a\\u0000b\\ud800c"}';
  expect((await http(post.body.callbackUrl, { method: "POST", body })).status).toBe(200);
  await scene.ended(run_id);
  expect((await http(post.body.callbackUrl, { method: "POST", body: '{"half' })).status).toBe(200);
  const [, first, second] = await scene.messages(thread_id);
  expect(first?.content).toEqual([{ type: "text", text: "a\ufffdb\ufffdc" }]);
  expect(second?.content).toEqual([{ type: "text", text: '{"half' }]);
});

test("[EXT26] an agent may name the message it answers; what answers another one does not end the run", async () => {
  const { scene, thread_id, run_id, post } = await asked();
  await answer(post, { text: "one", inReplyTo: post.headers["idempotency-key"] });
  await scene.ended(run_id);
  const { run } = await scene.startRun(thread_id, "next");
  const next = await agent.get().posted(1);
  await scene.changed(run.id, ({ status }) => status === "waiting");
  const late = await answer(post, { text: "more of one", inReplyTo: post.headers["idempotency-key"] });
  expect(JSON.parse(late.text)).toEqual({ ok: true, late: true });
  expect((await scene.getRun(run.id)).status).toBe("waiting");
  await answer(next, { text: "two", inReplyTo: next.headers["idempotency-key"] });
  expect(await scene.ended(run.id)).toMatchObject({ status: "completed" });
});

test("[EXT27] answers of one thread are bounded in rate, also wrong ones; other threads go on", async () => {
  const [flooded, other] = [await asked(), await asked()];
  const wrong = at(flooded.post.body.callbackUrl.replace(/[^/]+$/, "wrong"));
  const statuses = new Set<number>();
  for (let batch = 0; batch < 10 && !statuses.has(429); batch++) {
    const all = await Promise.all(Array.from({ length: 50 }, () => answer(wrong, { text: "x" })));
    for (const { status, headers } of all) {
      statuses.add(status);
      if (status === 429) expect(headers["retry-after"]).toBe("1");
    }
  }
  expect([...statuses].sort()).toEqual([404, 429]);
  expect((await answer(other.post, { text: "fine" })).status).toBe(200);
  expect(await other.scene.ended(other.run_id)).toMatchObject({ status: "completed" });
});
