import { execFileSync } from "node:child_process";
import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { readConfig, readConfigFile, readGitHead, repair, validate } from "../../src/atsf/index.js";
import { sha256 } from "../../src/base/index.js";
import { temporaryDirectory } from "../support/stores.js";
import { startChild } from "./bundle.js";
import {
  envelopeOf,
  foreignThread,
  freshProject,
  line,
  newThread,
  textMessage,
  threadPath,
} from "./support.js";

const MB = 1024 * 1024;
const HASH = "0123456789abcdef".repeat(3).slice(0, 40);
const ASSET = `sha256-${"a".repeat(16)}.png`;

/** What can stand under the name of a file without being one. */
const hostile: Record<string, (path: string) => void> = {
  device: (path) => symlinkSync("/dev/zero", path),
  pipe: (path) => execFileSync("mkfifo", [path]),
  directory: (path) => mkdirSync(path),
  "link to a pipe": (path) => {
    execFileSync("mkfifo", [`${path}.pipe`]);
    symlinkSync(`${path}.pipe`, path);
  },
  circle: (path) => symlinkSync(path, path),
};

test("[ATSF35] what is no file is never waited for, is told with what to do, and hides no other thread", async () => {
  const base = temporaryDirectory();
  for (const [kind, make] of Object.entries(hostile)) hostileProject(join(base, kind), make);
  const { told, messages } = await readInChild(base);
  for (const kind of Object.keys(hostile)) {
    const problem = kind === "device" ? "leads_out" : "not_a_file";
    // What is a link is read the long way, which tells; a circle leads nowhere, and is told at once.
    const atOnce = kind === "device" || kind === "link to a pipe" ? "nothing" : problem;
    expect(told[kind], kind).toEqual({
      listed: ["envelope", "fine", "fine"],
      validated: expect.arrayContaining([problem]),
      config: problem,
      "change config": problem,
      envelope: problem,
      change: problem,
      "append without envelope": problem,
      read: problem,
      page: problem,
      pageForward: problem,
      readAt: problem,
      newMessages: problem,
      newMessagesNow: atOnce,
      endNow: atOnce,
      append: problem,
      asset: problem,
      "git HEAD": "none",
      "git branch": "none",
      "git packed": "none",
      "fine append": "m",
      "pipe meanwhile": "not_a_file",
      "fine again": "o",
    });
  }
  for (const message of messages)
    expect(message).toMatch(/(Move it away|Replace it by what it leads to), then/);
});

test("[ATSF36] an envelope or a configuration of more than 8 MB is refused before it is read", async () => {
  const project = await freshProject();
  const text = JSON.stringify(envelopeOf("edge"));
  foreignThread(project, "edge", { "thread.json": text.padEnd(8 * MB) });
  foreignThread(project, "over", { "thread.json": text.padEnd(8 * MB + 1) });
  foreignThread(project, "large", { "messages.jsonl": line(textMessage("m", "still here")) });
  sparse(threadPath(project, "large", "thread.json"), 20 * MB);
  expect((await (await project.thread("edge")).envelope()).threadId).toBe("edge");
  const tooLarge = { kind: "atsf.invalid_file", data: { problem: "too_large" } };
  const advice = /larger than 8 MB\. Move it away or make it smaller/;
  for (const id of ["over", "large"]) {
    const thread = await project.thread(id);
    await expect(thread.envelope()).rejects.toMatchObject({
      ...tooLarge,
      message: expect.stringMatching(advice),
    });
    await expect(thread.append(textMessage("n"))).rejects.toMatchObject(tooLarge);
  }
  const listed = await project.list();
  expect(listed.filter((each) => "error" in each).map(({ threadId }) => threadId)).toEqual(
    expect.arrayContaining(["over", "large"]),
  );
  sparse(join(project.root, ".agent", "config.json"), 20 * MB);
  await expect(readConfig(project.root)).rejects.toMatchObject(tooLarge);
  const done = [];
  for await (const { problem } of repair(project.root)) done.push(problem.file);
  expect(done).toContain(threadPath(project, "large", "thread.json"));
  expect((await (await project.thread("large")).envelope()).title).toBe("still here");
  const kept = readdirSync(threadPath(project, "large")).filter((name) => name.includes(".broken-"));
  expect(kept).toHaveLength(1);
});

test("[ATSF36] packed branches of more than 16 MB are left to git", async () => {
  const dir = temporaryDirectory();
  gitFiles(dir, { HEAD: "ref: refs/heads/main\n", "packed-refs": `${HASH} refs/heads/main\n` });
  expect(readGitHead(dir)).toMatchObject({ branch: "main", commit: HASH });
  const packed = join(dir, ".git", "packed-refs");
  writeFileSync(packed, `${"#".repeat(16 * MB)}\n${readFileSync(packed, "utf8")}`);
  expect(readGitHead(dir)).toEqual({ top: dir, relativeDir: ".", branch: "main" });
});

test("[ATSF37] links within the thread, and within the project for its configuration, are followed", async () => {
  const project = await freshProject();
  foreignThread(project, "t", {
    "envelope.json": JSON.stringify(envelopeOf("t", { title: "behind a link" })),
    "log.jsonl": line(textMessage("m")),
  });
  symlinkSync("envelope.json", threadPath(project, "t", "thread.json"));
  symlinkSync("log.jsonl", threadPath(project, "t", "messages.jsonl"));
  writeFileSync(join(project.root, "agents.json"), '{"specVersion":"1.1","defaults":{"agentId":"a"}}');
  symlinkSync("../agents.json", join(project.root, ".agent", "config.json"));
  const thread = await project.thread("t");
  expect((await thread.envelope()).title).toBe("behind a link");
  await thread.append(textMessage("n"));
  expect((await thread.read()).messages.map(({ id }) => id)).toEqual(["m", "n"]);
  expect((await thread.page()).entries).toHaveLength(2);
  expect((await readConfig(project.root))?.defaults?.agentId).toBe("a");
  const problems = [];
  for await (const { problem } of validate(project.root)) problems.push(problem);
  expect(problems.filter((problem) => problem === "leads_out")).toEqual([]);
});

test("[ATSF37] what a link that leads out leads to is not shown, in a list neither", async () => {
  const project = await freshProject();
  const outside = temporaryDirectory();
  foreignThread(project, "t", {});
  writeFileSync(join(outside, "thread.json"), JSON.stringify(envelopeOf("t", { title: "secret" })));
  symlinkSync(join(outside, "thread.json"), threadPath(project, "t", "thread.json"));
  const listed = await project.list();
  expect(listed).toMatchObject([{ error: { data: { problem: "leads_out" } } }]);
  expect(JSON.stringify(listed)).not.toContain("secret");
});

test("[ATSF37] nothing is made where a link that leads out leads, though nothing stands there yet", async () => {
  const project = await freshProject();
  const outside = temporaryDirectory();
  const ways: Record<string, (dir: string) => void> = {
    plain: (dir) => symlinkSync(join(outside, "new"), join(dir, "messages.jsonl")),
    chain: (dir) => {
      symlinkSync(join(outside, "new"), join(dir, "next"));
      symlinkSync("next", join(dir, "messages.jsonl"));
    },
    "up-from-there": (dir) => {
      mkdirSync(join(outside, "deep"), { recursive: true });
      symlinkSync(join(outside, "deep"), join(dir, "deep"));
      symlinkSync("deep/../new", join(dir, "messages.jsonl"));
    },
  };
  for (const [id, make] of Object.entries(ways)) {
    const thread = await project.create(newThread(id));
    make(thread.dir);
    const leadsOut = { kind: "atsf.invalid_file", data: { problem: "leads_out" } };
    await expect(thread.append(textMessage("m")), id).rejects.toMatchObject(leadsOut);
    expect(readdirSync(outside).filter((name) => name !== "deep")).toEqual([]);
  }
  const inside = await project.create(newThread("inside"));
  symlinkSync("later.jsonl", join(inside.dir, "messages.jsonl"));
  await inside.append(textMessage("m"));
  expect(readFileSync(join(inside.dir, "later.jsonl"), "utf8")).toContain('"m"');
  await project.close();
});

test("[ATSF38] the hash told with a configuration is that of the bytes it was read from", async () => {
  const root = temporaryDirectory();
  expect(await readConfigFile(root)).toBeUndefined();
  mkdirSync(join(root, ".agent"));
  const file = join(root, ".agent", "config.json");
  for (const text of ['{"specVersion":"1.1"}', '\uFEFF{ "specVersion": "1.0",\r\n"x": "é\u{1F600}" }\n']) {
    writeFileSync(file, text);
    expect(await readConfigFile(root)).toEqual({
      config: JSON.parse(text.replace("\uFEFF", "")),
      sha256: sha256(readFileSync(file)),
    });
  }
});

/** A project in which each file is something else in its turn, with a thread that is in order. */
function hostileProject(root: string, make: (path: string) => void): void {
  const at = (...parts: string[]) => {
    const path = join(root, ...parts);
    mkdirSync(dirname(path), { recursive: true });
    return path;
  };
  const thread = (id: string, name: string) => at(".agent", "threads", id, name);
  for (const id of ["log", "fine"]) writeFileSync(thread(id, "thread.json"), JSON.stringify(envelopeOf(id)));
  make(at(".agent", "config.json"));
  make(thread("envelope", "thread.json"));
  make(thread("log", "messages.jsonl"));
  make(at(".agent", "threads", "fine", "assets", ASSET));
  make(at("git-head", ".git", "HEAD"));
  gitFiles(at("git-branch"), { HEAD: "ref: refs/heads/main\n" });
  make(at("git-branch", ".git", "refs", "heads", "main"));
  gitFiles(at("git-packed"), { HEAD: "ref: refs/heads/main\n" });
  make(at("git-packed", ".git", "packed-refs"));
}

function gitFiles(dir: string, files: Record<string, string>): void {
  mkdirSync(join(dir, ".git"), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, ".git", name), text);
}

function sparse(path: string, size: number): void {
  const file = openSync(path, "w");
  ftruncateSync(file, size);
  closeSync(file);
}

interface Told {
  readonly told: Record<string, Record<string, unknown>>;
  readonly messages: string[];
}

/** In a process of its own: one that waits for a pipe can only be ended from outside. */
async function readInChild(base: string): Promise<Told> {
  const child = await startChild("read-hostile", [base], { timeout: 40_000, killSignal: "SIGKILL" });
  let output = "";
  child.stdout?.setEncoding("utf8").on("data", (text) => {
    output += text;
  });
  const ended = await new Promise((done) => child.on("close", (code, signal) => done(code ?? signal)));
  expect(ended).toBe(0);
  return JSON.parse(output);
}

test("[ATSF35] [ATSF37] a lock that is no file guards nothing and is refused; a link is not followed", async () => {
  for (const make of Object.values(hostile)) {
    const project = await freshProject();
    const thread = await project.create(newThread("t"));
    make(threadPath(project, "t", "thread.lock"));
    await expect(thread.append(textMessage("a"))).rejects.toMatchObject({ kind: "atsf.invalid_file" });
    expect(readdirSync(threadPath(project, "t"))).not.toContain("messages.jsonl");
    await project.close();
  }
  const project = await freshProject();
  const outside = join(temporaryDirectory(), "elsewhere");
  const thread = await project.create(newThread("t"));
  symlinkSync(outside, threadPath(project, "t", "thread.lock"));
  await expect(thread.append(textMessage("a"))).rejects.toMatchObject({ kind: "atsf.invalid_file" });
  expect(readdirSync(dirname(outside))).toEqual([]);
  await project.close();
});
