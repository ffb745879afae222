import { mkdirSync, readdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { importDirectory, openProject } from "../../src/atsf/index.js";
import { temporaryDirectory } from "../support/stores.js";
import { tree } from "./archive-support.js";
import { ownGit } from "./repository.js";
import {
  envelopeOf,
  foreignThread,
  freshProject,
  line,
  newThread,
  textMessage,
  threadPath,
} from "./support.js";
import { THREAD, withWorktree } from "./worktree-thread.js";

/** A project with two threads, an asset and files of other programs. */
async function sourceProject() {
  const project = await freshProject();
  for (const id of ["a", "b"]) {
    const thread = await project.create(newThread(id));
    await thread.append(textMessage(id));
    await thread.saveAsset(Buffer.from([0, 1, 2, 255]), "image/png");
    writeFileSync(threadPath(project, id, "theirs.txt"), id);
  }
  await project.close();
  return project;
}

const both = [
  { threadId: "a", status: "imported" },
  { threadId: "b", status: "imported" },
];

test("[ARC19] a project, a directory of threads and a thread are copied, and the originals stay", async () => {
  const source = await sourceProject();
  const before = tree(source.root);
  const shapes: [string, typeof both][] = [
    [source.root, both],
    [threadPath(source, "."), both],
    [threadPath(source, "b"), both.slice(1)],
    [`${threadPath(source, "b")}/`, both.slice(1)],
  ];
  for (const [from, expected] of shapes) {
    const project = await freshProject();
    expect(await importDirectory(from, project)).toEqual(expected);
    for (const { threadId } of expected) {
      const { "thread.lock": _, ...files } = tree(threadPath(source, threadId));
      expect(tree(threadPath(project, threadId))).toEqual(files);
    }
    expect(readdirSync(threadPath(project, ".")).sort()).toEqual(expected.map(({ threadId }) => threadId));
    expect(await importDirectory(from, project)).toEqual(
      expected.map(({ threadId }) => ({ threadId, status: "exists" })),
    );
  }
  expect(tree(source.root)).toEqual(before);
  expect(await importDirectory(source.root, source)).toEqual(
    both.map(({ threadId }) => ({ threadId, status: "exists" })),
  );
});

test("[ARC19] a copied log ends with its last complete line, and an envelope can be rewritten", async () => {
  const source = await freshProject();
  const whole = line(textMessage("m"));
  foreignThread(source, "t", {
    "thread.json": JSON.stringify(envelopeOf("t")),
    "messages.jsonl": `${whole}{"id`,
  });
  const project = await freshProject();
  const rewrite = (text: string) => text.replace('"/work"', '"/here"');
  await importDirectory(source.root, project, { rewrite });
  expect(tree(threadPath(project, "t"))).toMatchObject({ "messages.jsonl": whole });
  expect((await (await project.thread("t")).envelope()).context.workingDir).toBe("/here");
  await project.close();
});

describe("threads in git worktrees", () => {
  beforeEach(() => void ownGit());
  afterEach(() => vi.unstubAllEnvs());

  test("[ARC21] of a project those in its worktrees are taken too, each once: the copy that counts", async () => {
    const { dir, worktree } = await withWorktree();
    const own = await openProject(dir);
    await (await own.create(newThread("own"))).append(textMessage("in the project"));
    const side = await openProject(worktree.dir);
    const context = { workingDir: worktree.dir, worktree: { path: worktree.dir, branch: "side" } };
    foreignThread(own, "both", {
      "thread.json": JSON.stringify(envelopeOf("both", { title: "Left", context })),
    });
    foreignThread(side, "both", {
      "thread.json": JSON.stringify(envelopeOf("both", { title: "Works here", context })),
    });
    foreignThread(side, "theirs", {
      "thread.json": JSON.stringify(
        envelopeOf("theirs", { context: { workingDir: "/x", relativeDir: "another/project" } }),
      ),
    });
    foreignThread(own, "broken", { "thread.json": "{" });
    symlinkSync(threadPath(side, THREAD), threadPath(side, "linked"));
    await own.close();
    const before = [tree(join(dir, ".agent")), tree(join(worktree.dir, ".agent"))];
    const project = await freshProject();
    expect(await importDirectory(dir, project)).toEqual([
      { threadId: "both", status: "imported" },
      { threadId: "broken", status: "invalid", reason: expect.any(String) },
      { threadId: "own", status: "imported" },
      { threadId: THREAD, status: "imported" },
    ]);
    expect((await (await project.thread("both")).envelope()).title).toBe("Works here");
    expect((await (await project.thread(THREAD)).page(5)).entries).toHaveLength(1);
    expect(readdirSync(threadPath(project, THREAD, "assets"))).toHaveLength(1);
    expect([tree(join(dir, ".agent")), tree(join(worktree.dir, ".agent"))]).toEqual(before);
    for (const each of [side, project]) await each.close();
  });

  test("[ARC21] a project that has threads in its worktrees only is one, and links there are not followed", async () => {
    const { dir, worktree } = await withWorktree();
    expect(await importDirectory(dir, await freshProject())).toEqual([
      { threadId: THREAD, status: "imported" },
    ]);
    const threads = join(worktree.dir, ".agent", "threads");
    renameSync(threads, `${threads}.away`);
    symlinkSync(`${threads}.away`, threads);
    mkdirSync(join(dir, ".agent", "threads"), { recursive: true });
    expect(await importDirectory(dir, await freshProject())).toEqual([]);
  });
});

test("[ARC20] links are not followed: neither to threads nor in them", async () => {
  const source = await sourceProject();
  const outside = join(temporaryDirectory(), "c");
  mkdirSync(outside);
  writeFileSync(join(outside, "thread.json"), JSON.stringify(envelopeOf("c")));
  symlinkSync(outside, threadPath(source, "c"));
  symlinkSync("/etc/passwd", threadPath(source, "a", "link"));
  symlinkSync("/etc", threadPath(source, "a", "directory"));
  rmSync(threadPath(source, "b", "messages.jsonl"));
  symlinkSync("/etc/passwd", threadPath(source, "b", "messages.jsonl"));
  const project = await freshProject();
  expect(await importDirectory(source.root, project)).toEqual([
    { threadId: "a", status: "imported" },
    { threadId: "b", status: "invalid", reason: expect.stringContaining("messages.jsonl") },
  ]);
  expect(readdirSync(threadPath(project, "a")).sort()).toEqual([
    "assets",
    "messages.jsonl",
    "theirs.txt",
    "thread.json",
  ]);
  const linked = temporaryDirectory();
  symlinkSync(join(source.root, ".agent"), join(linked, ".agent"));
  expect(await importDirectory(linked, await freshProject())).toEqual([]);
});

test("[ARC20] what is no thread is told, and leaves nothing behind", async () => {
  const source = temporaryDirectory();
  const files = {
    "no-envelope/x.txt": "x",
    "broken/thread.json": "{",
    "renamed/thread.json": JSON.stringify(envelopeOf("before")),
    "not an id/thread.json": JSON.stringify(envelopeOf("not an id")),
    ".git/thread.json": JSON.stringify(envelopeOf(".git")),
    "file.txt": "f",
  };
  for (const [path, data] of Object.entries(files)) {
    mkdirSync(dirname(join(source, path)), { recursive: true });
    writeFileSync(join(source, path), data);
  }
  const project = await freshProject();
  const invalid = (threadId: string, reason: string) => ({
    threadId,
    status: "invalid",
    reason: expect.stringContaining(reason),
  });
  expect(await importDirectory(source, project)).toEqual([
    invalid("broken", "not a JSON object"),
    invalid("no-envelope", "there is none"),
    invalid("not an id", "id"),
    invalid("renamed", "says before"),
  ]);
  expect(readdirSync(threadPath(project, "."))).toEqual([]);
  expect(statSync(join(source, "broken/thread.json")).size).toBe(1);
  for (const from of [join(source, "file.txt"), join(source, "gone")])
    await expect(importDirectory(from, project)).rejects.toMatchObject({ kind: "atsf.not_a_directory" });
});
