import { readFileSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { LogPager } from "../../src/atsf/log/pager.js";
import { readLog } from "../../src/atsf/log/read.js";
import { readTail } from "../../src/atsf/log/torn.js";
import { temporaryDirectory } from "../support/stores.js";
import { envelopeOf, foreignThread, freshProject, line, textMessage, threadPath } from "./support.js";

async function threadWith(log: string | Buffer) {
  const project = await freshProject();
  foreignThread(project, "t", { "thread.json": JSON.stringify(envelopeOf("t")), "messages.jsonl": log });
  return { project, thread: await project.thread("t"), path: threadPath(project, "t", "messages.jsonl") };
}

test("[LOG14] a byte order mark, CRLF line ends and blank lines change nothing", async () => {
  const messages = ["a", "b", "c"].map((id) => textMessage(id));
  const log = `\uFEFF${messages.map((each) => JSON.stringify(each)).join("\r\n\r\n \t\n")}\r\n\n`;
  const { thread, path } = await threadWith(log);
  expect(await thread.read()).toEqual({ messages, problems: [] });
  expect((await thread.page()).entries.map(({ message }) => message)).toEqual(messages.toReversed());
  expect((await thread.pageForward()).entries.map(({ message }) => message)).toEqual(messages);
  await thread.append(textMessage("d"));
  expect(readFileSync(path, "utf8")).toBe(log + line(textMessage("d")));
  for (const blank of ["\uFEFF", "  ", "\uFEFF\r"]) {
    writeFileSync(path, blank);
    await thread.append(textMessage("d"));
    expect(readFileSync(path, "utf8")).toBe(`${blank}\n${line(textMessage("d"))}`);
    expect(await thread.read()).toEqual({ messages: [textMessage("d")], problems: [] });
  }
});

test("[LOG15] bad lines are told by number and reason, skipped, and kept", async () => {
  const bad: [string | Buffer, string][] = [
    [Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), "not_utf8"],
    ["{broken", "not_json"],
    ["42", "not_a_message"],
    ["[]", "not_a_message"],
    ['{"id":"x"}', "not_a_message"],
    ['{"id":"x","role":"user","content":"text"}', "not_a_message"],
    ['{"role":"user","content":[]}', "no_id"],
    ['{"id":7,"role":"user","content":[]}', "no_id"],
    ['{"id":"x","role":"assistant","content":[]}', "unknown_role"],
  ];
  const good = (id: string) => Buffer.from(line(textMessage(id)));
  const log = Buffer.concat(
    bad.flatMap(([text], n) => [good(`m${n}`), Buffer.from(text as string), Buffer.from("\n")]),
  );
  const { thread, path } = await threadWith(log);
  const { messages, problems } = await thread.read();
  expect(messages.map(({ id }) => id)).toEqual(bad.map((_, n) => `m${n}`));
  expect(problems).toEqual(bad.map(([, problem], n) => ({ line: 2 * n + 2, problem })));
  expect((await thread.pageForward()).entries.map(({ message }) => message)).toEqual(messages);
  await thread.append(textMessage("last"));
  expect(readFileSync(path)).toEqual(Buffer.concat([log, good("last")]));
});

test("[LOG15] a message is read although it lacks what only others need", async () => {
  const odd = [
    { id: "a", role: "user", content: [] },
    { id: "", role: "system", content: [null, 5, { type: "later", x: 1 }], toolCalls: "none" },
    { id: "c", role: "agent", content: [], toolCalls: [null, { status: "in_progress" }], timestamp: 5 },
  ];
  const { thread, project } = await threadWith(odd.map(line).join(""));
  const { messages, problems } = await thread.read();
  expect(problems).toEqual([]);
  expect(messages).toEqual([odd[0], odd[1], { ...odd[2], toolCalls: [null, { status: "running" }] }]);
  await thread.append(textMessage("d"));
  await project.close();
  expect((await thread.envelope()).stats).toMatchObject({ messageCount: 4, toolCallCount: 2 });
});

test("[LOG16] a line of 50 MB is read and paged", async () => {
  const text = "x".repeat(50 * 1024 * 1024);
  const { thread } = await threadWith(
    line(textMessage("a")) + line(textMessage("big", text)) + line(textMessage("z")),
  );
  const { messages } = await thread.read();
  expect(messages.map(({ id }) => id)).toEqual(["a", "big", "z"]);
  expect(messages[1]?.content).toEqual([{ type: "text", text }]);
  const pages = [await thread.page(2), await thread.pageForward(2)];
  expect(pages.map(({ entries }) => entries.map(({ message }) => message.id))).toEqual([["z"], ["a"]]);
  const { before } = pages[0] as { before: number };
  expect((await thread.page(1, before)).entries.map(({ message }) => message.id)).toEqual(["big"]);
});

test("[LOG16] a line past the longest is told and not held, at either end of the log too", async () => {
  const path = join(temporaryDirectory(), "messages.jsonl");
  const long = JSON.stringify(textMessage("long", "x".repeat(200_000)));
  const limit = 150_000;
  for (const [log, at] of [
    [`${line(textMessage("a"))}${long}\n${line(textMessage("b"))}`, 2],
    [`${long}\n${line(textMessage("a"))}${line(textMessage("b"))}`, 1],
    [`${line(textMessage("a"))}${line(textMessage("b"))}${long}`, 3],
  ] as const) {
    writeFileSync(path, log);
    const { messages, problems } = await readLog(path, limit);
    expect(messages.map(({ id }) => id)).toEqual(["a", "b"]);
    expect(problems).toEqual([{ line: at, problem: "too_long" }]);
    const pager = new LogPager(path, limit);
    expect((await pager.page(9)).entries.map(({ message }) => message.id)).toEqual(["b", "a"]);
    expect((await pager.pageForward(9)).entries.map(({ message }) => message.id)).toEqual(["a", "b"]);
  }
  const file = await open(path, "r");
  const { size } = await file.stat();
  expect(await readTail(file, size, limit)).toEqual({ end: size, lead: "\n", torn: undefined });
  await file.close();
});

test("[LOG17] in_progress reads as running, everywhere, and the file stays as it is", async () => {
  const call = (status: string) => ({ toolCallId: "c", name: "bash", status });
  const log = line({ ...textMessage("a"), role: "agent", toolCalls: [call("in_progress"), call("failed")] });
  const { thread, path } = await threadWith(log);
  const expected = [call("running"), call("failed")];
  expect((await thread.read()).messages[0]?.toolCalls).toEqual(expected);
  expect((await thread.page()).entries[0]?.message.toolCalls).toEqual(expected);
  expect((await thread.readAt(0))?.toolCalls).toEqual(expected);
  await thread.append(textMessage("b"));
  expect(readFileSync(path, "utf8")).toBe(log + line(textMessage("b")));
});

test("[LOG18] messages stand in the order of the calls, one line each, with their keys as they were given", async () => {
  const { thread, path } = await threadWith("");
  const image = {
    type: "image",
    data: Buffer.alloc(2_000_000, "x").toString("base64"),
    mimeType: "image/png",
  };
  const given = [
    { zz: 1, ...textMessage("slow"), content: [image] },
    {
      content: [{ text: "x\ny", type: "text", extra: { b: 1, a: 2 } }],
      role: "user",
      id: "fast",
      own: null,
      timestamp: textMessage("x").timestamp,
    },
    JSON.parse(
      `{"__proto__":{"deep":1},"id":"odd","10":1,"2":2,"role":"system","timestamp":"${textMessage("x").timestamp}","content":[]}`,
    ),
  ];
  await Promise.all(given.map((message) => thread.append(message as never)));
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  expect(lines.map((text) => JSON.parse(text).id)).toEqual(["slow", "fast", "odd"]);
  expect(lines.slice(1)).toEqual(given.slice(1).map((message) => JSON.stringify(message)));
  expect(lines[0]).toMatch(/^\{"zz":1,"id":"slow","role"/);
});

test("[LOG19] times with any offset, or none, are read; ours are written in UTC", async () => {
  const times = ["2026-01-01T02:00:00+02:00", "2026-01-01T00:00:01", "2026-01-01T00:00:02.123456-00:00"];
  const log = times.map((timestamp, n) => line({ ...textMessage(`m${n}`), timestamp })).join("");
  const project = await freshProject();
  const created = { createdAt: "2025-12-31T23:00:00+01:00", updatedAt: "2026-01-01T00:00:00" };
  foreignThread(project, "t", {
    "thread.json": JSON.stringify(envelopeOf("t", created)),
    "messages.jsonl": log,
  });
  const thread = await project.thread("t");
  expect(await thread.envelope()).toMatchObject(created);
  expect((await thread.read()).messages.map(({ timestamp }) => timestamp)).toEqual(times);
  expect(await thread.refreshDerived()).toBe(true);
  expect(await thread.envelope()).toMatchObject({
    createdAt: created.createdAt,
    updatedAt: "2026-01-01T00:00:02.123Z",
  });
  const written = await thread.append(textMessage("u", "x", { timestamp: "2026-02-01T00:30:00+05:30" }));
  expect(written.timestamp).toBe("2026-01-31T19:00:00.000Z");
  expect(readFileSync(threadPath(project, "t", "messages.jsonl"), "utf8")).toBe(log + line(written));
  await project.close();
  expect((await thread.envelope()).updatedAt).toBe("2026-01-31T19:00:00.000Z");
});
