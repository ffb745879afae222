import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import {
  changeConfig,
  openProject,
  type Problem,
  type Project,
  repair,
  validate,
} from "../../src/atsf/index.js";
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

async function problemsOf(root: string): Promise<Problem[]> {
  const found: Problem[] = [];
  for await (const problem of validate(root)) found.push(problem);
  for (const { message, advice } of found) expect(`${message} ${advice}`).toMatch(/^.{20,}\.$/s);
  return found;
}

/** A project with one sound thread and an ignore file, so that only what a test adds is wrong. */
async function soundProject(): Promise<Project> {
  const project = await freshProject();
  await (await project.create(newThread("sound"))).append(textMessage("a"));
  await project.close();
  expect(await problemsOf(project.root)).toEqual([]);
  return project;
}

const told = (found: readonly Problem[]) =>
  found.map(({ line: at, problem, severity }) => [at, problem, severity]);

test("[ATSF17] messages: missing ids, required fields, times, order and tool calls are told line by line", async () => {
  const project = await soundProject();
  const call = { toolCallId: "c", name: "bash", status: "completed" };
  const at = textMessage("x").timestamp;
  const log = [
    { ...textMessage("1"), id: undefined },
    { ...textMessage("2"), timestamp: undefined },
    { ...textMessage("3"), timestamp: "2026-01-02T05:04:05+02:00" },
    { ...textMessage("4"), toolCalls: [{ ...call, name: undefined }] },
    { ...textMessage("5"), toolCalls: [{ ...call, status: "done" }] },
    { ...textMessage("6"), toolCalls: [call, call] },
    { ...textMessage("7"), toolCalls: [{ ...call, diff: { path: "x" } }] },
    {
      ...textMessage("8"),
      content: [{ type: "text" }, { type: "image", mimeType: "x" }, { type: "own" }, 5],
    },
    { ...textMessage("9"), timestamp: "2026-01-01T00:00:00.000Z" },
    { ...textMessage("10"), role: "tool" },
    { ...textMessage("11"), toolCalls: [{ ...call, status: "in_progress" }] },
    { ...textMessage("12"), tokens: { input: "many" } },
  ];
  const stats = { messageCount: 10, userMessageCount: 10, agentMessageCount: 0, toolCallCount: 6 };
  foreignThread(project, "t", {
    "thread.json": JSON.stringify(envelopeOf("t", { stats, updatedAt: at })),
    "messages.jsonl": log.map(line).join(""),
  });
  expect(told(await problemsOf(project.root))).toEqual([
    [1, "no_id", "error"],
    [2, "schema", "error"],
    [3, "not_utc", "warning"],
    [4, "schema", "error"],
    [5, "schema", "error"],
    [6, "duplicate_tool_call", "warning"],
    [7, "schema", "error"],
    [7, "schema", "error"],
    [8, "schema", "error"],
    [8, "schema", "error"],
    [8, "schema", "error"],
    [9, "out_of_order", "warning"],
    [10, "unknown_role", "error"],
    [12, "schema", "error"],
  ]);
});

test("[ATSF17] envelopes, assets and links: every problem has its name, and nothing is changed", async () => {
  const project = await soundProject();
  const outside = temporaryDirectory();
  writeFileSync(join(outside, "thread.json"), JSON.stringify(envelopeOf("linked-file")));
  foreignThread(project, "a-times", {
    "thread.json": JSON.stringify(
      envelopeOf("a-times", {
        createdAt: "2026-01-01T02:00:00+02:00",
        updatedAt: "2026-01-01T00:00:00",
        context: { workingDir: "work" },
      }),
    ),
  });
  foreignThread(project, "b-worktree", {
    "thread.json": JSON.stringify(
      envelopeOf("b-worktree", { context: { workingDir: "/x", worktree: { path: "/x" } } }),
    ),
  });
  foreignThread(project, "c-no-version", {
    "thread.json": JSON.stringify(envelopeOf("c-no-version", { specVersion: undefined })),
  });
  foreignThread(project, "d-assets", { "thread.json": JSON.stringify(envelopeOf("d-assets")) });
  mkdirSync(threadPath(project, "d-assets", "assets"));
  for (const name of ["photo.png", `sha256-${"a".repeat(16)}.png`]) {
    writeFileSync(threadPath(project, "d-assets", "assets", name), "x");
  }
  foreignThread(project, "e-link", {});
  symlinkSync(join(outside, "thread.json"), threadPath(project, "e-link", "thread.json"));
  foreignThread(project, "f-directories", {});
  mkdirSync(threadPath(project, "f-directories", "thread.json"));
  mkdirSync(threadPath(project, "f-directories", "messages.jsonl"));
  writeFileSync(threadPath(project, "g-file"), "x");
  symlinkSync(outside, threadPath(project, "h-away"));
  const before = readdirSync(project.root, { recursive: true }).sort();
  const found = await problemsOf(project.root);
  expect(
    found.map(({ file, problem, severity }) => `${file.split("/threads/")[1]} ${problem} ${severity}`),
  ).toEqual([
    "a-times/thread.json not_utc warning",
    "a-times/thread.json not_utc warning",
    "a-times/thread.json not_absolute warning",
    "b-worktree/thread.json schema error",
    "c-no-version/thread.json no_version warning",
    "d-assets/assets/photo.png asset_name warning",
    "e-link/thread.json leads_out error",
    "f-directories/thread.json not_a_file error",
    "f-directories/messages.jsonl not_a_file error",
    "g-file not_a_directory warning",
    "h-away leads_out error",
  ]);
  expect(found.find(({ problem }) => problem === "schema")?.message).toContain("context.worktree.branch");
  expect(readdirSync(project.root, { recursive: true }).sort()).toEqual(before);
});

test("[ATSF17] config.json: what can't be used is told, and a missing version is added by repair", async () => {
  const project = await soundProject();
  const file = join(project.root, ".agent", "config.json");
  for (const [text, problem] of [
    ["{", "not_json"],
    ["[]", "not_json"],
    ['{"specVersion":"2.0"}', "version_unsupported"],
    ['{"specVersion":"1.1","defaults":{"useWorktree":"yes"}}', "schema"],
    ['{"specVersion":"1.1","createdBy":{"name":"x"}}', "schema"],
    ['{"x":1}', "no_version"],
  ] as const) {
    writeFileSync(file, text);
    expect((await problemsOf(project.root)).map((each) => each.problem)).toEqual([problem]);
  }
  const done: string[] = [];
  for await (const each of repair(project.root)) done.push(each.done);
  expect(done).toEqual(["added specVersion"]);
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ x: 1, specVersion: "1.1" });
  expect(await problemsOf(project.root)).toEqual([]);
});

test("[ATSF34] a file or link where .agent or threads should be is told, and nothing is made around it", async () => {
  const outside = temporaryDirectory();
  const file = (path: string) => writeFileSync(path, "x");
  const link = (path: string) => symlinkSync(outside, path);
  const places: [string, (path: string) => void, string, string][] = [
    ["missing", () => {}, "", "missing"],
    ["file", file, "", "not_a_directory"],
    ["agent file", file, ".agent", "not_a_directory"],
    ["agent link", link, ".agent", "leads_out"],
    ["threads file", file, ".agent/threads", "not_a_directory"],
    ["threads link", link, ".agent/threads", "leads_out"],
  ];
  const base = temporaryDirectory();
  for (const [name, make, at, problem] of places) {
    const root = join(base, name);
    mkdirSync(join(root, at, ".."), { recursive: true });
    make(join(root, at));
    expect(
      (await problemsOf(root)).map((each) => each.problem),
      name,
    ).toEqual([problem]);
    if (name === "missing" || name === "file") {
      await expect(openProject(root), name).rejects.toMatchObject({ kind: "atsf.not_a_directory" });
      continue;
    }
    const project = await openProject(root);
    const refused = { kind: expect.stringMatching(/^atsf\.(not_a_directory|invalid_file)$/) };
    await expect(project.create(newThread("t")), name).rejects.toMatchObject(refused);
    if (name.endsWith("file")) await expect(project.list(), name).rejects.toMatchObject(refused);
    if (at !== ".agent") continue;
    const by = { name: "Test", version: "1.0.0" };
    await expect(changeConfig(root, by, []), name).rejects.toThrow();
  }
  const empty = join(base, "empty");
  mkdirSync(join(empty, ".agent"), { recursive: true });
  expect(await problemsOf(empty)).toEqual([]);
  expect(readdirSync(outside, { recursive: true })).toEqual([]);
});

test("[ATSF35] what is no directory among the threads is told as what it is, and stops no repair", async () => {
  const project = await soundProject();
  const away = { "thread.json": "{", "messages.jsonl": line(textMessage("m", "Hello")) };
  foreignThread(project, "z-broken", away);
  writeFileSync(threadPath(project, "file"), "x");
  writeFileSync(threadPath(project, ".hidden"), "x");
  execFileSync("mkfifo", [threadPath(project, "pipe")]);
  symlinkSync("nowhere", threadPath(project, "dangling"));
  symlinkSync("circle", threadPath(project, "circle"));
  symlinkSync(".hidden", threadPath(project, "to-file"));
  const found = (await problemsOf(project.root)).slice(0, -1);
  expect(found.map(({ file, problem, message }) => [basename(file), problem, message])).toEqual(
    [
      ["circle", "a link in a circle"],
      ["dangling", "a link to nothing"],
      ["file", "a file"],
      ["pipe", "a pipe"],
      ["to-file", "a file"],
    ].map(([name, is]) => [name, "not_a_directory", `It is ${is} where threads have their directories.`]),
  );
  expect(found.every(({ repairable, advice }) => !repairable && advice === "Move it away.")).toBe(true);
  const mended: string[] = [];
  for await (const { problem, failed } of repair(project.root)) if (!failed) mended.push(problem.file);
  expect(mended).toEqual([threadPath(project, "z-broken", "thread.json")]);
  expect((await problemsOf(project.root)).map(({ problem }) => problem)).toEqual(
    Array(5).fill("not_a_directory"),
  );
});

test("[ATSF18] what can't be mended is told with the reason, and the rest is mended", async () => {
  const project = await soundProject();
  for (const id of ["a-locked", "b-next"]) foreignThread(project, id, { "thread.json": "{" });
  mkdirSync(threadPath(project, "a-locked", "thread.lock"));
  const told: object[] = [];
  for await (const { problem, done, failed } of repair(project.root)) {
    told.push({ thread: basename(dirname(problem.file)), done, failed });
  }
  expect(told).toEqual([
    { thread: "a-locked", done: expect.stringMatching(/thread\.lock/), failed: true },
    { thread: "b-next", done: expect.stringMatching(/^made a new one/), failed: false },
  ]);
});

test("[ATSF33] an envelope that lacks a field or has a wrong one is mended field by field", async () => {
  const project = await soundProject();
  const good = envelopeOf("x") as Record<string, unknown>;
  const broken: Record<string, object> = {
    "no-stats": { ...good, stats: undefined, metadata: { app: { deep: 1 } } },
    "wrong-time": { ...good, createdAt: "soon", own: [1, 2] },
    "wrong-count": { ...good, stats: { messageCount: "1", userMessageCount: 1, own: true } },
    "half-worktree": { ...good, context: { workingDir: "/x", worktree: { path: "/x" }, own: 1 } },
    "wrong-branch": { ...good, context: { workingDir: "/x", gitBranch: 5 } },
    "no-agent": { specVersion: "1.7", title: "Kept" },
    "metadata-text": { ...good, metadata: "text" },
  };
  for (const [id, envelope] of Object.entries(broken)) {
    const text = JSON.stringify("threadId" in envelope ? { ...envelope, threadId: id } : envelope, null, 2);
    foreignThread(project, id, { "thread.json": text, "messages.jsonl": line(textMessage("m", "Hello")) });
  }
  for await (const { problem, done } of repair(project.root)) {
    expect([problem.problem, done]).toEqual(
      problem.problem === "schema"
        ? ["schema", expect.stringMatching(/^added or replaced .*; the old one is thread\.json\.broken-/)]
        : ["stale_stats", "counted the log anew"],
    );
  }
  expect(await problemsOf(project.root)).toEqual([]);
  const after = (id: string) => JSON.parse(readFileSync(threadPath(project, id, "thread.json"), "utf8"));
  const at = textMessage("m").timestamp;
  expect(after("no-stats")).toMatchObject({
    title: "T",
    agent: { id: "demo" },
    metadata: { app: { deep: 1 } },
    stats: { messageCount: 1 },
  });
  expect(after("wrong-time")).toMatchObject({ createdAt: at, own: [1, 2] });
  expect(after("wrong-count").stats).toEqual({
    messageCount: 1,
    userMessageCount: 1,
    agentMessageCount: 0,
    toolCallCount: 0,
    own: true,
  });
  expect(after("half-worktree").context).toEqual({ workingDir: "/x", own: 1 });
  expect(after("wrong-branch").context).toEqual({ workingDir: "/x" });
  expect(after("no-agent")).toMatchObject({
    specVersion: "1.7",
    threadId: "no-agent",
    title: "Kept",
    createdAt: at,
  });
  expect(after("metadata-text").metadata).toEqual({});
  for (const [id, envelope] of Object.entries(broken)) {
    const [name = ""] = readdirSync(threadPath(project, id)).filter((each) => each.includes(".broken-"));
    expect(JSON.parse(readFileSync(threadPath(project, id, name), "utf8"))).toEqual(
      JSON.parse(JSON.stringify("threadId" in envelope ? { ...envelope, threadId: id } : envelope)),
    );
    expect(statSync(threadPath(project, id, name)).isFile()).toBe(true);
  }
});
