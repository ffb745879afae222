import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, readdirSync, readFileSync, renameSync, symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { filesPlugin } from "../../src/tools/index.js";
import { temporaryDirectory } from "../support/stores.js";
import { contextWith, directoryWith, registryOf } from "./support.js";

const registry = registryOf(...filesPlugin.tools);

function call(directory: string | undefined, name: string, args: Record<string, unknown>) {
  return registry.call(name, args, contextWith(directory === undefined ? {} : { directory }));
}

/** Every tool that is told a path, and what each says when it is given one that it may not touch. */
async function refusals(directory: string, path: string, names = ALL): Promise<string[]> {
  const outcomes = await Promise.all(
    names.map((name) => call(directory, name, { path, ...ARGUMENTS[name] })),
  );
  for (const [at, { status, output }] of outcomes.entries()) {
    expect(status, `${names[at]} ${path}: ${output}`).toBe("failed");
  }
  return outcomes.map(({ output }) => output);
}

const ARGUMENTS: Record<string, object> = {
  files_read: {},
  files_write: { content: "overwritten" },
  files_edit: { old_text: "secret", new_text: "overwritten" },
  files_list: {},
  files_search: { pattern: "secret" },
};
const ALL = Object.keys(ARGUMENTS);
const CHANGING = ["files_write", "files_edit"];

/** All of a directory, links as where they lead. */
function snapshot(directory: string): Record<string, string> {
  const entries = readdirSync(directory, { recursive: true, encoding: "utf8" }).map((name) => {
    const path = join(directory, name);
    const kind = lstatSync(path);
    return [name, kind.isFile() ? readFileSync(path, "utf8") : kind.isDirectory() ? "/" : "other"];
  });
  return Object.fromEntries(entries.sort());
}

const LEADS_OUT = "leads out of the workspace's directory";
const GUARDED = "lies in .git or .agent, which no tool reads or writes.";

test("[FIL1] a path that leads out is refused by every tool, tells nothing and changes nothing", async () => {
  const outer = directoryWith({
    "secret.txt": "secret",
    "outside/a.txt": "secret",
    "project2/secret.txt": "secret",
    "project/a.txt": "a",
  });
  const directory = join(outer, "project");
  symlinkSync("../secret.txt", join(directory, "file"));
  symlinkSync(join(outer, "outside"), join(directory, "dir"));
  symlinkSync("dir", join(directory, "chain"));
  symlinkSync("..", join(directory, "up"));
  const before = snapshot(outer);
  const paths = [
    "../secret.txt",
    "..",
    "a/../../secret.txt",
    "../project2/secret.txt",
    join(outer, "secret.txt"),
    `${directory}/../secret.txt`,
    "/etc/passwd",
    "//etc/passwd",
    "file",
    "dir/a.txt",
    "chain/a.txt",
    "up/secret.txt",
  ];
  for (const path of paths) {
    for (const output of await refusals(directory, path)) {
      expect(output, path).not.toContain(outer);
      expect(output, path).toContain(LEADS_OUT);
    }
  }
  for (const path of [
    "../new.txt",
    "dir/new.txt",
    "dir/x/y/new.txt",
    "chain/new.txt",
    "up/new/new.txt",
    "/new.txt",
  ]) {
    for (const output of await refusals(directory, path, ["files_write"]))
      expect(output).toContain(LEADS_OUT);
  }
  expect(snapshot(outer)).toEqual(before);
  expect(existsSync("/new.txt")).toBe(false);
});

test("[FIL1] a list or a search of a directory tells nothing of what its links lead to", async () => {
  const outer = directoryWith({ "outside/name-outside.txt": "secret", "project/a.txt": "a" });
  const directory = join(outer, "project");
  symlinkSync(join(outer, "outside"), join(directory, "dir"));
  symlinkSync(join(outer, "outside/name-outside.txt"), join(directory, "file"));
  expect((await call(directory, "files_list", { depth: 5 })).output).toBe(
    "a.txt\ndir (a link)\nfile (a link)",
  );
  expect((await call(directory, "files_search", { pattern: "secret" })).output).toBe('(no match in ".")');
});

test("[FIL2] .git and .agent are refused by every tool, in any spelling, through links, and to be made", async () => {
  const directory = directoryWith({
    ".git/config": "secret",
    "sub/.GIT/config": "secret",
    ".Agent/x": "secret",
    "sub/module/.git": "secret",
    "sub/.agent/threads/x": "secret",
    ".g\u200cit/config": "secret",
    ".git./config": "secret",
    "a.txt": "a",
  });
  symlinkSync(".git", join(directory, "plain"));
  symlinkSync(".git/config", join(directory, "config"));
  symlinkSync("sub/.agent", join(directory, "inside"));
  const before = snapshot(directory);
  const there = [
    ".git/config",
    "sub/.GIT/config",
    ".Agent/x",
    "sub/module/.git",
    "sub/.agent/threads/x",
    ".g\u200cit/config",
    ".git./config",
    "plain/config",
    "config",
    "inside/threads/x",
  ];
  for (const path of there) {
    for (const output of await refusals(directory, path)) expect(output, path).toContain(GUARDED);
  }
  const fresh = [
    ".git",
    ".git/hooks/post-commit",
    "new/.git/config",
    "new/.agent",
    ".GIT/x",
    "plain/new",
    "inside/new/x",
  ];
  for (const path of fresh) {
    for (const output of await refusals(directory, path, ["files_write"]))
      expect(output, path).toContain(GUARDED);
  }
  expect(snapshot(directory)).toEqual(before);
});

test("[FIL2] lists and searches pass .git and .agent over; a worktree that stands in .agent is a directory like any", async () => {
  const directory = directoryWith({
    ".git/config": "word",
    "sub/.agent/x": "word",
    "sub/.GIT": "word",
    ".gitignore": "word",
    ".agent/worktrees/t/b.txt": "word",
  });
  expect((await call(directory, "files_list", { depth: 9 })).output).toBe(".gitignore\nsub/");
  expect((await call(directory, "files_search", { pattern: "word" })).output).toBe(".gitignore:1: word");
  const worktree = join(directory, ".agent/worktrees/t");
  expect((await call(worktree, "files_list", {})).output).toBe("b.txt");
  expect((await call(worktree, "files_search", { pattern: "word" })).output).toBe("b.txt:1: word");
  expect(await call(worktree, "files_write", { path: "c/d.txt", content: "x" })).toMatchObject({
    status: "completed",
  });
});

test("[FIL3] what is no regular file is refused, and a pipe is not waited for", async () => {
  const directory = directoryWith({ "sub/a.txt": "x" });
  execFileSync("mkfifo", [join(directory, "pipe")]);
  symlinkSync("pipe", join(directory, "link"));
  const server = createServer();
  await new Promise<void>((ready) => server.listen(join(directory, "socket"), ready));
  onTestFinished(() => new Promise((closed) => server.close(() => closed())));
  for (const path of ["sub", ".", "sub/"]) {
    for (const output of await refusals(directory, path, CHANGING))
      expect(output).toContain("is a directory");
  }
  for (const path of ["pipe", "link", "socket"]) {
    for (const output of await refusals(directory, path)) expect(output).toContain("no regular file");
  }
  for (const output of await refusals("/dev", "null", CHANGING)) expect(output).toContain("no regular file");
  expect((await call(directory, "files_search", { pattern: "x" })).output).toBe("sub/a.txt:1: x");
  expect((await call(directory, "files_list", {})).output).toBe(
    "link (a link)\npipe (no regular file)\nsocket (no regular file)\nsub/",
  );
  expect(await refusals(directory, "sub/a.txt", ["files_list"])).toEqual([
    '"sub/a.txt" is a file. Name a directory, or read it with files_read.',
  ]);
});

test("[FIL4] a link that leads nowhere is not followed, as the file or on the way to it", async () => {
  const outer = directoryWith({ "project/a.txt": "x" });
  const directory = join(outer, "project");
  symlinkSync(join(outer, "not-yet"), join(directory, "dangling"));
  symlinkSync("not-yet", join(directory, "within"));
  symlinkSync("circle", join(directory, "circle"));
  const before = snapshot(outer);
  for (const path of ["dangling", "dangling/b.txt", "within", "within/x/b.txt"]) {
    for (const output of await refusals(directory, path, CHANGING)) expect(output).toContain("leads nowhere");
  }
  for (const output of await refusals(directory, "circle", CHANGING)) expect(output).toContain("ELOOP");
  expect(snapshot(outer)).toEqual(before);
});

test("[FIL5] while a directory is swapped for a link out again and again, nothing outside is written or told", async () => {
  const outer = directoryWith({
    "outside/a.txt": "secret",
    "outside/hidden": "secret",
    "project/dir/a.txt": "open",
  });
  const directory = join(outer, "project");
  const [dir, aside, link] = ["dir", "aside", "link"].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  symlinkSync(join(outer, "outside"), link);
  const outside = snapshot(join(outer, "outside"));
  for (let round = 0; round < 60; round++) {
    const working = Promise.all([
      call(directory, "files_write", { path: "dir/new/b.txt", content: `${round}` }),
      call(directory, "files_write", { path: `dir/${round}.txt`, content: `${round}` }),
      call(directory, "files_edit", { path: "dir/a.txt", old_text: "e", new_text: "ex" }),
      call(directory, "files_list", { path: "dir" }),
      call(directory, "files_search", { pattern: "secret" }),
    ]);
    for (let turn = 0; turn < round % 11; turn++) await new Promise((resolve) => setImmediate(resolve));
    renameSync(dir, aside);
    renameSync(link, dir);
    await new Promise((resolve) => setImmediate(resolve));
    renameSync(dir, link);
    renameSync(aside, dir);
    for (const { output } of await working) expect(output).not.toMatch(/hidden|: secret/);
  }
  expect(snapshot(join(outer, "outside"))).toEqual(outside);
  const left = readdirSync(dir).filter((name) => name.startsWith(".heddle-"));
  expect(left).toEqual([]);
  expect(await call(directory, "files_write", { path: "dir/last.txt", content: "x" })).toMatchObject({
    status: "completed",
  });
});

test("[FIL6] what is no path is refused before anything is looked at", async () => {
  const directory = directoryWith({ "a.txt": "x" });
  for (const path of ["", "a.txt\0.png", "x/".repeat(100_000)]) {
    for (const output of await refusals(directory, path)) expect(output).toContain('"path"');
  }
  for (const path of ["x".repeat(300), `${"y".repeat(300)}/a.txt`]) {
    for (const output of await refusals(directory, path, CHANGING)) expect(output).toContain("ENAMETOOLONG");
  }
  for (const path of ["a.txt/b", "a.txt/b/c"]) {
    expect(await refusals(directory, path, ["files_write"])).toEqual([
      `"${path}" can't be written: a file stands where a directory should be. Nothing was changed.`,
    ]);
  }
  expect(snapshot(directory)).toEqual({ "a.txt": "x" });
});

test("[FIL6] names in any script, with spaces, dashes, quotes or line ends are names like any other", async () => {
  const directory = temporaryDirectory();
  const names = [
    "..a",
    "...",
    "-rf",
    "$HOME",
    "~",
    "a b'c\"d",
    "naïve/ﬁ.txt",
    "日本語/🧵.md",
    "cafe\u0301",
    "a\nb",
    "%2e%2e",
  ];
  for (const path of names) {
    const wrote = await call(directory, "files_write", { path, content: path });
    expect(wrote, wrote.output).toMatchObject({
      status: "completed",
      diff: { path, oldText: "", newText: path },
    });
    expect(readFileSync(join(directory, path), "utf8")).toBe(path);
  }
});

test("[FIL6] without a directory, or when it is gone, every tool says so", async () => {
  for (const name of ALL) {
    const args = { path: "a.txt", ...ARGUMENTS[name] };
    expect(await call(undefined, name, args)).toMatchObject({
      status: "failed",
      output: "This workspace has no directory, so there are no files.",
    });
    expect(await call(join(temporaryDirectory(), "gone"), name, args)).toMatchObject({
      status: "failed",
      output: "The workspace's directory is not there, so there are no files.",
    });
  }
});

test("[FIL7] writing and editing ask and are not repeated, the others neither ask nor harm", () => {
  const about = registry
    .list()
    .map(({ name, capabilities, asks, safeToRepeat }) => ({ name, capabilities, asks, safeToRepeat }));
  const harmless = { capabilities: ["files.read"], asks: undefined, safeToRepeat: true };
  const changes = { capabilities: ["files.write"], asks: true, safeToRepeat: false };
  expect(about).toEqual([
    { name: "files_edit", ...changes },
    { name: "files_list", ...harmless },
    { name: "files_read", ...harmless },
    { name: "files_search", ...harmless },
    { name: "files_write", ...changes },
  ]);
});
