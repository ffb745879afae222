import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createWorktree, GITIGNORE, openProject, repair } from "../../src/atsf/index.js";
import { freshRepository, ownGit, type Repository, repositoryAt } from "./repository.js";
import { newThread, textMessage } from "./support.js";

beforeEach(() => {
  ownGit();
});
afterEach(() => {
  vi.unstubAllEnvs();
});

/** The format's own ignore file, as other programs write it. */
const THEIRS = GITIGNORE.replace("threads/*/*\n", "");
const tracking = (text: string) => text.replace("# !threads", "!threads");
const FILE = ".agent/.gitignore";
const ENVELOPE = ".agent/threads/t/thread.json";

const seen = (repository: Repository) =>
  repository.git("status", "--porcelain", "--untracked-files=all").split("\n").filter(Boolean);

/** What a thread leaves behind in its life: a lock, a log that was cleared, a torn tail, a broken envelope. */
async function live(root: string): Promise<string[]> {
  const project = await openProject(root);
  const thread = await project.create(newThread("t"));
  await thread.append(textMessage("a"));
  await thread.clear();
  appendFileSync(join(thread.dir, "messages.jsonl"), '{"id":"torn');
  await thread.append(textMessage("b"));
  await thread.saveAsset(Buffer.from("x"), "image/png");
  await project.close();
  writeFileSync(join(thread.dir, "thread.json"), "{");
  appendFileSync(join(thread.dir, "messages.jsonl"), '{"id":"torn');
  for await (const _ of repair(root)) _;
  const names = readdirSync(thread.dir);
  for (const part of ["thread.lock", ".cleared-", ".torn-", ".broken-"]) {
    expect(
      names.some((name) => name.includes(part)),
      part,
    ).toBe(true);
  }
  return names;
}

const FILES: [name: string, text: string, inProject: string[], inWorktree: string[]][] = [
  ["our own", GITIGNORE, [], []],
  ["our own with the negation", tracking(GITIGNORE), [ENVELOPE], [ENVELOPE]],
  ["the format's", THEIRS, [ENVELOPE], []],
  ["the format's with the negation", tracking(THEIRS), [ENVELOPE], [ENVELOPE]],
  ["a user's that leaves out all", "*\n", [], []],
  ["a user's that leaves out threads", "/threads/\n", [], []],
  [
    "a user's that takes a log back in",
    "threads/*/*\n!threads/*/*.jsonl\n",
    [".agent/threads/t/messages.jsonl"],
    [],
  ],
  ["a user's that leaves out nothing", "\n", everything("t"), []],
];

function everything(id: string): string[] {
  const asset = "assets/sha256-2d711642b726b044.png";
  return [asset, "messages.jsonl", "thread.json"].map((name) => `.agent/threads/${id}/${name}`);
}

describe.each(FILES)("[ATSF45] with an ignore file that is %s", (_, text, inProject, inWorktree) => {
  test("[ATSF45] git sees no lock and nothing put aside in the project", async () => {
    const repository = freshRepository();
    repository.write({ [FILE]: text });
    repository.git("add", "--force", FILE);
    repository.git("commit", "-q", "-m", "ignore");
    await live(repository.dir);
    expect(seen(repository)).toEqual(inProject.map((file) => `?? ${file}`));
    expect(readFileSync(join(repository.dir, FILE), "utf8")).toBe(text);
  });

  test("[ATSF45] git sees nothing of a thread in a worktree unless its envelope is tracked", async () => {
    const repository = freshRepository();
    repository.write({ [FILE]: text });
    repository.git("add", "--force", FILE);
    repository.git("commit", "-q", "-m", "ignore");
    const { dir, worktrees } = repository;
    const { path } = await createWorktree({ project: dir, directory: worktrees, threadId: "t" });
    await live(path);
    expect(seen(repositoryAt(path))).toEqual(inWorktree.map((file) => `?? ${file}`));
    expect(seen(repository)).toEqual([]);
  });
});

test("[ATSF45] an ignore file in a thread is written only where it is needed, and never over another", async () => {
  const { dir } = freshRepository();
  expect(await live(dir)).not.toContain(".gitignore");
  const other = freshRepository({ [FILE]: THEIRS });
  const project = await openProject(other.dir);
  const thread = await project.create(newThread("t"));
  expect(existsSync(join(thread.dir, ".gitignore"))).toBe(true);
  writeFileSync(join(thread.dir, ".gitignore"), "mine\n");
  await thread.append(textMessage("a"));
  await project.close();
  expect(readFileSync(join(thread.dir, ".gitignore"), "utf8")).toBe("mine\n");
});

test("[ATSF45] a submodule is a checkout of its own: what its ignore file lets git see stays visible", async () => {
  const library = freshRepository({ [FILE]: THEIRS });
  const { git, dir } = freshRepository();
  git("-c", "protocol.file.allow=always", "submodule", "add", "-q", library.dir, "lib");
  const inside = join(dir, "lib");
  expect(readFileSync(join(inside, ".git"), "utf8")).toMatch(/^gitdir: /);
  await live(inside);
  expect(seen(repositoryAt(inside))).toEqual([`?? ${ENVELOPE}`]);
});

test("[ATSF45] an ignore file that can't be read, or is a link that git does not follow, covers nothing", async () => {
  for (const put of [(file: string) => symlinkSync("all", file), (file: string) => mkdirSync(file)]) {
    const repository = freshRepository();
    repository.write({ ".agent/all": "*\n" });
    put(join(repository.dir, FILE));
    expect(await live(repository.dir)).toContain(".gitignore");
    const below = seen(repository).filter((line) => line.includes("/threads/"));
    expect(below).toEqual(everything("t").map((file) => `?? ${file}`));
  }
});
