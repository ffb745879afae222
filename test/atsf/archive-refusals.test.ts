import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  createReadStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { GITIGNORE, openProject, type Project, unpackThreads } from "../../src/atsf/index.js";
import { temporaryDirectory } from "../support/stores.js";
import {
  envelopeText,
  pax,
  type RawEntry,
  soundThread,
  tar,
  tarGz,
  tree,
  unpacked,
} from "./archive-support.js";
import { foreignThread, freshProject, threadPath } from "./support.js";

/** What stands below `.agent/threads`, drafts included. */
function threadsOf(project: Project): string[] {
  const dir = join(project.root, ".agent/threads");
  return existsSync(dir) ? readdirSync(dir).sort() : [];
}

test("[ARC9] a thread whose id is there already stays as it is", async () => {
  const project = await freshProject();
  foreignThread(project, "full", { "thread.json": "mine" });
  mkdirSync(threadPath(project, "empty"));
  symlinkSync("nowhere", threadPath(project, "link"));
  const ids = ["full", "empty", "link", "new"];
  const results = await unpacked(tarGz(ids.flatMap(soundThread)), project);
  expect(results).toEqual([
    { threadId: "full", status: "exists" },
    { threadId: "empty", status: "exists" },
    { threadId: "link", status: "exists" },
    { threadId: "new", status: "imported" },
  ]);
  expect(tree(threadPath(project, "full"))).toEqual({ "thread.json": "mine" });
  expect(readdirSync(threadPath(project, "empty"))).toEqual([]);
  expect(threadsOf(project)).toEqual(["empty", "full", "link", "new"]);
});

test("[ARC9] of two imports of one thread at once, one brings it in", async () => {
  const project = await freshProject();
  const archive = tarGz(soundThread("t"));
  const results = await Promise.all(Array.from({ length: 5 }, () => unpacked(archive, project)));
  const told = results.map(([result]) => result?.status).sort();
  expect(told).toEqual(["exists", "exists", "exists", "exists", "imported"]);
  expect(threadsOf(project)).toEqual(["t"]);
});

test.each<[string, RawEntry[], string]>([
  ["no envelope", [{ name: "bad/messages.jsonl" }], "it has no thread.json"],
  ["only a directory", [{ name: "bad/", type: "5" }], "it has no thread.json"],
  [
    "half an envelope",
    [{ name: "bad/thread.json", data: '{"thr' }],
    "thread.json can't be used: it is not a JSON object.",
  ],
  ["an envelope of another thread", [{ name: "bad/thread.json", data: envelopeText("other") }], "says other"],
  [
    "a later version",
    [{ name: "bad/thread.json", data: envelopeText("bad", { specVersion: "2.0" }) }],
    "version 2.0",
  ],
  [
    "a field missing",
    [{ name: "bad/thread.json", data: envelopeText("bad", { title: undefined }) }],
    "title",
  ],
  ["an endless envelope", [{ name: "bad/thread.json", data: `"${"x".repeat(17_000_000)}"` }], "too large"],
  [
    "an envelope that is a directory",
    [{ name: "bad/thread.json/x", data: "" }],
    "thread.json is a directory",
  ],
])("[ARC10] %s: invalid, nothing left, the others come in", async (_, entries, reason) => {
  const project = await freshProject();
  const results = await unpacked(tarGz([...entries, ...soundThread("good")]), project);
  expect(results).toEqual([
    { threadId: "bad", status: "invalid", reason: expect.stringContaining(reason) },
    { threadId: "good", status: "imported" },
  ]);
  expect(threadsOf(project)).toEqual(["good"]);
});

test("[ARC10] an id that can't be one is invalid", async () => {
  const project = await freshProject();
  for (const id of ["a b", "nul", "C:", "\\\\server", "ü", "x".repeat(129)]) {
    const results = await unpacked(tarGz(soundThread(id)), project);
    expect(results).toEqual([{ threadId: id, status: "invalid", reason: expect.stringContaining("id") }]);
  }
  expect(threadsOf(project)).toEqual([]);
});

test.each<[string, RawEntry[], string]>([
  ["a symbolic link", [{ name: "t/link", type: "2", link: "/etc/passwd" }], "no regular file (symlink)"],
  [
    "a link to a directory, and a file through it",
    [{ name: "t/d", type: "2", link: "/tmp" }, { name: "t/d/x" }],
    "symlink",
  ],
  ["a link in place of the thread", [{ name: "t", type: "2", link: "/tmp" }], "symlink"],
  ["a hard link", [{ name: "t/link", type: "1", link: "t/thread.json" }], "no regular file (link)"],
  ["a device", [{ name: "t/null", type: "3" }], "character-device"],
  ["a pipe", [{ name: "t/pipe", type: "6" }], "fifo"],
  [
    "a sparse file",
    [{ name: "p", type: "x", data: pax("GNU.sparse.size", "99") }, { name: "t/s" }],
    "sparse",
  ],
  ["one name twice", [{ name: "t/./a//b" }, { name: "t/a/b" }], '"a/b" stands in it twice'],
  ["the envelope twice", [{ name: "t/thread.json", data: "{}" }], "twice"],
  ["a file that is a directory too", [{ name: "t/a" }, { name: "t/a/b" }], '"a/b"'],
  ["a name of 256 bytes", [{ name: `t/${"é".repeat(128)}` }], "longer than 255 bytes"],
  ["a path too long for the system", [{ name: `t/${"d/".repeat(2_000)}x` }], "too long"],
])("[ARC11] %s: invalid, nothing left, the others come in", async (_, entries, reason) => {
  const project = await freshProject();
  const results = await unpacked(tarGz([...soundThread("t"), ...entries, ...soundThread("good")]), project);
  expect(results).toEqual([
    { threadId: "t", status: "invalid", reason: expect.stringContaining(reason) },
    { threadId: "good", status: "imported" },
  ]);
  expect(threadsOf(project)).toEqual(["good"]);
});

test.each(["/etc/x", "../x", "t/../../x", "t/..", ".agent/threads/../../x", "./../x", "//x", "t/a\0b"])(
  "[ARC12] the name %j refuses the whole archive",
  async (name) => {
    const outer = temporaryDirectory();
    mkdirSync(join(outer, "project"));
    const project = await openProject(join(outer, "project"));
    const entries = [...soundThread("t"), { name: "p", type: "x", data: pax("path", name) }, { name: "t/x" }];
    await expect(unpacked(tarGz(entries), project)).rejects.toMatchObject({ kind: "atsf.archive_invalid" });
    expect(threadsOf(project)).toEqual([]);
    expect(readdirSync(project.root)).toEqual([".agent"]);
    expect(readdirSync(outer)).toEqual(["project"]);
  },
);

test("[ARC12] so does a name no system could hold", async () => {
  const project = await freshProject();
  const entries = [{ name: `t/${"y".repeat(5_000)}` }, ...soundThread("t")];
  await expect(unpacked(tarGz(entries), project)).rejects.toMatchObject({
    data: { problem: "name_too_long" },
  });
  expect(threadsOf(project)).toEqual([]);
});

test("[ARC12] a project whose threads lie elsewhere through a link is left alone", async () => {
  for (const link of [".agent", ".agent/threads"]) {
    const project = await freshProject();
    const elsewhere = temporaryDirectory();
    if (link !== ".agent") mkdirSync(join(project.root, ".agent"));
    symlinkSync(elsewhere, join(project.root, link));
    await expect(unpacked(tarGz(soundThread("t")), project)).rejects.toMatchObject({
      kind: "atsf.invalid_file",
    });
    expect(readdirSync(elsewhere)).toEqual([]);
  }
});

test("[ARC13] wherever an archive is cut, none of it comes in", async () => {
  const project = await freshProject();
  const whole = tar(soundThread("t"));
  const zipped = gzipSync(whole);
  const cuts = [
    ...Array.from({ length: zipped.length }, (_, length) => zipped.subarray(0, length)),
    ...Array.from({ length: 40 }, (_, index) => whole.subarray(0, Math.floor((index * whole.length) / 40))),
    ...Array.from({ length: 40 }, (_, index) =>
      gzipSync(whole.subarray(0, Math.floor((index * whole.length) / 40))),
    ),
  ];
  for (const archive of cuts) {
    await expect(unpacked(archive, project)).rejects.toMatchObject({ kind: "atsf.archive_invalid" });
    expect(threadsOf(project)).toEqual([]);
  }
  expect(await unpacked(zipped, project)).toEqual([{ threadId: "t", status: "imported" }]);
});

test.each<[string, Buffer]>([
  ["text", Buffer.from("This is no archive.\n".repeat(100))],
  ["zipped text", gzipSync("This is no archive.\n".repeat(100))],
  ["a size larger than the data", tarGz([{ name: "t/thread.json", data: "{}", size: 5_000 }])],
  ["a size smaller than the data", tarGz([{ name: "t/thread.json", data: "x".repeat(2_000), size: 5 }])],
  ["bytes after its end", gzipSync(Buffer.concat([tar(soundThread("t")), Buffer.from("more")]))],
  ["a size below zero", tarGz([{ name: "t/thread.json", size: -1 }])],
])("[ARC13] %s is refused", async (_, archive) => {
  const project = await freshProject();
  await expect(unpacked(archive, project)).rejects.toMatchObject({
    kind: "atsf.archive_invalid",
    message: expect.stringContaining("Nothing was imported."),
  });
  expect(threadsOf(project)).toEqual([]);
});

test("[ARC13] a flipped bit anywhere in the packed bytes is noticed, or changes no file", async () => {
  const zipped = tarGz(soundThread("t"));
  const project = await freshProject();
  await unpacked(zipped, project);
  const sound = tree(threadPath(project, "t"));
  for (let at = 0; at < zipped.length; at++) {
    const flipped = Buffer.from(zipped);
    flipped[at] = (flipped[at] as number) ^ 0x10;
    const other = await freshProject();
    const results = await unpacked(flipped, other).catch((error) => error.kind);
    if (results === "atsf.archive_invalid") expect(threadsOf(other)).toEqual([]);
    else expect(tree(threadPath(other, "t"))).toEqual(sound);
  }
});

test("[ARC13] a source that fails is told as it failed", async () => {
  const project = await freshProject();
  const missing = createReadStream(join(project.root, "missing.tar.gz"));
  await expect(unpackThreads(missing, project)).rejects.toMatchObject({ code: "ENOENT" });
  const lost = Readable.from(
    (async function* () {
      yield tarGz(soundThread("t")).subarray(0, 50);
      throw new Error("connection lost");
    })(),
  );
  await expect(unpackThreads(lost, project)).rejects.toThrow("connection lost");
  expect(threadsOf(project)).toEqual([]);
});

const BOMB = 300 * 1024 * 1024;

test.each<[string, () => Buffer, object, string]>([
  ["one large file", () => tarGz([{ name: "t/x", data: Buffer.alloc(2_000) }]), { maxBytes: 1_999 }, "bytes"],
  [
    "files that are not taken",
    () => tarGz([{ name: "x", data: Buffer.alloc(2_000) }]),
    { maxBytes: 1_999 },
    "bytes",
  ],
  ["padding", () => gzipSync(tar(soundThread("t"), Buffer.alloc(BOMB))), { maxBytes: 2 ** 20 }, "bytes"],
  [
    "many entries",
    () => tarGz(Array.from({ length: 6 }, (_, index) => ({ name: `t/${index}` }))),
    { maxEntries: 5 },
    "entries",
  ],
  ["many directories", () => tarGz([{ name: `t/${"d/".repeat(50)}x` }]), { maxEntries: 5 }, "entries"],
  [
    "headers",
    () =>
      tarGz(
        Array.from({ length: 100 }, () => ({
          name: "p",
          type: "x",
          data: pax("comment", "c".repeat(2 ** 20)),
        })),
      ),
    { maxBytes: 2 ** 20, maxEntries: 10 },
    "bytes",
  ],
])("[ARC14] a bomb of %s is refused", async (_, bomb, options, unit) => {
  const project = await freshProject();
  await expect(unpacked(bomb(), project, options)).rejects.toMatchObject({
    kind: "atsf.archive_too_large",
    data: { unit },
  });
  expect(threadsOf(project)).toEqual([]);
});

test("[ARC14] a file past the limit is refused before all of it has come", async () => {
  const project = await freshProject();
  const archive = Readable.from(
    (async function* () {
      yield tar([{ name: "t/x", size: 2 ** 30 + 1, data: Buffer.alloc(3_000_000) }], Buffer.alloc(0));
      await new Promise(() => {});
    })(),
  );
  await expect(unpackThreads(archive, project)).rejects.toMatchObject({ kind: "atsf.archive_too_large" });
  expect(archive.destroyed).toBe(true);
  expect(threadsOf(project)).toEqual([]);
});

test("[ARC14] what is exactly as large as allowed comes in", async () => {
  const project = await freshProject();
  const entries = soundThread("t");
  const maxBytes = entries.reduce((sum, { data }) => sum + (data as string).length, 0);
  expect(await unpacked(tarGz(entries), project, { maxBytes, maxEntries: 2 })).toEqual([
    { threadId: "t", status: "imported" },
  ]);
});

test("[ARC15] locks and temporary files are not taken; files of others and what was put aside are", async () => {
  const kept = [
    "notes.txt",
    "assets/thread.lock",
    "messages.jsonl.torn-2026",
    "messages.jsonl.cleared-2026",
    ".keep",
  ];
  const left = [
    "thread.lock",
    "thread.lock-wal",
    ".thread.json.9-9.tmp",
    "messages.jsonl.tmp",
    "assets/.x.1-1.tmp",
  ];
  const project = await freshProject();
  const files = [...kept, ...left].map((path) => ({ name: `t/${path}`, data: path }));
  await unpacked(tarGz([...files, ...soundThread("t")]), project);
  const expected = [...kept, "messages.jsonl", "thread.json"].sort();
  expect(Object.keys(tree(threadPath(project, "t"))).sort()).toEqual(expected);
});

test("[ARC16] a rewritten envelope is what comes in, if it is sound", async () => {
  const project = await freshProject();
  const archive = tarGz([...soundThread("t"), ...soundThread("u")]);
  const rewrite = (text: string) => (text.includes('"u"') ? "{}" : text.replace('"/work"', '"/elsewhere"'));
  expect(await unpacked(archive, project, { rewrite })).toEqual([
    { threadId: "t", status: "imported" },
    { threadId: "u", status: "invalid", reason: expect.stringContaining("thread.json") },
  ]);
  const { context } = await (await project.thread("t")).envelope();
  expect(context.workingDir).toBe("/elsewhere");
  const boom = () => {
    throw new Error("boom");
  };
  await expect(
    unpacked(tarGz([...soundThread("v"), ...soundThread("w")]), project, { rewrite: boom }),
  ).rejects.toThrow("boom");
  expect(threadsOf(project)).toEqual(["t"]);
  await project.close();
});

test("[ARC17] what a killed importer left is listed by nobody and removed by the next; a living one is let be", async () => {
  const root = temporaryDirectory();
  const args = ["--import", "tsx", "test/atsf/children/stalled-import.ts", root];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  try {
    await once(child.stdout, "data");
    const project = await openProject(root);
    const drafts = () => threadsOf(project).filter((name) => name.startsWith(".import-"));
    const [draft = ""] = drafts();
    const old = () => utimesSync(threadPath(project, draft), 1e9, 1e9);
    expect(await project.list()).toEqual([]);
    old();
    expect(await unpacked(tarGz(soundThread("a")), project)).toMatchObject([{ status: "imported" }]);
    expect(drafts()).toEqual([draft]);
    child.kill("SIGKILL");
    await once(child, "close");
    expect(drafts()).toEqual([draft]);
    old();
    expect(await unpacked(tarGz(soundThread("t")), project)).toMatchObject([{ status: "imported" }]);
    expect(threadsOf(project)).toEqual(["a", "t"]);
  } finally {
    child.kill("SIGKILL");
  }
});

test("[ARC18] git sees nothing of what is imported, and an ignore file that is there stays", async () => {
  const project = await freshProject();
  const git = (...args: string[]) => execFileSync("git", args, { cwd: project.root, encoding: "utf8" });
  git("init", "--quiet");
  await unpacked(tarGz(soundThread("t")), project);
  expect(git("status", "--porcelain", "--untracked-files=all")).toBe("?? .agent/.gitignore\n");
  expect(readFileSync(join(project.root, ".agent/.gitignore"), "utf8")).toBe(GITIGNORE);
  writeFileSync(join(project.root, ".agent/.gitignore"), "*\n");
  await unpacked(tarGz(soundThread("u")), project);
  expect(readFileSync(join(project.root, ".agent/.gitignore"), "utf8")).toBe("*\n");
});
