import { createHash, randomBytes } from "node:crypto";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { packThread, unpackThreads } from "../../src/atsf/index.js";
import { temporaryDirectory } from "../support/stores.js";
import { envelopeText, inPieces, packed, systemTar, tree, unpacked } from "./archive-support.js";
import { envelopeOf, freshProject, line, newThread, textMessage, threadPath } from "./support.js";

/** A thread's directory outside of any project, with the files it is given. */
function threadDirectory(id: string, files: Record<string, string | Buffer> = {}): string {
  const dir = join(temporaryDirectory(), id);
  for (const [path, data] of Object.entries({ "thread.json": envelopeText(id), ...files })) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), data);
  }
  return dir;
}

const namesIn = (archive: Buffer) => systemTar(["-tzf", "-"], archive).toString().trimEnd().split("\n");

test("[ARC1] an archive holds a thread's own files and those of others, and nothing that belongs to a moment", async () => {
  const project = await freshProject();
  const thread = await project.create(newThread("t"));
  await thread.append(textMessage("m1"));
  const asset = await thread.saveAsset(Buffer.from("png"), "image/png");
  await thread.clear();
  await thread.append(textMessage("m2"));
  await project.close();
  const dir = threadPath(project, "t");
  const others = { "zebra.txt": "z", ".hidden": "h", "notes/a b/ü.md": "n", "assets/thread.lock": "theirs" };
  const passing = {
    "thread.lock-journal": "",
    ".thread.json.1-0.tmp": "",
    "thread.json.tmp": "",
    "assets/.sha256-00.png.1-2.tmp": "",
    "messages.jsonl.torn-2026": "",
    "thread.json.broken-2026": "",
  };
  for (const [path, data] of Object.entries({ ...others, ...passing })) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), data);
  }
  symlinkSync("/etc/passwd", join(dir, "link"));
  symlinkSync("/etc", join(dir, "linked-directory"));
  expect(existsSync(join(dir, "thread.lock"))).toBe(true);
  const archive = await packed(dir);
  expect(namesIn(archive)).toHaveLength(7);
  const into = temporaryDirectory();
  systemTar(["-xzf", "-", "-C", into], archive);
  const expected = ["thread.json", "messages.jsonl", `assets/${asset}`, ...Object.keys(others)];
  expect(Object.keys(tree(join(into, "t"))).sort()).toEqual(expected.sort());
  expect(tree(join(into, "t"))).toMatchObject({
    "thread.json": readFileSync(join(dir, "thread.json"), "latin1"),
    "messages.jsonl": line(textMessage("m2")),
  });
  expect(namesIn(archive).slice(0, 2)).toEqual(["t/thread.json", "t/messages.jsonl"]);
});

test("[ARC1] a torn tail stays behind; a last message without its line end does not", async () => {
  const first = line(textMessage("one"));
  for (const [tail, kept] of [
    ['{"id":"to', ""],
    [line(textMessage("two")).trimEnd(), line(textMessage("two")).trimEnd()],
  ]) {
    const dir = threadDirectory("t", { "messages.jsonl": first + tail });
    const archive = await packed(dir);
    const log = systemTar(["-xzOf", "-", "t/messages.jsonl"], archive).toString();
    expect(log).toBe(first + kept);
    expect(readFileSync(join(dir, "messages.jsonl"), "utf8")).toBe(first + tail);
  }
});

test("[ARC2] the same files give the same bytes, whoever owns them", async () => {
  const files = { "messages.jsonl": line(textMessage("m")), "b.txt": "b", "a/z.txt": "z", "a.txt": "a" };
  const times = [1, 2].map(async () => {
    const dir = threadDirectory("t", files);
    for (const path of ["thread.json", ...Object.keys(files)]) utimesSync(join(dir, path), 1e9, 1e9);
    return packed(dir);
  });
  const [one, two] = await Promise.all(times);
  expect(one).toEqual(two);
  const told = systemTar(["--numeric-owner", "-tvzf", "-"], one).toString().trimEnd().split("\n");
  expect(told.map((row) => row.split(/\s+/).slice(0, 2).join(" "))).toEqual(Array(5).fill("-rw-r--r-- 0/0"));
  const header = gunzipSync(one as Buffer).subarray(0, 512);
  expect(header.subarray(265, 329)).toEqual(Buffer.alloc(64));
});

test("[ARC3] while somebody appends, the log ends with the last complete line of the beginning", async () => {
  const lines = Array.from({ length: 20_000 }, (_, index) =>
    line(textMessage(`m${index}`, "x".repeat(1_000))),
  );
  const whole = lines.join("");
  const dir = threadDirectory("t", { "messages.jsonl": `${whole}{"id":"half` });
  const stream = packThread(dir);
  const chunks: Buffer[] = [];
  for await (const chunk of stream) {
    chunks.push(chunk);
    appendFileSync(join(dir, "messages.jsonl"), `more"}\n${line(textMessage("late"))}{"id":"half`);
  }
  const log = systemTar(["-xzOf", "-", "t/messages.jsonl"], Buffer.concat(chunks)).toString();
  expect(log).toBe(whole);
});

test("[ARC3] a file that is cut short while it is packed is an error, not a damaged archive", async () => {
  const dir = threadDirectory("t", { "big.bin": randomBytes(30_000_000) });
  const stream = packThread(dir);
  let read = 0;
  await expect(async () => {
    for await (const chunk of stream) {
      read += chunk.length;
      if (read > 1_000_000) truncateSync(join(dir, "big.bin"), 10);
    }
  }).rejects.toMatchObject({ kind: "atsf.invalid_file", data: { problem: "changed" } });
});

test("[ARC4] a large thread goes through without being held in memory", async () => {
  const dir = threadDirectory("t", { "assets/large.bin": "" });
  const size = 200 * 1024 * 1024;
  truncateSync(join(dir, "assets/large.bin"), size);
  const project = await freshProject();
  let most = 0;
  const before = process.memoryUsage().arrayBuffers;
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage().arrayBuffers - before);
  }, 5);
  try {
    expect(await unpackThreads(packThread(dir), project)).toEqual([{ threadId: "t", status: "imported" }]);
  } finally {
    clearInterval(watch);
  }
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThan(size / 2);
  expect(statSync(threadPath(project, "t", "assets/large.bin")).size).toBe(size);
});

test("[ARC5] what can't be packed is the stream's error", async () => {
  const linked = threadDirectory("t");
  symlinkSync("/etc/passwd", join(linked, "messages.jsonl"));
  const noEnvelope = threadDirectory("t", { "messages.jsonl": "" });
  rmSync(join(noEnvelope, "thread.json"));
  const cases = [
    [linked, "atsf.invalid_file"],
    [noEnvelope, "atsf.invalid_file"],
    [join(temporaryDirectory(), "gone"), "atsf.invalid_file"],
    [threadDirectory("no id"), "atsf.invalid_thread_id"],
  ] as const;
  for (const [dir, kind] of cases) await expect(packed(dir)).rejects.toMatchObject({ kind });
});

test("[ARC5] a file whose name is not UTF-8 is not left out in silence", async () => {
  const dir = threadDirectory("t", { "\uFFFD-is-a-name.txt": "x" });
  expect(namesIn(await packed(dir))).toHaveLength(2);
  writeFileSync(Buffer.concat([Buffer.from(`${dir}/`), Buffer.from([0xff, 0xfe])]), "x");
  await expect(packed(dir)).rejects.toMatchObject({ data: { problem: "name_not_utf8" } });
});

test("[ARC5] a stream that is stopped early lets go of the thread's files", async () => {
  const dir = threadDirectory("t", { "messages.jsonl": "{}\n", "big.bin": randomBytes(30_000_000) });
  const open = () =>
    readdirSync("/proc/self/fd").filter((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`).startsWith(dir);
      } catch {
        return false;
      }
    }).length;
  const stream = packThread(dir);
  for await (const _ of stream) {
    expect(open()).toBeGreaterThan(0);
    break;
  }
  for (let wait = 0; wait < 200 && open() > 0; wait++) await new Promise((next) => setTimeout(next, 10));
  expect(open()).toBe(0);
});

const segment = fc
  .string({ unit: "binary", minLength: 1, maxLength: 40 })
  .filter((name) => !/[/\0]/.test(name) && name.isWellFormed() && name !== "." && name !== "..")
  .map((name) => `u${name}`);
const unknownPath = fc.array(segment, { minLength: 1, maxLength: 6 }).map((parts) => parts.join("/"));
const bytes = fc.uint8Array({ maxLength: 3_000 }).map((array) => Buffer.from(array));

test("[ARC6] whatever a thread holds, it is the same after packing and unpacking", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(unknownPath, bytes, { maxKeys: 6 }),
      fc.array(bytes, { maxLength: 4 }),
      fc.integer({ min: 1, max: 700 }),
      async (unknown, assets, pieces) => {
        const files: Record<string, Buffer> = { "messages.jsonl": Buffer.from(line(textMessage("m"))) };
        for (const [path, data] of Object.entries(unknown)) {
          const taken = Object.keys(files).some(
            (other) => `${other}/`.startsWith(`${path}/`) || `${path}/`.startsWith(`${other}/`),
          );
          if (!taken) files[path] = data;
        }
        for (const data of assets)
          files[`assets/sha256-${createHash("sha256").update(data).digest("hex").slice(0, 16)}.bin`] = data;
        const dir = threadDirectory("t", files);
        const project = await freshProject();
        const results = await unpackThreads(inPieces(await packed(dir), pieces), project);
        expect(results).toEqual([{ threadId: "t", status: "imported" }]);
        expect(tree(threadPath(project, "t"))).toEqual(tree(dir));
      },
    ),
    { numRuns: 60 },
  );
});

test("[ARC7] archives of the system's tar are read, in every format it has", async () => {
  const long = `${"long-name-".repeat(12)}/${"x".repeat(180)}.txt`;
  for (const format of ["gnu", "pax", "posix", "oldgnu"]) {
    const dir = threadDirectory("t", {
      "messages.jsonl": line(textMessage("m")),
      [long]: format,
      "ü/é.txt": "é",
    });
    const project = await freshProject();
    const archive = systemTar([`--format=${format}`, "-C", dirname(dir), "-czf", "-", "./t"]);
    expect(await unpacked(archive, project)).toEqual([{ threadId: "t", status: "imported" }]);
    expect(tree(threadPath(project, "t"))).toEqual(tree(dir));
  }
});

test("[ARC7] an archive that a browser has unzipped already is read too", async () => {
  const dir = threadDirectory("t");
  const project = await freshProject();
  expect(await unpacked(gunzipSync(await packed(dir)), project)).toEqual([
    { threadId: "t", status: "imported" },
  ]);
  expect(tree(threadPath(project, "t"))).toEqual(tree(dir));
});

test("[ARC8] of a packed project the threads are taken and nothing else", async () => {
  const source = await freshProject();
  for (const id of ["a", "b"]) await (await source.create(newThread(id))).append(textMessage(id));
  await source.close();
  mkdirSync(join(source.root, "A-src"));
  writeFileSync(join(source.root, "A-src/thread.json"), JSON.stringify(envelopeOf("A-src")));
  writeFileSync(join(source.root, "README.md"), "r");
  writeFileSync(join(source.root, ".agent/config.json"), '{"specVersion":"1.1"}');
  for (const members of [
    ["./A-src", "./README.md", "./.agent"],
    [".agent", "A-src", "README.md"],
    [".agent/threads"],
  ]) {
    const project = await freshProject();
    const results = await unpacked(systemTar(["-C", source.root, "-czf", "-", ...members]), project);
    expect(results.sort((x, y) => (x.threadId < y.threadId ? -1 : 1))).toEqual([
      { threadId: "a", status: "imported" },
      { threadId: "b", status: "imported" },
    ]);
    expect(readdirSync(project.root)).toEqual([".agent"]);
    expect(readdirSync(join(project.root, ".agent")).sort()).toEqual([".gitignore", "threads"]);
    expect((await (await project.thread("b")).read()).messages.map(({ id }) => id)).toEqual(["b"]);
    await project.close();
  }
});
