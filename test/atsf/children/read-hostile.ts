/** Reads projects in which files are something else, and tells which problem was found in which way. */
import { execFileSync } from "node:child_process";
import { readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { changeConfig, openProject, readConfig, readGitHead, validate } from "../../../src/atsf/index.js";
import { textMessage } from "../message.js";

const [base = ""] = process.argv.slice(2);
const told: Record<string, Record<string, unknown>> = {};
const messages: string[] = [];
for (const kind of readdirSync(base)) told[kind] = await readAll(join(base, kind));
process.stdout.write(JSON.stringify({ told, messages }));

async function readAll(root: string): Promise<Record<string, unknown>> {
  const project = await openProject(root);
  const [envelope, log, fine] = await Promise.all(
    ["envelope", "log", "fine"].map((id) => project.thread(id)),
  );
  if (!envelope || !log || !fine) throw new Error("no threads");
  const problems = [];
  for await (const { problem } of validate(root)) problems.push(problem);
  const listed = (await project.list()).map((each) => ("error" in each ? each.threadId : "fine")).sort();
  const found = {
    listed,
    validated: [...new Set(problems)].sort(),
    config: await problemOf(() => readConfig(root)),
    "change config": await problemOf(() => changeConfig(root, { name: "a", version: "1" }, [])),
    envelope: await problemOf(() => envelope.envelope()),
    change: await problemOf(() => envelope.change([{ path: ["title"], value: "x" }])),
    "append without envelope": await problemOf(() => envelope.append(textMessage("m"))),
    read: await problemOf(() => log.read()),
    page: await problemOf(() => log.page()),
    pageForward: await problemOf(() => log.pageForward()),
    readAt: await problemOf(() => log.readAt(0)),
    newMessages: await problemOf(() => log.newMessages(0).next()),
    newMessagesNow: await problemOf(async () => log.newMessagesNow(0)),
    endNow: await problemOf(async () => log.endNow()),
    append: await problemOf(() => log.append(textMessage("m"))),
    asset: await problemOf(() => fine.readAsset(`sha256-${"a".repeat(16)}.png`)),
    "git HEAD": readGitHead(join(root, "git-head"))?.branch ?? "none",
    "git branch": readGitHead(join(root, "git-branch"))?.commit ?? "none",
    "git packed": readGitHead(join(root, "git-packed"))?.commit ?? "none",
    "fine append": (await fine.append(textMessage("m"))).id,
    "pipe meanwhile": await replaceByPipe(fine.dir, () => problemOf(() => fine.append(textMessage("n")))),
    "fine again": (await fine.append(textMessage("o"))).id,
  };
  await project.close();
  return found;
}

async function replaceByPipe<T>(dir: string, work: () => Promise<T>): Promise<T> {
  const log = join(dir, "messages.jsonl");
  renameSync(log, join(dir, "away"));
  execFileSync("mkfifo", [log]);
  const result = await work();
  renameSync(join(dir, "away"), log);
  return result;
}

async function problemOf(work: () => Promise<unknown>): Promise<string> {
  try {
    const value = await work();
    return value === undefined ? "nothing" : "worked";
  } catch (error) {
    messages.push((error as Error).message);
    const { kind, data } = error as { kind?: string; data?: { problem?: string } };
    return kind === "atsf.invalid_file" ? String(data?.problem) : String(kind ?? error);
  }
}
