import { appendFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../../test/support/stores.js";
import { LogPager } from "./pager.js";
import { readLog } from "./read.js";

const line = (id: string, text = id) =>
  `${JSON.stringify({ id, role: "user", timestamp: "2026-01-01T00:00:00.000Z", content: [{ type: "text", text }] })}\n`;

async function allPages(pager: LogPager, limit: number): Promise<string[]> {
  const ids: string[] = [];
  let before: number | undefined;
  do {
    const page = await pager.page(limit, before);
    expect(page.entries.length).toBeLessThanOrEqual(limit);
    ids.push(...page.entries.map(({ message }) => message.id));
    before = page.before;
  } while (before !== undefined);
  return ids.reverse();
}

const part = fc.oneof(
  { weight: 6, arbitrary: fc.nat({ max: 12 }).map((n) => line(`m${n}`)) },
  { weight: 1, arbitrary: fc.constantFrom("\n", "{broken\n", "[]\n", '{"id":1}\n', "\r\n", "null\n") },
);
const tail = fc.constantFrom("", "{torn", line("last").trimEnd());

test("[LOG2] pages from the end give what reading it whole gives, also while the log grows", async () => {
  const path = join(temporaryDirectory(), "messages.jsonl");
  await fc.assert(
    fc.asyncProperty(
      fc.array(part, { maxLength: 30 }),
      fc.array(part, { maxLength: 5 }),
      tail,
      fc.integer({ min: 1, max: 7 }),
      async (first, more, end, limit) => {
        await rm(path, { force: true });
        const pager = new LogPager(path);
        expect(await pager.page(limit)).toEqual({ entries: [], before: undefined, log: "" });
        await writeFile(path, first.join(""));
        expect(await allPages(pager, limit)).toEqual((await readLog(path)).messages.map(({ id }) => id));
        await appendFile(path, more.join("") + end);
        expect(await allPages(pager, limit)).toEqual((await readLog(path)).messages.map(({ id }) => id));
        expect(await allPages(new LogPager(path), limit)).toEqual(
          (await readLog(path)).messages.map(({ id }) => id),
        );
      },
    ),
    { numRuns: 150 },
  );
});

test("[LOG3] a torn last line is ignored, an unfinished whole one is a message, and once finished it counts", async () => {
  const path = join(temporaryDirectory(), "messages.jsonl");
  const pager = new LogPager(path);
  const whole = line("b");
  for (let cut = 0; cut < whole.length; cut++) {
    await writeFile(path, line("a") + whole.slice(0, cut));
    const ids = (await new LogPager(path).page(10)).entries.map(({ message }) => message.id);
    expect(ids).toEqual(cut === whole.length - 1 ? ["b", "a"] : ["a"]);
  }
  await writeFile(path, line("a") + whole.slice(0, 20));
  expect((await pager.page(10)).entries.map(({ message }) => message.id)).toEqual(["a"]);
  await appendFile(path, whole.slice(20));
  expect((await pager.page(10)).entries.map(({ message }) => message.id)).toEqual(["b", "a"]);
});

test("[LOG4] of two messages with one id the last counts", async () => {
  const path = join(temporaryDirectory(), "messages.jsonl");
  await writeFile(path, line("a", "old") + line("b") + line("a", "new") + line("c"));
  const { messages } = await readLog(path);
  expect(messages.map(({ id }) => id)).toEqual(["b", "a", "c"]);
  expect(messages[1]?.content).toEqual([{ type: "text", text: "new" }]);
  expect(await allPages(new LogPager(path), 1)).toEqual(["b", "a", "c"]);
});
