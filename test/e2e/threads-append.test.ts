import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { onEachStore } from "../support/stores.js";
import { line, soon, textMessage, threadStage } from "../support/threads.js";

const UUID4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const PIXEL = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
const nameOf = (bytes: Buffer, extension = "png") =>
  `sha256-${createHash("sha256").update(bytes).digest("hex").slice(0, 16)}.${extension}`;

onEachStore("appending messages", (kind) => {
  const stage = threadStage(kind);

  test("[THR20] text becomes one text block, with an id and a time of its own", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ title: "T" });
    const message = await scene.append(id, "Hello\nthere");
    expect(message).toEqual({
      id: expect.stringMatching(UUID4),
      role: "user",
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*\.\d{3}Z$/),
      content: [{ type: "text", text: "Hello\nthere" }],
    });
    expect(scene.text(id, "messages.jsonl")).toBe(line(message));
    const given = await scene.append(id, {
      id: "any string, 日本",
      role: "system",
      timestamp: "2026-01-02T03:04:05+02:00",
      content: [],
    });
    expect(given).toMatchObject({ id: "any string, 日本", timestamp: "2026-01-02T01:04:05.000Z" });
    expect(scene.lines(id)).toEqual([message, given]);
    expect((await scene.page(id)).data).toEqual([given, message]);
    expect(await scene.get(id)).toMatchObject({ message_count: 2, last_snippet: "Hello there" });
    await soon(() => scene.envelope(id).stats).toEqual({
      messageCount: 2,
      userMessageCount: 1,
      agentMessageCount: 0,
      toolCallCount: 0,
    });
  });

  test("[THR21] blocks and fields nobody knows are kept as they are, in their order", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ title: "T" });
    const message = {
      id: "m",
      role: "agent" as const,
      timestamp: "2026-01-02T03:04:05.678Z",
      content: [
        { type: "thinking", text: "hm", signature: "s" },
        { zebra: 1, type: "x-hologram", ant: { deep: [null, "\0", "\ud800"] } },
        { type: "tool_call_ref", toolCallId: "c", step: 1 },
      ],
      toolCalls: [{ toolCallId: "c", name: "bash", status: "completed" as const, output: "o", mine: 1 }],
      stopReason: "end_turn",
      model: "m",
      tokens: { input: 1, output: 2, cached: 3 },
      "x-mine": { b: 1, a: 2 },
      heddle: { runId: "run_1" },
    };
    const answered = await scene.append(id, message);
    expect(answered).toEqual({ ...message, run_id: "run_1" });
    expect(scene.lines(id)).toEqual([message]);
    expect(await scene.messages(id)).toEqual([answered]);
    await soon(() => scene.envelope(id).stats).toMatchObject({ agentMessageCount: 1, toolCallCount: 1 });
  });

  // Params are read through schemas, and those put the keys they know first.
  test("[THR21] the keys of a block stay in their order", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ title: "T" });
    await scene.append(id, { role: "agent", content: [{ zebra: 1, type: "x-hologram", ant: 2 }] });
    expect(scene.text(id, "messages.jsonl")).toContain('{"zebra":1,"type":"x-hologram","ant":2}');
  });

  test("[THR22] inline images become files beside the log, each once", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ title: "T" });
    const image = { type: "image", data: PIXEL.toString("base64"), mimeType: "image/png", alt: "pixel" };
    const message = await scene.append(id, { role: "user", content: [image, image] });
    const moved = { type: "image", mimeType: "image/png", alt: "pixel", assetRef: nameOf(PIXEL) };
    expect(message.content).toEqual([moved, moved]);
    expect(readdirSync(scene.path(id, "assets"))).toEqual([nameOf(PIXEL)]);
    expect(readFileSync(scene.path(id, "assets", nameOf(PIXEL)))).toEqual(PIXEL);
    expect(scene.text(id, "messages.jsonl")).not.toContain(image.data);
  });

  test("[THR23] an id that is there is answered and written once; another message under it is refused", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ title: "T" });
    const image = { type: "image", data: PIXEL.toString("base64"), mimeType: "image/png" };
    const toolCalls = [{ toolCallId: "c", name: "n", status: "completed" as const, output: "one" }];
    const given = [
      { id: "m1", role: "user" as const, content: "hello" },
      { id: "m2", role: "user" as const, content: [{ type: "text", text: "see" }, image] },
      { id: "m3", role: "agent" as const, content: [], toolCalls },
      { id: "nul \0 half \ud800", role: "agent" as const, content: "odd" },
    ];
    const first = [];
    for (const message of given) first.push(await scene.append(id, message));
    const log = scene.text(id, "messages.jsonl");
    const { seq } = await scene.tree();
    for (const [n, message] of given.entries()) expect(await scene.append(id, message)).toEqual(first[n]);
    const all = await Promise.all(given.map((message) => scene.append(id, message)));
    expect(all).toEqual(first);
    const others = [
      { ...given[0], content: "other" },
      { ...given[0], role: "agent" },
      { ...given[1], content: [{ type: "text", text: "other" }, image] },
      {
        ...given[1],
        content: [
          { type: "text", text: "see" },
          { ...image, data: "AAAA" },
        ],
      },
      { ...given[2], toolCalls: [{ ...toolCalls[0], output: "two" }] },
    ];
    for (const message of others) {
      const error = await scene.wire.error("message/append", { thread_id: id, message });
      expect(error, JSON.stringify(message)).toMatchObject({
        code: -32600,
        data: { kind: "message.exists" },
      });
    }
    expect(scene.text(id, "messages.jsonl")).toBe(log);
    expect((await scene.tree()).seq).toBe(seq);
    expect(readdirSync(scene.path(id, "assets"))).toEqual([nameOf(PIXEL)]);
  });

  test("[THR23] a message another program wrote under the id a moment ago counts too", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ title: "T" });
    const theirs = textMessage("m", "theirs");
    scene.foreign(id, { envelope: scene.text(id), log: line(theirs) });
    expect(await scene.append(id, { id: "m", role: "user", content: "theirs" })).toEqual(theirs);
    expect(scene.text(id, "messages.jsonl")).toBe(line(theirs));
  });

  test("[THR23] a hundred at once with the same id are one message", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ title: "T" });
    const message = { id: "m", role: "user" as const, content: "once" };
    const answers = await Promise.all(Array.from({ length: 100 }, () => scene.append(id, message)));
    expect(new Set(answers.map((each) => JSON.stringify(each))).size).toBe(1);
    expect(scene.lines(id)).toHaveLength(1);
  });

  test("[THR24] what is no message is refused and leaves nothing", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    const { seq } = await scene.tree();
    const image = { type: "image", data: PIXEL.toString("base64"), mimeType: "image/png" };
    const bad = [
      {},
      { role: "tool", content: "x" },
      { role: "user" },
      { role: "user", content: null },
      { role: "user", content: [{ text: "no type" }] },
      { role: "user", content: ["text"] },
      { role: "user", content: [{ type: "text" }] },
      { role: "user", content: [image, { type: "text" }] },
      { role: "user", content: [{ type: "image", data: "AAAA" }] },
      { role: "user", content: "x", timestamp: "yesterday" },
      { role: "user", content: "x", id: "" },
      { role: "user", content: "x", id: "x".repeat(256) },
      { role: "agent", content: "x", toolCalls: "none" },
      { role: "agent", content: "x", toolCalls: [{ toolCallId: "c", name: "n", status: "odd" }] },
    ];
    for (const message of bad) {
      const error = await scene.wire.error("message/append", { thread_id: id, message });
      expect(error.code, JSON.stringify(message)).toBe(-32602);
      expect(["invalid_params", "atsf.invalid_message"]).toContain(error.data.kind);
    }
    expect(readdirSync(scene.path(id)).filter((name) => name !== "thread.lock")).toEqual(["thread.json"]);
    expect(existsSync(scene.path(id, "assets"))).toBe(false);
    expect(await scene.tree()).toMatchObject({ seq, threads: [{ title: "New thread", message_count: 0 }] });
  });

  test.each([
    ["What is this?", "What is this?"],
    ["\n\n  second line  \nthird", "second line"],
    ['<context app="x" file="y" />\nFix it', "Fix it"],
    ['<context app="x" />', "New thread"],
    ["<contextual> thoughts", "<contextual> thoughts"],
    ["a\tb\u0007c", "a b c"],
    ["😀".repeat(61), "😀".repeat(60)],
    [`${"x".repeat(59)}é́nd`, `${"x".repeat(59)}é`],
    ["half \ud800 and nul \0", "half \uFFFD and nul"],
    ["   ", "New thread"],
  ])("[THR25] the first user message %j names a thread %j", async (text, title) => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    await scene.append(id, { role: "system", content: "not me" });
    await scene.append(id, { role: "agent", content: "nor me" });
    expect((await scene.get(id)).title).toBe("New thread");
    await scene.append(id, text);
    expect((await scene.get(id)).title).toBe(title);
    expect(scene.envelope(id).title).toBe(title);
    if (title === "New thread") {
      await scene.append(id, "later");
      expect((await scene.get(id)).title).toBe("later");
    }
  });

  test("[THR25] a thread that someone named keeps its name", async () => {
    const scene = await stage.scene();
    const named = await scene.start({ title: "New thread" });
    const renamed = await scene.start();
    await scene.update(renamed.id, { title: "Mine" });
    scene.foreign("theirs", { envelope: { title: "New thread" } });
    await soon(async () => (await scene.list()).length).toBe(3);
    const once = await scene.start();
    await scene.append(once.id, "first");
    for (const id of [named.id, renamed.id, "theirs", once.id]) await scene.append(id, "second");
    const titles = await Promise.all([named.id, renamed.id, "theirs", once.id].map((id) => scene.get(id)));
    expect(titles.map(({ title }) => title)).toEqual(["New thread", "Mine", "New thread", "first"]);
  });

  test("[THR26] the last snippet is the last thing said, on one line", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ title: "T" });
    const snippet = async () => (await scene.get(id)).last_snippet;
    await scene.append(id, '<context a="b" />\nHello\n\n  world');
    expect(await snippet()).toBe("Hello world");
    await scene.append(id, { role: "system", content: "never shown" });
    await scene.append(id, { role: "agent", content: [{ type: "thinking", text: "hidden" }] });
    expect(await snippet()).toBe("Hello world");
    await scene.append(id, { role: "agent", content: `${"😀".repeat(300)}` });
    expect(await snippet()).toBe("😀".repeat(200));
    expect((await scene.get(id)).message_count).toBe(4);
  });

  test("[THR27] the answer comes first, then the message, the thread and the tree, to everyone", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ title: "T" });
    const observer = await stage.gateway().wire();
    const { seq } = await observer.result("subscribe", { workspace_id: scene.workspace_id });
    await scene.wire.settled();
    const before = scene.wire.received.length;
    const message = await scene.append(id, "hello");
    await scene.wire.settled();
    const came = scene.wire.received.slice(before).map((each) => ("method" in each ? each.method : "answer"));
    expect(came).toEqual(["answer", "message/appended", "thread/changed", "thread/tree/changed", "answer"]);
    const heard = await observer.heard(3);
    const thread = await scene.get(id);
    expect(heard).toEqual([
      {
        jsonrpc: "2.0",
        method: "message/appended",
        params: { workspace_id: scene.workspace_id, thread_id: id, message, seq: seq + 1 },
      },
      { jsonrpc: "2.0", method: "thread/changed", params: { thread, seq: seq + 2 } },
      {
        jsonrpc: "2.0",
        method: "thread/tree/changed",
        params: { workspace_id: scene.workspace_id, seq: seq + 3, changes: { threads: [thread] } },
      },
    ]);
    const late = await stage.gateway().wire();
    await late.result("subscribe", { workspace_id: scene.workspace_id, after_seq: seq });
    expect(await late.heard(3)).toEqual(heard);
  });

  test("[THR28] messages appended at once all stand in the log, each once, and are told in its order", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ title: "T" });
    const texts = Array.from({ length: 200 }, (_, n) => `message ${n}`);
    const answers = await Promise.all(texts.map((text) => scene.append(id, text)));
    const written = scene.lines(id) as { id: string }[];
    expect(new Set(written)).toEqual(new Set(answers));
    expect((await scene.get(id)).message_count).toBe(200);
    const appended = (await scene.wire.settled()).filter(({ method }) => method === "message/appended");
    expect(appended.map(({ params }) => params.message.id)).toEqual(written.map((each) => each.id));
  });
});
