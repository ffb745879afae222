import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { changeConfig, openProject, purgeAside, readConfig } from "../../src/atsf/index.js";
import { temporaryDirectory } from "../support/stores.js";
import { runChild } from "./bundle.js";
import {
  envelopeOf,
  foreignThread,
  freshProject,
  line,
  newThread,
  textMessage,
  threadPath,
} from "./support.js";

test("[LOG21] a message can be read as soon as it stands in the log; the append ends when it is on disk", async () => {
  const project = await freshProject();
  const thread = await project.create(newThread("t"));
  await thread.append(textMessage("first"));
  const from = readFileSync(join(thread.dir, "messages.jsonl")).length;
  const order: unknown[] = [];
  const message = await thread.append(textMessage("second"), ({ id }) => {
    const read = [...(thread.newMessagesNow(from) ?? [])];
    order.push([id, read.map((entry) => "message" in entry && entry.message.id)]);
  });
  order.push(message.id);
  expect(order).toEqual([["second", ["second"]], "second"]);
});

const by = { name: "Test", version: "1.0.0" };

test("[ATSF21] a thread may have been made earlier; times are in UTC and paths as the format wants them", async () => {
  const project = await freshProject();
  const thread = await project.create(
    newThread("t", {
      createdAt: "2020-01-01T02:00:00+02:00",
      workingDir: "packages/app",
      context: { gitBranch: "main" },
    }),
  );
  expect(await thread.envelope()).toMatchObject({
    createdAt: "2020-01-01T00:00:00.000Z",
    updatedAt: "2020-01-01T00:00:00.000Z",
    context: {
      workingDir: join(project.root, "packages/app"),
      relativeDir: "packages/app",
      gitBranch: "main",
    },
  });
  for (const [id, wrong] of Object.entries({
    a: { createdAt: "yesterday" },
    b: { title: 5 as never },
    c: { agent: { id: "x" } as never },
    d: { context: { worktree: { path: "/x" } as never } },
  })) {
    await expect(project.create(newThread(id, wrong)), id).rejects.toMatchObject({
      kind: "atsf.invalid_thread",
    });
  }
  expect(readdirSync(join(project.root, ".agent", "threads"))).toEqual(["t"]);
});

test("[ATSF25] changes made out of what thread.json says are not lost, by however many programs", async () => {
  const project = await freshProject();
  const thread = await project.create(newThread("t", { metadata: { n: 0 } }));
  const add = () =>
    thread.change(({ metadata }) => [{ path: ["metadata", "n"], value: Number(metadata?.n) + 1 }]);
  const other = runChild("adder", [project.root, "t", "40"]);
  await Promise.all(Array.from({ length: 40 }, add));
  expect(await other).toMatchObject({ code: 0 });
  expect((await thread.envelope()).metadata).toEqual({ n: 80 });
  const failing = thread.change(() => {
    throw new Error("changed my mind");
  });
  await expect(failing).rejects.toThrow("changed my mind");
  expect((await add()).metadata).toEqual({ n: 81 });
  await project.close();
});

test("[ATSF26] a change after which thread.json would be none is refused and not written", async () => {
  const project = await freshProject();
  const thread = await project.create(newThread("t"));
  const before = readFileSync(threadPath(project, "t", "thread.json"), "utf8");
  for (const [path, value] of [
    [["title"], 5],
    [["title"], undefined],
    [["stats", "messageCount"], -1],
    [["threadId"], "other"],
    [["context", "worktree"], { path: "/x" }],
    [["createdAt"], "soon"],
  ] as const) {
    await expect(thread.change([{ path: [...path], value }])).rejects.toMatchObject({
      kind: "atsf.invalid_thread",
    });
  }
  expect(readFileSync(threadPath(project, "t", "thread.json"), "utf8")).toBe(before);
});

test("[ATSF27] whoever reads while files are changed reads one whole state", async () => {
  const project = await freshProject();
  const thread = await project.create(newThread("t"));
  const file = threadPath(project, "t", "thread.json");
  await changeConfig(project.root, by, []);
  const config = join(project.root, ".agent", "config.json");
  let done = false;
  const writing = (async () => {
    for (let n = 0; n < 150; n++) {
      const value = "x".repeat((n * 7919) % 20_000);
      await Promise.all([
        thread.change([{ path: ["title"], value }]),
        changeConfig(project.root, by, [{ path: ["defaults", "agentId"], value }]),
      ]);
    }
    done = true;
  })();
  let reads = 0;
  for (; !done; reads++) {
    expect(JSON.parse(await readFile(file, "utf8")).threadId).toBe("t");
    expect(JSON.parse(await readFile(config, "utf8")).createdBy).toEqual(by);
  }
  await writing;
  expect(reads).toBeGreaterThan(0);
  expect(readdirSync(threadPath(project, "t")).sort()).toEqual(["thread.json", "thread.lock"]);
});

test("[ATSF28] counts are right when two programs append, and after one that died before it counted", async () => {
  const project = await freshProject();
  const one = await project.create(newThread("t"));
  const two = await (await openProject(project.root)).thread("t");
  for (let n = 0; n < 10; n++) {
    await one.append(textMessage(`a${n}`));
    await two.append(textMessage(`b${n}`, "x", { role: "agent" }));
  }
  await one.close();
  expect((await one.envelope()).stats).toMatchObject({
    messageCount: 20,
    userMessageCount: 10,
    agentMessageCount: 10,
  });
  await two.close();
  expect((await two.envelope()).stats.messageCount).toBe(20);
  // As a writer leaves it that dies within its last millisecond: the time fits, the counts do not.
  const log = threadPath(project, "t", "messages.jsonl");
  writeFileSync(log, readFileSync(log, "utf8") + line(textMessage("late")));
  utimesSync(threadPath(project, "t", "thread.json"), new Date(), new Date(Date.now() - 10_000));
  const fresh = await (await openProject(project.root)).thread("t");
  await fresh.append(textMessage("next"));
  await fresh.close();
  expect((await fresh.envelope()).stats.messageCount).toBe(22);
});

test("[ATSF28] a message without its time leaves the thread its last one, and wrong counts of others are found on request", async () => {
  const project = await freshProject();
  const log = line(textMessage("a")) + line({ id: "b", role: "agent", content: [] });
  foreignThread(project, "t", { "thread.json": JSON.stringify(envelopeOf("t")), "messages.jsonl": log });
  const thread = await project.thread("t");
  expect(await thread.refreshDerived()).toBe(true);
  const right = await thread.envelope();
  expect(right).toMatchObject({ updatedAt: textMessage("a").timestamp, stats: { messageCount: 2 } });
  await thread.append(textMessage("c"));
  await thread.close();
  await thread.change([{ path: ["stats", "toolCallCount"], value: 99 }]);
  const fresh = await (await openProject(project.root)).thread("t");
  expect(await fresh.refreshDerived({ thorough: true })).toBe(true);
  expect((await fresh.envelope()).stats).toEqual({ ...right.stats, messageCount: 3, userMessageCount: 2 });
});

test("[ATSF29] no asset is saved for a thread that is gone or read-only, nor through a link", async () => {
  const project = await freshProject();
  const outside = temporaryDirectory();
  foreignThread(project, "copy", { "thread.json": JSON.stringify(envelopeOf("original")) });
  const bytes = Buffer.from("picture");
  const image = { type: "image", data: bytes.toString("base64"), mimeType: "image/png" };
  const copy = await project.thread("copy");
  await expect(copy.saveAsset(bytes, "image/png")).rejects.toMatchObject({ kind: "atsf.read_only" });
  await expect(copy.append(textMessage("m", "", { content: [image as never] }))).rejects.toMatchObject({
    kind: "atsf.read_only",
  });
  const linked = await project.create(newThread("linked"));
  symlinkSync(outside, threadPath(project, "linked", "assets"));
  await expect(linked.saveAsset(bytes, "image/png")).rejects.toMatchObject({ kind: "atsf.invalid_file" });
  const gone = await project.create(newThread("gone"));
  rmSync(threadPath(project, "gone"), { recursive: true });
  await expect(gone.saveAsset(bytes, "image/png")).rejects.toMatchObject({ kind: "atsf.thread_not_found" });
  const half = await project.create(newThread("half"));
  const bad = { ...textMessage("m", "", { content: [image as never] }), role: "nobody" };
  await expect(half.append(bad as never)).rejects.toMatchObject({ kind: "atsf.invalid_message" });
  expect(readdirSync(outside)).toEqual([]);
  expect(readdirSync(threadPath(project, "copy"))).toEqual(["thread.json"]);
  expect(readdirSync(threadPath(project, "half"))).toEqual(["thread.json"]);
  expect(readdirSync(join(project.root, ".agent", "threads")).sort()).toEqual(["copy", "half", "linked"]);
});

test("[ATSF30] nothing appears in a thread that may not be written, and one that is gone stays gone", async () => {
  const project = await freshProject();
  foreignThread(project, "copy", { "thread.json": JSON.stringify(envelopeOf("original")) });
  foreignThread(project, "new", { "thread.json": JSON.stringify(envelopeOf("new", { specVersion: "2.0" })) });
  foreignThread(project, "half", { "thread.json": "{" });
  for (const id of ["copy", "new", "half"]) {
    const thread = await project.thread(id);
    for (const write of [
      () => thread.append(textMessage("m")),
      () => thread.change([]),
      () => thread.clear(),
      () => thread.refreshDerived(),
    ]) {
      await expect(write(), id).rejects.toMatchObject({
        kind: expect.stringMatching(/^atsf\.(read_only|version_unsupported|invalid_file)$/),
      });
    }
    expect(readdirSync(threadPath(project, id))).toEqual(["thread.json"]);
  }
  const thread = await project.create(newThread("gone"));
  await thread.append(textMessage("m"));
  renameSync(threadPath(project, "gone"), join(temporaryDirectory(), "gone"));
  for (const use of [
    () => thread.envelope(),
    () => thread.append(textMessage("n")),
    () => thread.change([]),
    () => project.thread("gone"),
  ]) {
    await expect(use()).rejects.toMatchObject({ kind: "atsf.thread_not_found" });
  }
  await project.close();
  expect(readdirSync(join(project.root, ".agent", "threads")).sort()).toEqual(["copy", "half", "new"]);
});

test("[ATSF30] whoever waited for a thread that was moved away writes to the one that took its place", async () => {
  const project = await freshProject();
  const away = join(temporaryDirectory(), "away");
  const thread = await project.create(newThread("t"));
  await thread.append(textMessage("old"));
  const other = await openProject(project.root);
  const waiting = await other.thread("t");
  await waiting.append(textMessage("old 2"));
  let append: Promise<unknown> | undefined;
  await project.locked(thread.dir, async () => {
    append = waiting.append(textMessage("new"));
    await new Promise((next) => setTimeout(next, 50));
    renameSync(thread.dir, away);
    mkdirSync(thread.dir);
    writeFileSync(join(thread.dir, "thread.json"), JSON.stringify(envelopeOf("t")));
  });
  await append;
  expect(readFileSync(join(thread.dir, "messages.jsonl"), "utf8")).toBe(line(textMessage("new")));
  expect(readFileSync(join(away, "messages.jsonl"), "utf8")).not.toContain('"new"');
  await Promise.all([project.close(), other.close()]);
});

test("[ATSF31] clearing changes other values in the same step and keeps every log that was put aside", async () => {
  const { root } = await freshProject();
  const project = await openProject(root, { now: () => Date.parse("2026-05-05T05:05:05.005Z") });
  const thread = await project.create(newThread("t", { metadata: { app: 1, session: "s" } }));
  const forget = [{ path: ["metadata", "session"], value: undefined }];
  expect(await thread.clear(forget)).toBeUndefined();
  expect((await thread.envelope()).metadata).toEqual({ app: 1 });
  await thread.append(textMessage("a"));
  const first = await thread.clear([{ path: ["metadata", "cleared"], value: 1 }]);
  await thread.append(textMessage("b"));
  const second = await thread.clear();
  expect([first, second]).toEqual([
    "messages.jsonl.cleared-2026-05-05T05-05-05.005Z",
    "messages.jsonl.cleared-2026-05-05T05-05-05.005Z-2",
  ]);
  expect(readFileSync(threadPath(project, "t", first as string), "utf8")).toBe(line(textMessage("a")));
  expect(readFileSync(threadPath(project, "t", second as string), "utf8")).toBe(line(textMessage("b")));
  expect(await thread.envelope()).toMatchObject({
    metadata: { app: 1, cleared: 1 },
    stats: { messageCount: 0 },
    updatedAt: "2026-05-05T05:05:05.005Z",
  });
  await project.close();
});

test("[ATSF32] only logs that were put aside before a time are removed", async () => {
  const dir = temporaryDirectory();
  const keep = [
    "messages.jsonl",
    "messages.jsonl.cleared-2026-03-01T00-00-00.000Z",
    "messages.jsonl.cleared-2026-13-01T00-00-00.000Z",
    "messages.jsonl.cleared-old",
    "messages.jsonl.cleared-2026-01-01T00-00-00.000Z.bak",
    "messages.jsonl.torn-2026-01-01T00-00-00.000Z",
    "thread.json",
    "xmessages.jsonl.cleared-2026-01-01T00-00-00.000Z",
  ];
  const go = [
    "messages.jsonl.cleared-2026-01-01T00-00-00.000Z",
    "messages.jsonl.cleared-2026-01-01T00-00-00.000Z-2",
  ];
  for (const name of [...keep, ...go]) writeFileSync(join(dir, name), "x");
  mkdirSync(join(dir, "messages.jsonl.cleared-2025-01-01T00-00-00.000Z"));
  expect((await purgeAside(dir, Date.parse("2026-03-01T00:00:00.000Z"))).sort()).toEqual(go);
  expect(readdirSync(dir).sort()).toEqual(
    [...keep, "messages.jsonl.cleared-2025-01-01T00-00-00.000Z"].sort(),
  );
  expect(await purgeAside(join(dir, "missing"), Date.now())).toEqual([]);
});

test("[ATSF23] of changes of config.json made at once none is lost", async () => {
  const { root } = await freshProject();
  const keys = Array.from({ length: 30 }, (_, n) => `k${n}`);
  await Promise.all(
    keys.map((key) => changeConfig(root, by, [{ path: ["agentSettings", key], value: { model: key } }])),
  );
  expect(Object.keys((await readConfig(root))?.agentSettings ?? {}).sort()).toEqual(keys.toSorted());
});

test("[ATSF24] JSON files keep their byte order mark; what is not UTF-8 is refused, not rewritten", async () => {
  const project = await freshProject();
  const envelope = (title: string) => `\uFEFF${JSON.stringify(envelopeOf("t", { title, z: 1 }))}`;
  foreignThread(project, "t", { "thread.json": envelope("before") });
  const thread = await project.thread("t");
  await thread.change([{ path: ["title"], value: "after" }]);
  expect(readFileSync(threadPath(project, "t", "thread.json"), "utf8")).toBe(envelope("after"));
  const config = join(project.root, ".agent", "config.json");
  writeFileSync(config, '\uFEFF{"specVersion":"1.1","defaults":{"agentId":"a"}}');
  await changeConfig(project.root, by, [{ path: ["defaults", "agentId"], value: "b" }]);
  expect(readFileSync(config, "utf8")).toBe('\uFEFF{"specVersion":"1.1","defaults":{"agentId":"b"}}');
  const bytes = Buffer.from('{"specVersion":"1.1","x":"\xff"}', "latin1");
  writeFileSync(config, bytes);
  await expect(changeConfig(project.root, by, [])).rejects.toMatchObject({ kind: "atsf.invalid_file" });
  await expect(readConfig(project.root)).rejects.toMatchObject({ data: { problem: "not_utf8" } });
  expect(readFileSync(config)).toEqual(bytes);
});
