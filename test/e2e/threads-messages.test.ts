import { appendFileSync, closeSync, openSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { expect, test } from "vitest";
import type { Message } from "../../src/protocol/index.js";
import { onEachStore } from "../support/stores.js";
import { line, soon, type ThreadScene, textMessage, threadStage } from "../support/threads.js";

const ids = (messages: readonly Message[]) => messages.map(({ id }) => id);

/** A thread of another program, once the gateway knows it. */
async function theirs(scene: ThreadScene, log: string | Buffer): Promise<string> {
  scene.foreign("theirs", { log });
  await soon(() => scene.get("theirs").catch(() => undefined)).toBeDefined();
  return "theirs";
}

onEachStore("messages of a thread", (kind) => {
  const stage = threadStage(kind);

  test("[THR30] pages walk all of a log from either end, also while it grows", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ title: "T" });
    const wanted = Array.from({ length: 25 }, (_, n) => `m${n}`);
    for (const each of wanted) await scene.append(id, { id: each, role: "user", content: each });
    const walk = async (order: "asc" | "desc") => {
      const walked: string[] = [];
      let cursor: string | undefined;
      let extra = 0;
      do {
        const page = await scene.page(id, { order, limit: 7, cursor });
        walked.push(...ids(page.data));
        cursor = page.next_cursor;
        if (extra < 3) await scene.append(id, { id: `${order}${extra++}`, role: "user", content: "later" });
      } while (cursor !== undefined);
      return walked;
    };
    expect(await walk("desc")).toEqual(wanted.toReversed());
    const more = ["desc0", "desc1", "desc2"];
    expect(await walk("asc")).toEqual([...wanted, ...more, "asc0", "asc1", "asc2"]);
    expect(ids((await scene.page(id)).data).slice(0, 2)).toEqual(["asc2", "asc1"]);
    const exact = await scene.page(id, { limit: 31 });
    expect([exact.data.length, exact.next_cursor]).toEqual([31, undefined]);
  });

  test("[THR116] a page around a message has what stands before and after it, and leads on to either side", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ title: "T" });
    const wanted = Array.from({ length: 20 }, (_, n) => `m${n}`);
    for (const each of wanted) await scene.append(id, { id: each, role: "user", content: each });
    const around = await scene.page(id, { around: "m9", limit: 6, order: "asc" });
    expect(ids(around.data)).toEqual(wanted.slice(6, 12));
    const older = await scene.page(id, { cursor: around.next_cursor, limit: 3 });
    expect(ids(older.data)).toEqual(["m5", "m4", "m3"]);
    const newer = await scene.page(id, { cursor: around.newer_cursor, limit: 500, order: "asc" });
    expect(ids(newer.data)).toEqual(wanted.slice(12));
    expect(newer.next_cursor).toBeUndefined();
    const first = await scene.page(id, { around: "m0", limit: 4 });
    expect([ids(first.data), first.next_cursor]).toEqual([["m3", "m2", "m1", "m0"], undefined]);
    const last = await scene.page(id, { around: "m19", limit: 4 });
    expect([ids(last.data), last.newer_cursor]).toEqual([["m19", "m18", "m17"], undefined]);
    expect(await scene.wire.error("thread/messages", { thread_id: id, around: "gone" })).toMatchObject({
      code: -32602,
      data: { kind: "message.not_found", message_id: "gone" },
    });
  });

  test("[THR31] a cursor into a log that was replaced is refused, as is one that is none", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ title: "T" });
    for (const each of ["a", "b", "c"]) await scene.append(id, each);
    const refused = async (cursor: string | undefined, order = "desc") =>
      expect(await scene.wire.error("thread/messages", { thread_id: id, cursor, order })).toMatchObject({
        code: -32602,
        data: { kind: "cursor_invalid" },
      });
    const cursors = async () => [
      (await scene.page(id, { limit: 1 })).next_cursor,
      (await scene.page(id, { limit: 1, order: "asc" })).next_cursor,
    ];
    const [back, forth] = await cursors();
    await scene.wire.result("thread/clear", { thread_id: id });
    await refused(back);
    await refused(forth, "asc");
    for (const each of ["d", "e", "f"]) await scene.append(id, each);
    await refused(back);
    const [renamed] = await cursors();
    writeFileSync(scene.path(id, "other"), ["x", "y", "z"].map((each) => line(textMessage(each))).join(""));
    renameSync(scene.path(id, "other"), scene.path(id, "messages.jsonl"));
    await refused(renamed);
    for (const cursor of ["x", "bnVsbA", Buffer.from('["1","2"]').toString("base64url")])
      await refused(cursor);
    const { error } = await scene.wire.call("thread/messages", {
      thread_id: id,
      cursor: Buffer.from('[-5,"1"]').toString("base64url"),
    });
    expect(error?.data.kind).toBe("cursor_invalid");
  });

  test("[THR31] a log that another program rewrote in place has no old cursors either", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ title: "T" });
    for (const each of ["a", "b", "c"]) await scene.append(id, each);
    const { next_cursor: cursor } = await scene.page(id, { limit: 1 });
    writeFileSync(
      scene.path(id, "messages.jsonl"),
      Array.from({ length: 9 }, (_, n) => line(textMessage(`x${n}`, "rewritten ".repeat(n)))).join(""),
    );
    expect((await scene.wire.error("thread/messages", { thread_id: id, cursor })).data.kind).toBe(
      "cursor_invalid",
    );
  });

  test("[THR32] a thread without messages has an empty page", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    expect(await scene.page(id)).toEqual({ data: [] });
    expect(await scene.page(id, { order: "asc" })).toEqual({ data: [] });
    writeFileSync(scene.path(id, "messages.jsonl"), "");
    expect(await scene.page(id)).toEqual({ data: [] });
  });

  test("[THR33] broken lines are skipped: the rest is read, counted, found and appended to", async () => {
    const scene = await stage.scene();
    const good = [textMessage("first", "kite"), textMessage("crlf", "kite"), textMessage("last", "kite")];
    const broken = [
      "not json\n",
      "[]\n",
      "\n",
      '{"id":"x"}\n',
      '{"role":"user","content":[],"timestamp":"2026-01-01T00:00:00Z"}\n',
      '{"id":"y","role":"tool","content":[]}\n',
    ];
    const log = Buffer.concat([
      Buffer.from("\uFEFF"),
      Buffer.from(line(good[0] as object)),
      ...broken.map((each) => Buffer.from(each)),
      Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d, 0x0a]),
      Buffer.from(`${JSON.stringify(good[1])}\r\n`),
      Buffer.from(line(good[2] as object)),
      Buffer.from('{"id":"torn","role":"us'),
    ]);
    const id = await theirs(scene, log);
    expect(await scene.messages(id)).toEqual(good);
    expect((await scene.page(id)).data).toEqual(good.toReversed());
    expect(await scene.get(id)).toMatchObject({ message_count: 3, last_snippet: "kite" });
    expect((await scene.found("kite")).sort()).toEqual(["crlf", "first", "last"]);
    const added = await scene.append(id, "after the tear");
    expect(ids(await scene.messages(id))).toEqual(["first", "crlf", "last", added.id]);
    expect(scene.text(id, "messages.jsonl")).toContain("not json\n");
    expect((await scene.get(id)).message_count).toBe(4);
  });

  test("[THR34] of messages with one id the last one counts; a last line without its end counts", async () => {
    const scene = await stage.scene();
    const log =
      line(textMessage("a", "old text")) +
      line(textMessage("b")) +
      line(textMessage("a", "new text")) +
      JSON.stringify(textMessage("c", "open end"));
    const id = await theirs(scene, log);
    expect(ids(await scene.messages(id))).toEqual(["b", "a", "c"]);
    expect(ids((await scene.page(id, { limit: 2 })).data)).toEqual(["c", "a"]);
    expect(await scene.found("text")).toEqual(["a"]);
    expect(await scene.found("old")).toEqual([]);
    expect(await scene.found("open")).toEqual(["c"]);
    await scene.append(id, { id: "d", role: "user", content: "d" });
    expect(ids(await scene.messages(id))).toEqual(["b", "a", "c", "d"]);
  });

  test("[THR35] odd values of other programs never break the wire or hide a thread", async () => {
    const scene = await stage.scene();
    const odd = [
      { ...textMessage("blocks"), content: [null, "text", 5, [], { text: "no type" }, { type: 7 }] },
      { ...textMessage("calls"), toolCalls: "none" },
      { ...textMessage("call"), toolCalls: [null, "x"] },
      { ...textMessage("time"), timestamp: 12345 },
      { ...textMessage("past"), timestamp: "yesterday" },
      { id: "bare", role: "user", content: [] },
      { ...textMessage("flags"), truncated: "yes", run_id: 7, heddle: "x" },
      { ...textMessage("run"), heddle: { runId: 7 } },
      { ...textMessage("progress"), toolCalls: [{ toolCallId: "t", name: "n", status: "in_progress" }] },
    ];
    const id = await theirs(scene, odd.map(line).join(""));
    expect(await scene.get(id)).toMatchObject({ message_count: odd.length });
    const read = await scene.messages(id);
    expect(ids(read)).toEqual(odd.map((each) => each.id));
    expect(read.at(-1)?.toolCalls).toEqual([{ toolCallId: "t", name: "n", status: "running" }]);
    appendFileSync(scene.path(id, "messages.jsonl"), line({ ...odd[0], id: "more" }));
    await soon(async () => (await scene.get(id)).message_count).toBe(odd.length + 1);
    expect(await scene.found("progress")).toEqual(["progress"]);
  });

  test("[THR36] a message past a megabyte is cut for the wire, and the file has it whole", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ title: "T" });
    const huge = textMessage("huge", `heron ${"x".repeat(50 * 1024 * 1024)}`);
    const numbers = textMessage("numbers", "n", {
      vectors: Array.from({ length: 900 }, () => Array.from({ length: 900 }, (_, n) => n + 0.123456)),
    });
    const file = openSync(scene.path(id, "messages.jsonl"), "a");
    for (const each of [textMessage("small"), huge, numbers]) writeSync(file, line(each));
    closeSync(file);
    await expect.poll(async () => (await scene.get(id)).message_count, { timeout: 30_000 }).toBe(3);
    const read = await scene.messages(id);
    expect(ids(read)).toEqual(["small", "huge", "numbers"]);
    expect(read.map(({ truncated }) => truncated)).toEqual([undefined, true, true]);
    for (const message of read) expect(JSON.stringify(message).length).toBeLessThan(2 * 1024 * 1024);
    expect(read[1]?.content[0]?.text).toMatch(/^heron xxx/);
    const heard = (await scene.wire.settled()).filter(({ method }) => method === "message/appended");
    expect(heard.map(({ params }) => params.message)).toEqual(read);
    await expect.poll(() => scene.found("heron"), { timeout: 30_000 }).toEqual(["huge"]);
    expect((await scene.search("heron")).data[0]?.snippet.length).toBeLessThan(200);
  });

  test("[THR37] a page of long messages is shorter, and complete all the same", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ title: "T" });
    const wanted = Array.from({ length: 14 }, (_, n) => `m${n}`);
    const log = wanted.map((each) => line(textMessage(each, "é".repeat(500_000)))).join("");
    writeFileSync(scene.path(id, "messages.jsonl"), log);
    const first = await scene.page(id, { order: "asc", limit: 500 });
    expect(first.data.length).toBeGreaterThan(0);
    expect(first.data.length).toBeLessThan(14);
    expect(ids(await scene.messages(id))).toEqual(wanted);
  });
});
