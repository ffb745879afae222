import { execFileSync } from "node:child_process";
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { filesPlugin } from "../../src/tools/index.js";
import { temporaryDirectory } from "../support/stores.js";
import { contextWith, directoryWith, registryOf } from "./support.js";

const registry = registryOf(...filesPlugin.tools);

function read(directory: string | undefined, path: string) {
  const context = contextWith(directory === undefined ? {} : { directory });
  return registry.call("files_read", { path }, context);
}

/** Why a file was not read. */
async function refused(directory: string, path: string): Promise<string> {
  const { status, output } = await read(directory, path);
  expect(status, `${path}: ${output.slice(0, 200)}`).toBe("failed");
  return output;
}

const LEADS_OUT = "leads out of the workspace's directory";
const GUARDED = "lies in .git or .agent, which no tool reads or writes.";

test("[TLS30] it reads a file by its path relative to the directory, or by an absolute one inside", async () => {
  const directory = directoryWith({ "a.txt": "one\ntwo\n", "src/deep/b.txt": "three" });
  expect(await read(directory, "a.txt")).toEqual({
    status: "completed",
    output: "1\tone\n2\ttwo",
    duration_ms: 0,
  });
  for (const path of ["src/deep/b.txt", "./src//deep/../deep/b.txt", join(directory, "src/deep/b.txt")]) {
    expect(await read(directory, path)).toMatchObject({ status: "completed", output: "1\tthree" });
  }
});

test("[TLS30] links within the directory are followed, and the directory may itself be one", async () => {
  const directory = directoryWith({ "src/a.txt": "one" });
  symlinkSync("src", join(directory, "link"));
  symlinkSync(join(directory, "src/a.txt"), join(directory, "b.txt"));
  const outer = temporaryDirectory();
  symlinkSync(directory, join(outer, "project"));
  for (const root of [directory, join(outer, "project")]) {
    for (const path of ["link/a.txt", "b.txt", join(root, "link/a.txt"), join(directory, "b.txt")]) {
      expect(await read(root, path)).toMatchObject({ status: "completed", output: "1\tone" });
    }
  }
});

test("[TLS30] without a directory, or when it is gone, it says so", async () => {
  expect(await read(undefined, "/etc/hostname")).toMatchObject({
    status: "failed",
    output: "This workspace has no directory, so there are no files.",
  });
  const gone = join(temporaryDirectory(), "gone");
  expect(await refused(gone, "a.txt")).toBe("The workspace's directory is not there, so there are no files.");
});

test("[TLS31] a path that leads out is refused, and the refusal holds no path outside", async () => {
  const outer = directoryWith({
    "secret.txt": "secret",
    "project2/secret.txt": "secret",
    "project/a.txt": "a",
  });
  const directory = join(outer, "project");
  symlinkSync("../secret.txt", join(directory, "relative"));
  symlinkSync(join(outer, "secret.txt"), join(directory, "absolute"));
  symlinkSync("..", join(directory, "up"));
  symlinkSync("up", join(directory, "twice"));
  symlinkSync("/proc/self/root", join(directory, "proc"));
  const paths = [
    "../secret.txt",
    "..",
    "a/../../secret.txt",
    "../project2/secret.txt",
    join(outer, "secret.txt"),
    join(outer, "project2/secret.txt"),
    `${directory}/../secret.txt`,
    "/etc/passwd",
    "/",
    "//etc/passwd",
    "relative",
    "absolute",
    "up/secret.txt",
    "twice/secret.txt",
    "up/project2/secret.txt",
    "proc/etc/passwd",
  ];
  for (const path of paths) {
    const output = await refused(directory, path);
    expect(output, path).not.toContain(outer);
    expect(output, path).not.toMatch(/(^|[^\w.-])\//);
    expect(output, path).toContain(LEADS_OUT);
  }
  expect(await refused(directory, "relative")).toBe(`"relative" ${LEADS_OUT}. It was not followed.`);
  expect(await read(directory, "up/project/a.txt")).toMatchObject({ status: "completed", output: "1\ta" });
});

test("[TLS31] other ways to name a place are names like any other", async () => {
  const directory = directoryWith({ "a.txt": "x" });
  for (const path of ["file:///etc/passwd", "~/.ssh/id_rsa", "..\\secret.txt", "$HOME/x", "%2e%2e/x"]) {
    expect(await refused(directory, path), path).toContain("There is no file");
  }
});

test("[TLS31] names that only look like a way out are files", async () => {
  const directory = directoryWith({
    "..a": "x",
    "...": "x",
    "a..": "x",
    "..b/c": "x",
    "-rf": "x",
    $HOME: "x",
  });
  for (const path of ["..a", "...", "a..", "..b/c", "-rf", "$HOME"]) {
    expect(await read(directory, path), path).toMatchObject({ status: "completed" });
  }
});

test("[TLS32] .git and .agent are refused at any level, in any spelling, and through links", async () => {
  const directory = directoryWith({
    ".git/config": "secret",
    ".GIT/config": "secret",
    ".Agent/x": "secret",
    "sub/module/.git": "gitdir: elsewhere",
    "sub/.agent/threads/t/messages.jsonl": "secret",
    ".g\u200cit/config": "secret",
    ".git./config": "secret",
    ".\uff47\uff49\uff54/config": "secret",
  });
  symlinkSync(".git", join(directory, "plain"));
  symlinkSync(".git/config", join(directory, "config"));
  symlinkSync("sub/.agent", join(directory, "inside"));
  const paths = [
    ".git",
    ".git/config",
    ".GIT/config",
    ".gIt/none",
    ".Agent/x",
    "sub/module/.git",
    "sub/../sub/.agent/threads/t/messages.jsonl",
    join(directory, ".git/config"),
    ".g\u200cit/config",
    ".git./config",
    ".\uff47\uff49\uff54/config",
    "plain/config",
    "config",
    "inside/threads/t/messages.jsonl",
  ];
  for (const path of paths) expect(await refused(directory, path), path).toContain(GUARDED);
});

test("[TLS32] names that only begin so are files, and so is all in a directory that stands in .agent", async () => {
  const directory = directoryWith({
    ".gitignore": "x",
    ".github/a": "x",
    ".agents": "x",
    git: "x",
    ".agent/worktrees/t/a.txt": "x",
  });
  for (const path of [".gitignore", ".github/a", ".agents", "git"]) {
    expect(await read(directory, path), path).toMatchObject({ status: "completed" });
  }
  const worktree = join(directory, ".agent/worktrees/t");
  expect(await read(worktree, "a.txt")).toMatchObject({ status: "completed", output: "1\tx" });
});

test("[TLS33] what is no regular file is refused, and a pipe is not waited for", async () => {
  const directory = directoryWith({ "sub/a.txt": "x" });
  execFileSync("mkfifo", [join(directory, "pipe")]);
  symlinkSync("pipe", join(directory, "link"));
  const server = createServer();
  await new Promise<void>((ready) => server.listen(join(directory, "socket"), ready));
  onTestFinished(() => new Promise((closed) => server.close(() => closed())));
  expect(await refused(directory, "sub")).toBe('"sub" is a directory. Name a file in it.');
  expect(await refused(directory, ".")).toBe('"." is a directory. Name a file in it.');
  for (const path of ["pipe", "link", "socket"]) {
    expect(await refused(directory, path)).toBe(
      `"${path}" is no regular file (it is a pipe, a socket or a device). It was not opened.`,
    );
  }
  expect(await refused("/dev", "null")).toContain("is no regular file");
});

test("[TLS34] while a directory is swapped for a link again and again, nothing outside is ever read", async () => {
  const outer = directoryWith({ "outside/a.txt": "secret", "project/dir/a.txt": "open" });
  const directory = join(outer, "project");
  const [dir, aside, link] = ["dir", "aside", "link"].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  symlinkSync(join(outer, "outside"), link);
  const swap = () => {
    renameSync(dir, aside);
    renameSync(link, dir);
  };
  const back = () => {
    renameSync(dir, link);
    renameSync(aside, dir);
  };
  for (let round = 0; round < 200; round++) {
    const reading = Promise.all([1, 2, 3, 4].map(() => read(directory, "dir/a.txt")));
    for (let turn = 0; turn < round % 7; turn++) await new Promise((resolve) => setImmediate(resolve));
    swap();
    await new Promise((resolve) => setImmediate(resolve));
    back();
    for (const { output } of await reading) expect(output).not.toContain("secret");
  }
  expect(await read(directory, "dir/a.txt")).toMatchObject({ output: "1\topen" });
});

test("[TLS35] a file that is missing is a failure without the system's words", async () => {
  const directory = directoryWith({ "a.txt": "x" });
  symlinkSync("nowhere", join(directory, "dangling"));
  symlinkSync("circle", join(directory, "circle"));
  for (const path of ["none.txt", "none/b.txt", "a.txt/b", "dangling"]) {
    expect(await refused(directory, path)).toBe(`There is no file ${JSON.stringify(path)}.`);
  }
  expect(await refused(directory, "circle")).toBe('"circle" can\'t be read (ELOOP).');
  expect(await refused(directory, "x".repeat(300))).toMatch(/^"x{100}…" can't be read \(ENAMETOOLONG\)\.$/);
  expect(await refused(directory, "a\nb")).toBe('There is no file "a\\nb".');
});

test.skipIf(process.getuid?.() === 0)(
  "[TLS35] [permissions] a file that may not be read says so",
  async () => {
    const directory = directoryWith({ "a.txt": "x", "closed/b.txt": "x" });
    chmodSync(join(directory, "a.txt"), 0);
    chmodSync(join(directory, "closed"), 0);
    onTestFinished(() => chmodSync(join(directory, "closed"), 0o755));
    for (const path of ["a.txt", "closed/b.txt"]) {
      expect(await refused(directory, path)).toBe(`"${path}" may not be read: permission denied (EACCES).`);
    }
  },
);

test("[TLS35] paths that are no paths are refused before anything is looked at", async () => {
  const directory = directoryWith({ "a.txt": "x" });
  expect(await refused(directory, "")).toContain('"path"');
  expect(await refused(directory, "a.txt\0.png")).toContain('"path" contains a NUL character.');
  expect(await refused(directory, "x/".repeat(100_000))).toContain('"path"');
  expect(readFileSync(join(directory, "a.txt"), "utf8")).toBe("x");
});

test("[TLS30] a file that is replaced, truncated or removed between calls is read as it is then", async () => {
  const directory = directoryWith({ "a.txt": "one" });
  const path = join(directory, "a.txt");
  const output = async () => (await read(directory, "a.txt")).output;
  expect(await output()).toBe("1\tone");
  writeFileSync(join(directory, "b.txt"), "two");
  renameSync(join(directory, "b.txt"), path);
  expect(await output()).toBe("1\ttwo");
  linkSync(path, join(directory, "c.txt"));
  rmSync(path);
  expect(await output()).toBe('There is no file "a.txt".');
  mkdirSync(path);
  expect(await output()).toBe('"a.txt" is a directory. Name a file in it.');
});
