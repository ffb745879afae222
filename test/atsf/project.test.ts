import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  changeConfig,
  GITIGNORE,
  openProject,
  type Problem,
  readConfig,
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

const by = { name: "Test", version: "1.0.0" };

test("[ATSF15] config.json is made with the first change, keeps what it does not know, and holds no secrets", async () => {
  const { root } = await freshProject();
  expect(await readConfig(root)).toBeUndefined();
  expect(await changeConfig(root, by, [{ path: ["defaults", "agentId"], value: "a" }])).toEqual({
    specVersion: "1.1",
    createdBy: by,
    defaults: { agentId: "a" },
  });
  const file = join(root, ".agent", "config.json");
  writeFileSync(
    file,
    '{"specVersion":"1.5","z":{"2":1,"1":12345678901234567890},"defaults":{"agentId":"a","own":true}}',
  );
  await changeConfig(root, by, [{ path: ["defaults", "agentId"], value: "b" }]);
  expect(readFileSync(file, "utf8")).toBe(
    '{"specVersion":"1.5","z":{"2":1,"1":12345678901234567890},"defaults":{"agentId":"b","own":true}}',
  );
  for (const value of ["sk-abcdefghijklmnop", "ghp_0123456789abcdef"]) {
    await expect(
      changeConfig(root, by, [{ path: ["agentSettings", "a", "x"], value }]),
    ).rejects.toMatchObject({ kind: "atsf.secret" });
  }
  await expect(
    changeConfig(root, by, [{ path: ["agentSettings", "a", "apiKey"], value: "something" }]),
  ).rejects.toMatchObject({ kind: "atsf.secret" });
  await changeConfig(root, by, [{ path: ["agentSettings", "a", "apiKey"], value: "$API_KEY" }]);
  expect(readFileSync(file, "utf8")).not.toContain("sk-");
  writeFileSync(file, '{"specVersion":"2.0"}');
  await expect(readConfig(root)).rejects.toMatchObject({ kind: "atsf.version_unsupported" });
  writeFileSync(file, "{");
  await expect(readConfig(root)).rejects.toMatchObject({ kind: "atsf.invalid_file" });
});

test("[ATSF16] the ignore file is written once, never over another, and git sees nothing of a thread until its negation is uncommented", async () => {
  const { root } = await freshProject();
  const git = (...args: string[]) =>
    execFileSync("git", args, {
      cwd: root,
      encoding: "utf8",
      env: { PATH: process.env.PATH ?? "", HOME: root },
    });
  git("init", "-q");
  const project = await openProject(root);
  const thread = await project.create(newThread("t"));
  await thread.append(textMessage("a"));
  await thread.saveAsset(Buffer.from("x"), "image/png");
  await project.close();
  const untracked = () => git("status", "--porcelain", "--untracked-files=all").trim().split("\n");
  expect(untracked()).toEqual(["?? .agent/.gitignore"]);
  const file = join(root, ".agent", ".gitignore");
  expect(readFileSync(file, "utf8")).toBe(GITIGNORE);
  writeFileSync(file, GITIGNORE.replace("# !threads", "!threads"));
  expect(untracked()).toEqual(["?? .agent/.gitignore", "?? .agent/threads/t/thread.json"]);
  await (await openProject(root)).create(newThread("u"));
  expect(readFileSync(file, "utf8")).toContain("\n!threads");
});

async function problems(root: string): Promise<Problem[]> {
  const found: Problem[] = [];
  for await (const problem of validate(root)) found.push(problem);
  return found;
}

test("[ATSF17] validate names every problem with file, line and what to do, and changes nothing", async () => {
  const project = await freshProject();
  const good = await project.create(newThread("good"));
  await good.append(textMessage("a"));
  await project.close();
  expect(await problems(project.root)).toEqual([]);
  const log = [
    line(textMessage("a")).trimEnd(),
    "{broken",
    '{"id":"x"}',
    line(textMessage("a", "again")).trimEnd(),
    line({
      ...textMessage("b"),
      content: [{ type: "image", assetRef: "../x.png", mimeType: "image/png" }],
    }).trimEnd(),
    line({
      ...textMessage("c"),
      content: [{ type: "image", assetRef: `sha256-${"a".repeat(16)}.png`, mimeType: "image/png" }],
    }).trimEnd(),
    "",
    '{"id":"torn',
  ].join("\n");
  foreignThread(project, "bad", { "thread.json": JSON.stringify(envelopeOf("bad")), "messages.jsonl": log });
  foreignThread(project, "none", {});
  foreignThread(project, "new", { "thread.json": JSON.stringify(envelopeOf("new", { specVersion: "3.0" })) });
  foreignThread(project, "other", { "thread.json": JSON.stringify(envelopeOf("original")) });
  mkdirSync(join(project.root, ".agent", "threads", "no id"));
  const before = readdirSync(project.root, { recursive: true });
  const found = await problems(project.root);
  const told = found.map(({ file, line: at, problem }) => [file.split("/threads/")[1], at, problem]);
  expect(told).toEqual([
    ["bad/messages.jsonl", 2, "not_json"],
    ["bad/messages.jsonl", 3, "not_a_message"],
    ["bad/messages.jsonl", 4, "duplicate_id"],
    ["bad/messages.jsonl", 5, "asset_invalid"],
    ["bad/messages.jsonl", 6, "asset_missing"],
    ["bad/messages.jsonl", 8, "torn"],
    ["bad/thread.json", undefined, "stale_stats"],
    ["new/thread.json", undefined, "version_unsupported"],
    ["no id", undefined, "invalid_thread_id"],
    ["none/thread.json", undefined, "missing"],
    ["other/thread.json", undefined, "other_id"],
  ]);
  for (const { message, advice } of found) expect(`${message} ${advice}`).toMatch(/^.{20,}\.$/s);
  expect(readdirSync(project.root, { recursive: true })).toEqual(before);
});

test("[ATSF18] repair mends what it can, keeps what it replaces, and leaves the rest", async () => {
  const project = await freshProject();
  const log = `${line(textMessage("a", "Fix the login\nplease"))}{"id":"torn`;
  foreignThread(project, "lost", { "thread.json": '{"half', "messages.jsonl": log });
  foreignThread(project, "new", { "thread.json": JSON.stringify(envelopeOf("new", { specVersion: "3.0" })) });
  const done: string[] = [];
  for await (const { problem, done: what } of repair(project.root)) done.push(`${problem.problem}: ${what}`);
  expect(done).toEqual([
    "missing: wrote the default .gitignore",
    expect.stringMatching(/^not_json: made a new one from the log; the old one is thread\.json\.broken-/),
    expect.stringMatching(/^torn: put it aside as messages\.jsonl\.torn-/),
  ]);
  expect((await problems(project.root)).map(({ problem }) => problem)).toEqual(["version_unsupported"]);
  const envelope = JSON.parse(readFileSync(threadPath(project, "lost", "thread.json"), "utf8"));
  expect(envelope).toMatchObject({ threadId: "lost", title: "Fix the login", stats: { messageCount: 1 } });
  const kept = readdirSync(threadPath(project, "lost")).filter((name) => /broken|torn/.test(name));
  expect(kept.map((name) => readFileSync(threadPath(project, "lost", name), "utf8")).sort()).toEqual([
    '{"half',
    '{"id":"torn',
  ]);
});

test("[ATSF19] a directory that is none is refused, and an empty one has no threads", async () => {
  const dir = temporaryDirectory();
  await expect(openProject(join(dir, "missing"))).rejects.toMatchObject({ kind: "atsf.not_a_directory" });
  expect(await (await openProject(dir)).list()).toEqual([]);
  expect(existsSync(join(dir, ".agent"))).toBe(false);
});

test("[ATSF20] the example of the README works as it stands", async () => {
  const readme = readFileSync("src/atsf/README.md", "utf8");
  const [, example = ""] = /```ts\n([\s\S]*?)```/.exec(readme) ?? [];
  const { root } = await freshProject();
  await (await openProject(root)).create(newThread("thr_1", { title: "Fix login" }));
  const half = join(root, ".agent", "threads", "thr_1", ".thread.json.1-1.tmp");
  writeFileSync(half, "half");
  utimesSync(half, 0, 0);
  const file = join(temporaryDirectory(), "example.mts");
  writeFileSync(
    file,
    example
      .replace('"heddle/atsf"', JSON.stringify(join(process.cwd(), "src/atsf/index.ts")))
      .replaceAll('"/path/to/project"', JSON.stringify(root)),
  );
  const output = execFileSync(process.execPath, ["--import", "tsx", file], { encoding: "utf8" });
  expect(output).toMatch(/^thr_1 Fix login\n\d+\n.*thread\.json\.1-1\.tmp A program .*\nremoved it\n$/);
  const { messages } = await (await (await openProject(root)).thread("thr_1")).read();
  expect(messages.map(({ content }) => content)).toEqual([[{ type: "text", text: "Hello" }]]);
});
