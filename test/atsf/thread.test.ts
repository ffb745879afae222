import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../support/stores.js";
import {
  envelopeOf,
  foreignThread,
  freshProject,
  line,
  newThread,
  textMessage,
  threadPath,
} from "./support.js";

test("[ATSF1] a new thread appears whole: envelope, ignore file, and a log with its first message", async () => {
  const project = await freshProject();
  expect(await project.list()).toEqual([]);
  expect(readdirSync(project.root)).toEqual([]);
  const thread = await project.create(newThread("t1", { metadata: { app: 1 } }));
  const now = expect.stringMatching(/^\d{4}-.*Z$/);
  expect(await thread.envelope()).toEqual({
    specVersion: "1.1",
    threadId: "t1",
    title: "t1",
    createdAt: now,
    updatedAt: now,
    agent: { id: "demo", name: "Demo" },
    context: { workingDir: project.root, relativeDir: "." },
    stats: { messageCount: 0, userMessageCount: 0, agentMessageCount: 0, toolCallCount: 0 },
    metadata: { app: 1 },
  });
  expect((await thread.read()).messages).toEqual([]);
  await expect(project.create(newThread("t1"))).rejects.toMatchObject({ kind: "atsf.thread_exists" });
  await thread.append(textMessage("a"));
  expect(readFileSync(threadPath(project, "t1", "messages.jsonl"), "utf8")).toBe(line(textMessage("a")));
  expect(readdirSync(join(project.root, ".agent", "threads"))).toEqual(["t1"]);
  await project.close();
});

test("[ATSF2] ids that are no plain names are refused everywhere", async () => {
  const project = await freshProject();
  for (const id of [
    "",
    ".",
    "..",
    "a/b",
    "../x",
    "/etc",
    "a\\b",
    "CON",
    "nul.txt",
    "com1",
    "LPT9",
    "a\0",
    "é",
    "x".repeat(129),
    "a b",
  ]) {
    await expect(project.create(newThread(id)), id).rejects.toMatchObject({ kind: "atsf.invalid_thread_id" });
    await expect(project.thread(id), id).rejects.toMatchObject({ kind: "atsf.invalid_thread_id" });
  }
  expect(readdirSync(project.root)).toEqual([]);
  for (const id of ["a.b-c_D", "x".repeat(128), "contra", "thr_01ABC"]) await project.create(newThread(id));
});

test("[ATSF3] counts and time of change follow the log", async () => {
  const project = await freshProject();
  const thread = await project.create(newThread("t"));
  const call = { toolCallId: "c", name: "bash", status: "completed" as const };
  await thread.append(textMessage("u"));
  await thread.append(
    textMessage("a", "x", { role: "agent", toolCalls: [call, call], timestamp: "2026-02-02T00:00:00.000Z" }),
  );
  await thread.append(textMessage("s", "x", { role: "system", timestamp: "2026-03-03T00:00:00.000Z" }));
  await project.close();
  expect(JSON.parse(readFileSync(threadPath(project, "t", "thread.json"), "utf8"))).toMatchObject({
    updatedAt: "2026-03-03T00:00:00.000Z",
    stats: { messageCount: 3, userMessageCount: 1, agentMessageCount: 1, toolCallCount: 2 },
  });
});

test("[ATSF4] counts that another program left behind are counted anew", async () => {
  const project = await freshProject();
  const log = line(textMessage("a")) + line(textMessage("b", "x", { role: "agent" }));
  foreignThread(project, "t", { "thread.json": JSON.stringify(envelopeOf("t")), "messages.jsonl": log });
  const thread = await project.thread("t");
  expect(await thread.refreshDerived()).toBe(true);
  expect((await thread.envelope()).stats).toEqual({
    messageCount: 2,
    userMessageCount: 1,
    agentMessageCount: 1,
    toolCallCount: 0,
  });
  expect(await thread.refreshDerived()).toBe(false);
});

const key = fc.constantFrom("x", "1", "0", "__proto__", "été", "a b", "constructor", "toString");
const value = fc.constantFrom(
  "1",
  "-0",
  "1e400",
  "12345678901234567890",
  "0.10",
  '"\\u0041"',
  "null",
  "[]",
  '{"2":1,"1":2}',
  "true",
);
const extras = fc.uniqueArray(fc.tuple(key, value), { selector: ([name]) => name, maxLength: 5 });
const members = (list: [string, string][]) =>
  list.map(([name, text]) => `,\n  ${JSON.stringify(name)}: ${text}`).join("");

test("[ATSF5] a change keeps everything else in thread.json to the byte: unknown fields, order of keys, any number", async () => {
  const project = await freshProject();
  let count = 0;
  await fc.assert(
    fc.asyncProperty(extras, extras, extras, async (top, inMetadata, inStats) => {
      const id = `t${count++}`;
      const text = (
        title: string,
      ) => `{"specVersion":"1.1","threadId":"${id}",  "title": ${JSON.stringify(title)},
  "createdAt":"2026-01-01T00:00:00.000Z","updatedAt":"2026-01-01T00:00:00.000Z","agent":{"id":"a","name":"A","zz":[1]},
  "context":{"workingDir":"/x"},"stats":{"messageCount":0,"userMessageCount":0,"agentMessageCount":0,"toolCallCount":0${members(inStats)}},
  "metadata":{"other":{"deep":true}${members(inMetadata)}}${members(top)}}`;
      foreignThread(project, id, { "thread.json": text("before") });
      const thread = await project.thread(id);
      await thread.change([{ path: ["title"], value: 'after "quoted"' }]);
      expect(readFileSync(threadPath(project, id, "thread.json"), "utf8")).toBe(text('after "quoted"'));
      await thread.change([{ path: ["metadata", "heddle"], value: { pinnedAt: "x" } }]);
      const changed = readFileSync(threadPath(project, id, "thread.json"), "utf8");
      expect(JSON.parse(changed).metadata.heddle).toEqual({ pinnedAt: "x" });
      await thread.change([{ path: ["metadata", "heddle"], value: undefined }]);
      expect(JSON.parse(readFileSync(threadPath(project, id, "thread.json"), "utf8"))).toEqual(
        JSON.parse(text('after "quoted"')),
      );
    }),
    { numRuns: 60 },
  );
});

test("[ATSF6] versions: 1.x is read, none counts as 1.0, a higher minor stays, a higher major is refused and untouched", async () => {
  const project = await freshProject();
  for (const [id, specVersion, after] of [
    ["a", "1.0", "1.1"],
    ["b", "1.10", "1.10"],
    ["c", undefined, "1.1"],
    ["d", "0.9", "1.1"],
  ] as const) {
    foreignThread(project, id, { "thread.json": JSON.stringify(envelopeOf(id, { specVersion })) });
    const { specVersion: written } = await (await project.thread(id)).change([
      { path: ["title"], value: "new" },
    ]);
    expect(written, id).toBe(after);
  }
  for (const [id, specVersion] of [
    ["x", "2.0"],
    ["y", "10.0"],
    ["z", 2],
  ] as const) {
    const text = JSON.stringify(envelopeOf(id, { specVersion }));
    foreignThread(project, id, { "thread.json": text });
    const thread = await project.thread(id);
    await expect(thread.envelope()).rejects.toMatchObject({ kind: "atsf.version_unsupported" });
    await expect(thread.append(textMessage("m"))).rejects.toMatchObject({ kind: "atsf.version_unsupported" });
    await expect(thread.change([])).rejects.toMatchObject({ kind: "atsf.version_unsupported" });
    expect(readFileSync(threadPath(project, id, "thread.json"), "utf8")).toBe(text);
  }
});

test("[ATSF7] a thread whose directory has another name can be read, not written", async () => {
  const project = await freshProject();
  foreignThread(project, "copy", {
    "thread.json": JSON.stringify(envelopeOf("original")),
    "messages.jsonl": line(textMessage("a")),
  });
  const thread = await project.thread("copy");
  expect((await thread.read()).messages).toHaveLength(1);
  await expect(thread.append(textMessage("b"))).rejects.toMatchObject({ kind: "atsf.read_only" });
  await expect(thread.change([{ path: ["title"], value: "x" }])).rejects.toMatchObject({
    kind: "atsf.read_only",
  });
});

test("[ATSF8] broken envelopes are listed with their problem and do not hide the others", async () => {
  const project = await freshProject();
  await project.create(newThread("good"));
  foreignThread(project, "missing", {});
  foreignThread(project, "empty", { "thread.json": "" });
  foreignThread(project, "half", { "thread.json": '{"specVersion":"1.1","thr' });
  foreignThread(project, "array", { "thread.json": "[]" });
  foreignThread(project, "bytes", { "thread.json": Buffer.from([0xff, 0xfe]) });
  const listed = new Map((await project.list()).map((each) => [each.threadId, each]));
  expect(listed.get("good")).toHaveProperty("envelope");
  for (const [id, problem] of [
    ["missing", "missing"],
    ["empty", "not_json"],
    ["half", "not_json"],
    ["array", "not_json"],
    ["bytes", "not_utf8"],
  ]) {
    expect(listed.get(id as string), id).toMatchObject({
      error: { kind: "atsf.invalid_file", data: { problem } },
    });
  }
});

test("[ATSF9] links that lead out are not followed", async () => {
  const project = await freshProject();
  const outside = temporaryDirectory();
  writeFileSync(join(outside, "thread.json"), JSON.stringify(envelopeOf("evil")));
  writeFileSync(join(outside, "secret"), "secret");
  await project.create(newThread("good"));
  symlinkSync(outside, threadPath(project, "evil"));
  await expect(project.thread("evil")).rejects.toMatchObject({ kind: "atsf.invalid_file" });
  foreignThread(project, "log", { "thread.json": JSON.stringify(envelopeOf("log")) });
  symlinkSync(join(outside, "secret"), threadPath(project, "log", "messages.jsonl"));
  const thread = await project.thread("log");
  await expect(thread.read()).rejects.toMatchObject({ kind: "atsf.invalid_file" });
  await expect(thread.append(textMessage("m"))).rejects.toMatchObject({ kind: "atsf.invalid_file" });
  mkdirSync(threadPath(project, "good", "assets"));
  symlinkSync(join(outside, "secret"), threadPath(project, "good", "assets", `sha256-${"a".repeat(16)}.png`));
  await expect(
    (await project.thread("good")).readAsset(`sha256-${"a".repeat(16)}.png`),
  ).rejects.toMatchObject({ kind: "atsf.invalid_file" });
  expect(readFileSync(join(outside, "secret"), "utf8")).toBe("secret");
});

test("[ATSF10] assets have the name of their content, are kept once, and never replace others", async () => {
  const project = await freshProject();
  const thread = await project.create(newThread("t"));
  const bytes = Buffer.from("picture");
  const ref = await thread.saveAsset(bytes, "image/png");
  expect(ref).toMatch(/^sha256-[0-9a-f]{16}\.png$/);
  const { mtimeMs } = statSync(threadPath(project, "t", "assets", ref));
  expect(await thread.saveAsset(bytes, "image/png")).toBe(ref);
  expect(statSync(threadPath(project, "t", "assets", ref)).mtimeMs).toBe(mtimeMs);
  writeFileSync(threadPath(project, "t", "assets", ref), "others'");
  const long = await thread.saveAsset(bytes, "image/png");
  expect(long).toMatch(/^sha256-[0-9a-f]{64}\.png$/);
  expect(await thread.readAsset(long)).toEqual(bytes);
  expect((await thread.readAsset(ref)).toString()).toBe("others'");
  for (const bad of [
    "../thread.json",
    "thread.json",
    "sha256-zz.png",
    `sha256-${"a".repeat(15)}.png`,
    "/etc/passwd",
    "",
  ]) {
    await expect(thread.readAsset(bad), bad).rejects.toMatchObject({ kind: "atsf.asset_invalid" });
  }
  await expect(thread.readAsset(`sha256-${"b".repeat(16)}.png`)).rejects.toMatchObject({
    kind: "atsf.asset_not_found",
  });
});

test("[ATSF11] inline images are moved out on append; other blocks and fields stay", async () => {
  const project = await freshProject();
  const thread = await project.create(newThread("t"));
  const content = [
    { type: "image", data: Buffer.from("png").toString("base64"), mimeType: "image/png", note: 1 },
    { type: "strange", anything: { goes: [1] } },
  ];
  await thread.append({ ...textMessage("m"), content: content as never, extra: "kept" });
  const [message] = (await thread.read()).messages;
  expect(message).toMatchObject({
    extra: "kept",
    content: [{ type: "image", mimeType: "image/png", note: 1 }, content[1]],
  });
  const [image] = (message?.content ?? []) as unknown as { assetRef: string }[];
  expect((await thread.readAsset(image?.assetRef ?? "")).toString()).toBe("png");
  expect(readFileSync(threadPath(project, "t", "messages.jsonl"), "utf8")).not.toContain("base64");
});

test("[ATSF12] what is no message is refused and leaves nothing behind", async () => {
  const project = await freshProject();
  const thread = await project.create(newThread("t"));
  for (const bad of [
    {},
    { ...textMessage("x"), role: "assistant" },
    { ...textMessage("x"), content: "text" },
    { ...textMessage(""), id: "" },
    { ...textMessage("x"), timestamp: "now" },
    { ...textMessage("x"), content: [{ type: "text" }] },
  ]) {
    await expect(thread.append(bad as never)).rejects.toMatchObject({ kind: "atsf.invalid_message" });
  }
  expect(readdirSync(threadPath(project, "t"))).toEqual(["thread.json"]);
});

test("[ATSF13] clear empties the log and keeps the old one beside it", async () => {
  const project = await freshProject();
  const thread = await project.create(newThread("t"));
  expect(await thread.clear()).toBeUndefined();
  await thread.append(textMessage("a"));
  const aside = (await thread.clear()) as string;
  expect(aside).toMatch(/^messages\.jsonl\.cleared-/);
  expect(readFileSync(threadPath(project, "t", aside), "utf8")).toBe(line(textMessage("a")));
  expect((await thread.read()).messages).toEqual([]);
  expect((await thread.envelope()).stats.messageCount).toBe(0);
  await thread.append(textMessage("b"));
  expect((await thread.page(5)).entries.map(({ message }) => message.id)).toEqual(["b"]);
  await project.close();
});

test("[ATSF13] what was cleared last comes back byte for byte, unless something was said since", async () => {
  const project = await freshProject();
  const thread = await project.create(newThread("t"));
  expect(await thread.unclear()).toBeUndefined();
  for (const id of ["a", "b"]) {
    await thread.append(textMessage(id));
    await thread.clear();
  }
  await thread.append(textMessage("c"));
  await expect(thread.unclear()).rejects.toMatchObject({ kind: "atsf.not_empty" });
  expect((await thread.read()).messages.map(({ id }) => id)).toEqual(["c"]);
  rmSync(threadPath(project, "t", "messages.jsonl"));
  // Other files beside it are none of them, whatever they are called.
  writeFileSync(threadPath(project, "t", "messages.jsonl.cleared-tomorrow"), "not a log");
  expect(await thread.unclear([{ path: ["metadata", "back"], value: 1 }])).toMatch(
    /^messages\.jsonl\.cleared-/,
  );
  expect(readFileSync(threadPath(project, "t", "messages.jsonl"), "utf8")).toBe(line(textMessage("b")));
  expect((await thread.page(5)).entries.map(({ message }) => message.id)).toEqual(["b"]);
  await thread.append(textMessage("d"));
  expect((await thread.read()).messages.map(({ id }) => id)).toEqual(["b", "d"]);
  await project.close();
  const envelope = JSON.parse(readFileSync(threadPath(project, "t", "thread.json"), "utf8"));
  expect(envelope).toMatchObject({ stats: { messageCount: 2 }, metadata: { back: 1 } });
});

test("[ATSF13] a cleared log that is a link to elsewhere is not brought back", async () => {
  const project = await freshProject();
  const thread = await project.create(newThread("t"));
  const outside = join(temporaryDirectory(), "outside.jsonl");
  writeFileSync(outside, line(textMessage("theirs")));
  symlinkSync(outside, threadPath(project, "t", "messages.jsonl.cleared-2026-11-01T00-00-00.000Z"));
  await expect(thread.unclear()).rejects.toMatchObject({ kind: "atsf.invalid_file" });
  expect(existsSync(threadPath(project, "t", "messages.jsonl"))).toBe(false);
  await project.close();
});

test("[ATSF14] remove takes a thread away, or puts it elsewhere, and its name is free again", async () => {
  const project = await freshProject();
  const trash = join(temporaryDirectory(), "t");
  const thread = await project.create(newThread("t"));
  await thread.append(textMessage("a"));
  await project.remove("t", trash);
  expect(readFileSync(join(trash, "messages.jsonl"), "utf8")).toBe(line(textMessage("a")));
  await expect(project.thread("t")).rejects.toMatchObject({ kind: "atsf.thread_not_found" });
  const again = await project.create(newThread("t"));
  await again.append(textMessage("b"));
  expect((await again.read()).messages.map(({ id }) => id)).toEqual(["b"]);
  await project.remove("t");
  expect(await project.list()).toEqual([]);
});
