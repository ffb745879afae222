import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { filesPlugin } from "../../src/tools/index.js";
import { temporaryDirectory } from "../support/stores.js";
import { contextWith, directoryWith, registryOf } from "./support.js";

const registry = registryOf(...filesPlugin.tools);

function write(directory: string, path: string, content: string, signal?: AbortSignal) {
  const context = contextWith({ directory, ...(signal && { signal }) });
  return registry.call("files_write", { path, content }, context);
}

function edit(directory: string, path: string, ...[old_text, new_text, more]: [string, string, object?]) {
  return registry.call("files_edit", { path, old_text, new_text, ...more }, contextWith({ directory }));
}

/** What an edit makes of a file, or why it does not. */
async function edited(content: string | Buffer, from: string, to: string, more: object = {}) {
  const directory = directoryWith({ "a.txt": content });
  const { status, output } = await edit(directory, "a.txt", from, to, more);
  const text = readFileSync(join(directory, "a.txt"), "utf8");
  if (status === "failed") expect(text).toBe(content.toString());
  return status === "failed" ? { output } : { text, output };
}

test("[FIL10] it makes a file with the directories it needs, then replaces it, and says which", async () => {
  const directory = temporaryDirectory();
  expect(await write(directory, "src/deep/a.txt", "one\ntwo\n")).toEqual({
    status: "completed",
    output: 'Created "src/deep/a.txt" (2 lines, 8 bytes).',
    diff: { path: "src/deep/a.txt", oldText: "", newText: "one\ntwo\n" },
    duration_ms: 0,
  });
  expect(await write(directory, join(directory, "src/deep/a.txt"), "ünö")).toMatchObject({
    output: 'Replaced "src/deep/a.txt" (1 line, 5 bytes).',
    diff: { path: "src/deep/a.txt", oldText: "one\ntwo\n", newText: "ünö" },
  });
  expect(readFileSync(join(directory, "src/deep/a.txt"), "utf8")).toBe("ünö");
  expect(await write(directory, "empty", "")).toMatchObject({
    output: 'Created "empty" (0 lines, 0 bytes).',
  });
});

test("[FIL10] what says the same already is left alone", async () => {
  const directory = directoryWith({ "a.txt": "same" });
  const before = statSync(join(directory, "a.txt"), { bigint: true });
  const outcome = await write(directory, "a.txt", "same");
  expect(outcome).toMatchObject({
    status: "completed",
    output: '"a.txt" says that already. Nothing was changed.',
  });
  expect(outcome.diff).toBeUndefined();
  expect(statSync(join(directory, "a.txt"), { bigint: true })).toMatchObject({
    ino: before.ino,
    mtimeNs: before.mtimeNs,
  });
});

test("[FIL11] who reads it meanwhile sees the old text or the new one, and nothing is left beside it", async () => {
  const texts = ["a".repeat(400_000), "b".repeat(700_000)];
  const directory = directoryWith({ "a.txt": texts[0] as string });
  for (let round = 0; round < 20; round++) {
    let over = false;
    const writing = write(directory, "a.txt", texts[(round + 1) % 2] as string).finally(() => {
      over = true;
    });
    while (!over) {
      expect(texts).toContain(readFileSync(join(directory, "a.txt"), "utf8"));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await writing).status).toBe("completed");
  }
  expect(readdirSync(directory)).toEqual(["a.txt"]);
});

test("[FIL11] a failure leaves the old file and nothing beside it", async () => {
  const directory = directoryWith({ "sub/a.txt": "old" });
  expect((await write(directory, "sub", "new")).status).toBe("failed");
  expect((await write(directory, "sub/a.txt/b", "new")).status).toBe("failed");
  expect((await write(directory, "sub/a.txt", "new", AbortSignal.abort())).status).toBe("failed");
  expect(readdirSync(directory, { recursive: true })).toEqual(["sub", "sub/a.txt"]);
  expect(readFileSync(join(directory, "sub/a.txt"), "utf8")).toBe("old");
});

test("[FIL12] a file keeps its mode, and a new one gets that of any new file", async () => {
  const directory = directoryWith({ "run.sh": "old", "private.txt": "old", plain: "x" });
  chmodSync(join(directory, "run.sh"), 0o755);
  chmodSync(join(directory, "private.txt"), 0o600);
  await write(directory, "run.sh", "new");
  await edit(directory, "private.txt", "old", "new");
  await write(directory, "new.txt", "new");
  const modeOf = (name: string) => statSync(join(directory, name)).mode & 0o777;
  expect(["run.sh", "private.txt", "new.txt"].map(modeOf)).toEqual([0o755, 0o600, modeOf("plain")]);
});

test("[FIL12] a link within stays a link; a hard link elsewhere keeps the old text", async () => {
  const outer = directoryWith({ "project/src/a.txt": "old" });
  const directory = join(outer, "project");
  linkSync(join(directory, "src/a.txt"), join(outer, "elsewhere.txt"));
  symlinkSync("src/a.txt", join(directory, "link"));
  symlinkSync("src", join(directory, "dir"));
  expect((await write(directory, "link", "new")).output).toContain('Replaced "link"');
  expect((await write(directory, "dir/b/c.txt", "new")).output).toContain('Created "dir/b/c.txt"');
  expect((await edit(directory, "dir/a.txt", "new", "newer")).status).toBe("completed");
  expect(lstatSync(join(directory, "link")).isSymbolicLink()).toBe(true);
  expect(readFileSync(join(directory, "src/a.txt"), "utf8")).toBe("newer");
  expect(readFileSync(join(directory, "src/b/c.txt"), "utf8")).toBe("new");
  expect(readFileSync(join(outer, "elsewhere.txt"), "utf8")).toBe("old");
});

test("[FIL13] too much, NUL and half characters are refused", async () => {
  const directory = temporaryDirectory();
  const refused: [string, string][] = [
    ["a\0b", "contains a NUL character"],
    ["a\ud83e", "contains half a character"],
    ["x".repeat(4 * 1024 * 1024 + 1), '"content"'],
    ["ü".repeat(3 * 1024 * 1024), "6291456 bytes; at most 4194304"],
  ];
  for (const [content, why] of refused) {
    const { status, output } = await write(directory, "a.txt", content);
    expect({ status, output }).toEqual({ status: "failed", output: expect.stringContaining(why) });
    expect(output.length).toBeLessThan(1_000);
  }
  expect(readdirSync(directory)).toEqual([]);
  expect((await write(directory, "a.txt", "x".repeat(4 * 1024 * 1024))).status).toBe("completed");
});

test.skipIf(process.getuid?.() === 0)(
  "[FIL14] [permissions] what may not be written is left alone",
  async () => {
    const directory = directoryWith({ "a.txt": "old" });
    chmodSync(join(directory, "a.txt"), 0o444);
    mkdirSync(join(directory, "closed"), { mode: 0o555 });
    for (const path of ["a.txt", "closed/b.txt"]) {
      expect((await write(directory, path, "new")).output).toContain("permission denied");
    }
    expect(readFileSync(join(directory, "a.txt"), "utf8")).toBe("old");
  },
);

test("[FIL15] calls that change one file take turns, by whatever name, in order, and none is lost", async () => {
  const lines = Array.from({ length: 24 }, (_, index) => `<${index}>`);
  const directory = directoryWith({ "src/a.txt": lines.join("\n") });
  symlinkSync("src", join(directory, "link"));
  const outcomes = await Promise.all(
    lines.map((line, index) => edit(directory, index % 2 ? "src/a.txt" : "link/a.txt", line, `done ${line}`)),
  );
  expect(outcomes.filter(({ status }) => status === "failed")).toEqual([]);
  expect(readFileSync(join(directory, "src/a.txt"), "utf8")).toBe(
    lines.map((line) => `done ${line}`).join("\n"),
  );
  const made = await Promise.all(["a", "b", "c"].map((content) => write(directory, "new/b.txt", content)));
  expect(made.map(({ output }) => output.split(" ")[0])).toEqual(["Created", "Replaced", "Replaced"]);
  expect(readFileSync(join(directory, "new/b.txt"), "utf8")).toBe("c");
});

test("[FIL16] of a large file the lines around the change are recorded, and it says so", async () => {
  const lines = Array.from({ length: 20_000 }, (_, index) => `line ${index}`);
  const directory = directoryWith({ "a.txt": lines.join("\n") });
  const outcome = await edit(directory, "a.txt", "line 1000\n", "line one\nthousand\n");
  expect(outcome.output).toContain("at line 1001. (The recorded diff holds only the lines from");
  expect(outcome.diff).toEqual({ path: "a.txt", oldText: "line 1000\n", newText: "line one\nthousand\n" });
  const ends = await edit(directory, "a.txt", "line 19999", "line 19998 again");
  expect(ends.diff).toEqual({ path: "a.txt", oldText: "line 19999", newText: "line 19998 again" });
  const first = await edit(directory, "a.txt", "line 0\n", "");
  expect(first.diff).toEqual({ path: "a.txt", oldText: "line 0\n", newText: "" });
});

test("[FIL16] a change that is too large, or of what was no text, is not recorded, and it says so", async () => {
  const directory = directoryWith({ "a.txt": "x".repeat(50_000), binary: Buffer.from([0xff, 0, 1]) });
  for (const path of ["a.txt", "binary"]) {
    const outcome = await write(directory, path, "y".repeat(50_000));
    expect(outcome.status).toBe("completed");
    expect(outcome.output).toContain(path === "a.txt" ? "No diff is recorded" : "was no text in UTF-8");
    expect(outcome.diff).toBeUndefined();
  }
});

test("[FIL20] a piece that is there once is replaced", async () => {
  expect(await edited("one\ntwo\nthree\n", "two\n", "2\n2b\n")).toEqual({
    text: "one\n2\n2b\nthree\n",
    output: 'Edited "a.txt": 1 replacement, at line 2.',
  });
  expect(await edited("one two", " two", "")).toMatchObject({ text: "one" });
});

test("[FIL20] a piece that is not there, or several times, is a failure that says what to do", async () => {
  expect(await edited("one\n", "1\tone", "x")).toEqual({
    output:
      '"a.txt" was not changed: old_text is not in it. Read it again and copy the text as it stands there, without the line numbers.',
  });
  expect(await edited("a\nb\na\n\na", "a", "x")).toEqual({
    output:
      '"a.txt" was not changed: old_text is in it 3 times, at lines 1, 3, 5. Give more of the text around the one you mean, or set replace_all.',
  });
  expect((await edited("aaa", "aa", "x")).output).toContain("2 times, at line 1.");
  expect((await edited("a\n".repeat(500), "a", "x")).output).toContain(
    "500 times, at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …",
  );
  expect((await edited("same", "same", "same")).output).toContain("are the same");
  expect((await edited("x", "", "y")).output).toContain('"old_text"');
});

test("[FIL21] with replace_all each is replaced, and no character means anything else", async () => {
  const all = { replace_all: true };
  expect(await edited("a.b\na.b\n", "a.b", "$&$1$$\\n", all)).toEqual({
    text: "$&$1$$\\n\n$&$1$$\\n\n",
    output: 'Edited "a.txt": 2 replacements, at lines 1, 2.',
  });
  expect(await edited("aaaa", "aa", "b", all)).toMatchObject({ text: "bb" });
  expect((await edited("x", "a", "b", all)).output).toContain("not in it");
  expect(await edited("f(a|b)*", "(a|b)*", "$'")).toMatchObject({ text: "f$'" });
});

test("[FIL22] line ends and a byte order mark stay as the file has them", async () => {
  expect(await edited("\uFEFFone\r\ntwo\r\n", "one\ntwo", "1\n2\n3")).toMatchObject({
    text: "\uFEFF1\r\n2\r\n3\r\n",
  });
  expect(await edited("\uFEFFone", "one", "two")).toMatchObject({ text: "\uFEFFtwo" });
  expect(await edited("one\r\ntwo\r\n", "two", "2\n3")).toMatchObject({ text: "one\r\n2\r\n3\r\n" });
  expect(await edited("one\r\ntwo\r\n", "one\r\n", "1\r\n")).toMatchObject({ text: "1\r\ntwo\r\n" });
  expect(await edited("one\ntwo\n", "one\r\ntwo", "1\r\n2")).toMatchObject({ text: "1\n2\n" });
  expect(await edited("one", "one", "1\r\n2")).toMatchObject({ text: "1\r\n2" });
});

test("[FIL22] in a file that mixes line ends nothing but the piece is changed", async () => {
  expect(await edited("a\r\nb\nc\r\nd", "b\nc", "B\nC")).toMatchObject({ text: "a\r\nB\nC\r\nd" });
  expect(await edited("a\r\nb\nc\r\nd", "a\nb", "A\nB")).toMatchObject({ text: "A\r\nB\nc\r\nd" });
});

test("[FIL23] what is missing, no text, or too large is not changed", async () => {
  const latin = Buffer.from([0x63, 0x61, 0x66, 0xe9]);
  const directory = directoryWith({
    binary: "a\0b",
    latin,
    large: "x".repeat(4 * 1024 * 1024 + 1),
    "a.txt": "a".repeat(10_000),
  });
  expect((await edit(directory, "none/a.txt", "a", "b")).output).toBe('There is no file "none/a.txt".');
  expect((await edit(directory, "binary", "a", "b")).output).toContain("no text in UTF-8");
  expect((await edit(directory, "latin", "c", "b")).output).toContain("no text in UTF-8");
  expect((await edit(directory, "large", "x", "b")).output).toContain("larger than 4194304 bytes");
  const grown = await edit(directory, "a.txt", "a", "b".repeat(1_000_000), { replace_all: true });
  expect(grown).toMatchObject({
    status: "failed",
    output: expect.stringContaining("more than 4194304 bytes"),
  });
  expect(readFileSync(join(directory, "latin"))).toEqual(latin);
  expect(readdirSync(directory)).toEqual(["a.txt", "binary", "large", "latin"]);
});
