import { appendFileSync, renameSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Message, Thread } from "../../src/atsf/index.js";
import { envelopeOf, foreignThread, freshProject, line, textMessage, threadPath } from "./support.js";

async function threadWith(log: string | Buffer): Promise<{ thread: Thread; path: string }> {
  const project = await freshProject();
  foreignThread(project, "t", { "thread.json": JSON.stringify(envelopeOf("t")), "messages.jsonl": log });
  return { thread: await project.thread("t"), path: threadPath(project, "t", "messages.jsonl") };
}

const idsOf = (entries: readonly { message: Message }[]) => entries.map(({ message }) => message.id);

async function allForward(thread: Thread, limit: number, maxBytes?: number): Promise<string[]> {
  const ids: string[] = [];
  let after: number | undefined;
  do {
    const page = await thread.pageForward(limit, after, maxBytes === undefined ? {} : { maxBytes });
    expect(page.entries.length).toBeLessThanOrEqual(limit);
    ids.push(...idsOf(page.entries));
    after = page.after;
  } while (after !== undefined);
  return ids;
}

const part = fc.oneof(
  { weight: 6, arbitrary: fc.nat({ max: 12 }).map((n) => line(textMessage(`m${n}`))) },
  { weight: 1, arbitrary: fc.constantFrom("\n", "{broken\n", '{"id":1}\n', "\r\n", "null\n") },
);
const tail = fc.constantFrom("", "{torn", line(textMessage("last")).trimEnd());

test("[LOG9] pages from the front give what reading it whole gives, oldest first, also while the log grows", async () => {
  const { thread, path } = await threadWith("");
  await fc.assert(
    fc.asyncProperty(
      fc.array(part, { maxLength: 30 }),
      fc.array(part, { maxLength: 5 }),
      tail,
      fc.integer({ min: 1, max: 7 }),
      async (first, more, end, limit) => {
        writeFileSync(path, first.join(""));
        const whole = async () => (await thread.read()).messages.map(({ id }) => id);
        expect(await allForward(thread, limit)).toEqual(await whole());
        await thread.page(limit);
        appendFileSync(path, more.join("") + end);
        expect(await allForward(thread, limit)).toEqual(await whole());
        expect(await allForward(thread, 100, 150)).toEqual(await whole());
      },
    ),
    { numRuns: 150 },
  );
});

test("[LOG9] pages asked for at once from both ends agree with each other", async () => {
  const log = Array.from({ length: 40 }, (_, n) => line(textMessage(`m${n % 30}`))).join("");
  const { thread, path } = await threadWith(log);
  const [older, newer, all] = await Promise.all([
    thread.pageForward(30),
    thread.page(30),
    allForward(thread, 4),
  ]);
  expect(idsOf(older.entries)).toEqual(all);
  expect(idsOf(newer.entries).reverse()).toEqual(all);
  appendFileSync(path, line(textMessage("m15", "again")));
  expect(idsOf((await thread.pageForward(30)).entries).at(-1)).toBe("m15");
});

test("[LOG10] a page ends before its budget of bytes, but never without a message", async () => {
  const big = (id: string) => line(textMessage(id, "x".repeat(1_000)));
  const { thread } = await threadWith(["a", "b", "c", "d"].map(big).join(""));
  const size = Buffer.byteLength(big("a"));
  for (const [maxBytes, count] of [
    [1, 1],
    [size, 1],
    [2 * size, 2],
    [3 * size - 1, 2],
    [4 * size, 4],
  ] as const) {
    expect((await thread.page(10, undefined, { maxBytes })).entries).toHaveLength(count);
    expect((await thread.pageForward(10, undefined, { maxBytes })).entries).toHaveLength(count);
  }
  const first = await thread.page(10, undefined, { maxBytes: 2 * size });
  expect(idsOf((await thread.page(10, first.before, { maxBytes: 2 * size })).entries)).toEqual(["b", "a"]);
  const five = await threadWith(
    Array.from({ length: 5 }, (_, n) => line(textMessage(`${n}`, "x".repeat(3_000_000)))).join(""),
  );
  expect((await five.thread.page()).entries).toHaveLength(2);
  expect((await five.thread.pageForward()).entries).toHaveLength(2);
});

test("[LOG10] a page names the file its offsets belong to", async () => {
  const project = await freshProject();
  foreignThread(project, "t", { "thread.json": JSON.stringify(envelopeOf("t")) });
  const thread = await project.thread("t");
  expect(await thread.page()).toEqual({ entries: [], before: undefined, log: "" });
  expect(await thread.pageForward()).toEqual({ entries: [], after: undefined, log: "" });
  await thread.append(textMessage("a"));
  const { log } = await thread.page();
  expect(log).not.toBe("");
  await thread.append(textMessage("b"));
  expect((await thread.page()).log).toBe(log);
  expect((await thread.pageForward()).log).toBe(log);
  await thread.clear();
  await thread.append(textMessage("c"));
  expect((await thread.page()).log).not.toBe(log);
});

test("[LOG11] a message is read by the offset of its line, and only by that", async () => {
  const torn = '{"id":"torn';
  const { thread, path } = await threadWith(
    `${line(textMessage("a"))}{broken\n\n${line(textMessage("é"))}${torn}`,
  );
  const { entries } = await thread.page();
  for (const { offset, message } of entries) expect(await thread.readAt(offset)).toEqual(message);
  expect(idsOf(entries)).toEqual(["é", "a"]);
  const starts = new Set(entries.map(({ offset }) => offset));
  const size = (await thread.logState())?.size as number;
  for (const offset of [
    -1,
    0.5,
    Number.NaN,
    size,
    size + 10,
    ...Array.from({ length: size }, (_, at) => at),
  ]) {
    if (!starts.has(offset)) expect(await thread.readAt(offset), `offset ${offset}`).toBeUndefined();
  }
  renameSync(path, `${path}.away`);
  expect(await thread.readAt(0)).toBeUndefined();
});

async function follow(thread: Thread, from: number): Promise<{ told: string[]; end: number }> {
  const told: string[] = [];
  let end = from;
  for await (const entry of thread.newMessages(from)) {
    told.push("message" in entry ? entry.message.id : entry.problem);
    expect(entry.end).toBeGreaterThan(entry.offset);
    end = entry.end;
  }
  return { told, end };
}

test("[LOG12] whoever follows gets each entry once, however the bytes arrive", async () => {
  const { thread, path } = await threadWith("");
  const bytes = Buffer.from(
    `${line(textMessage("a"))}\r\n{broken\n${line(textMessage("é😀"))}${line(textMessage("last")).trimEnd()}`,
  );
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(fc.nat({ max: bytes.length }), { maxLength: 6 }), async (cuts) => {
      writeFileSync(path, "");
      const told: string[] = [];
      let from = 0;
      let written = 0;
      for (const cut of [...cuts, bytes.length].sort((a, b) => a - b)) {
        appendFileSync(path, bytes.subarray(written, cut));
        written = cut;
        const next = await follow(thread, from);
        told.push(...next.told);
        from = next.end;
      }
      expect(told).toEqual(["a", "not_json", "é😀", "last"]);
      expect(from).toBe((await thread.logState())?.size);
    }),
    { numRuns: 150 },
  );
});

test("[LOG12] a torn line is neither told nor passed, and the state of the log tells that it grew", async () => {
  const { thread, path } = await threadWith(`${line(textMessage("a"))}{"id":"b`);
  const before = await thread.logState();
  const first = await follow(thread, 0);
  expect(first).toEqual({ told: ["a"], end: Buffer.byteLength(line(textMessage("a"))) });
  await thread.append(textMessage("c"));
  expect(await follow(thread, first.end)).toEqual({ told: ["c"], end: (await thread.logState())?.size });
  const after = await thread.logState();
  expect(after?.inode).toBe(before?.inode);
  expect(after?.size).not.toBe(before?.size);
  renameSync(path, `${path}.away`);
  expect(await thread.logState()).toBeUndefined();
  expect(await follow(thread, 0)).toEqual({ told: [], end: 0 });
});

test("[LOG13] a log that was cut, replaced or rewritten in place is read anew", async () => {
  const { thread, path } = await threadWith(["a", "b", "c"].map((id) => line(textMessage(id))).join(""));
  expect(idsOf((await thread.page()).entries)).toEqual(["c", "b", "a"]);
  const rewritten = ["b", "longer than before", "a", "c", "d"].map((id) => line(textMessage(id))).join("");
  writeFileSync(path, rewritten);
  expect(idsOf((await thread.page()).entries)).toEqual(["d", "c", "a", "longer than before", "b"]);
  expect(idsOf((await thread.pageForward(2)).entries)).toEqual(["b", "longer than before"]);
  writeFileSync(path, line(textMessage("short")));
  expect(idsOf((await thread.page()).entries)).toEqual(["short"]);
  writeFileSync(`${path}.new`, rewritten);
  renameSync(`${path}.new`, path);
  expect(idsOf((await thread.page()).entries)).toEqual(["d", "c", "a", "longer than before", "b"]);
  await thread.append(textMessage("e"));
  await thread.close();
  expect((await thread.envelope()).stats.messageCount).toBe(6);
});
