import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  belongsTo,
  createWorktree,
  GITIGNORE,
  listWorktrees,
  openProject,
  ownerOf,
  removeWorktree,
  runHooks,
  threadPlaces,
} from "../../src/atsf/index.js";
import { temporaryDirectory } from "../support/stores.js";
import { freshRepository, ownGit, repositoryAt, script } from "./repository.js";
import { newThread, textMessage } from "./support.js";
import { THREAD, withWorktree } from "./worktree-thread.js";

beforeEach(() => {
  ownGit();
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const listed = async (dir: string) => (await listWorktrees(dir)).map(({ path }) => path);

test("[WT10] threads are looked for in the project, git's worktrees and the known ones, each once", async () => {
  const { repository, dir, made } = await withWorktree();
  const gone = await createWorktree({ project: dir, directory: repository.worktrees, threadId: "gone" });
  rmSync(gone.path, { recursive: true });
  const link = join(temporaryDirectory(), "link");
  symlinkSync(made.path, link);
  const known = realpathSync(temporaryDirectory());
  const places = await threadPlaces(dir, [link, known, join(known, "nowhere"), gone.path, dir]);
  expect(places).toEqual([dir, made.path, known]);
  mkdirSync(join(dir, "packages/app"), { recursive: true });
  const below = join(dir, "packages/app");
  expect(await threadPlaces(below, [])).toEqual([below, made.path]);
  expect(await threadPlaces(made.path, [])).toEqual([made.path]);
});

test("[WT10] without git, or outside a repository, the project and the known places are looked in", async () => {
  const { dir, made } = await withWorktree();
  const plain = realpathSync(temporaryDirectory());
  vi.stubEnv("GIT_CEILING_DIRECTORIES", join(plain, ".."));
  expect(await threadPlaces(plain, [made.path])).toEqual([plain, made.path]);
  vi.stubEnv("PATH", temporaryDirectory());
  expect(await threadPlaces(dir, [made.path])).toEqual([dir, made.path]);
  expect(await threadPlaces(dir, [])).toEqual([dir]);
});

test("[WT10] git is started only where its files say that there may be another checkout", async () => {
  const started = join(temporaryDirectory(), "started");
  const bin = temporaryDirectory();
  script(join(bin, "git"), `touch ${started}; exit 1`);
  const asks = async (dir: string) => {
    rmSync(started, { force: true });
    await threadPlaces(dir, []);
    return existsSync(started);
  };
  const one = freshRepository();
  const { dir, made } = await withWorktree();
  const bare = realpathSync(temporaryDirectory());
  repositoryAt(bare).git("init", "-q", "--bare");
  const strange = realpathSync(temporaryDirectory());
  writeFileSync(join(strange, ".git"), "what is this");
  vi.stubEnv("PATH", `${bin}:${process.env.PATH}`);
  expect(await asks(realpathSync(temporaryDirectory()))).toBe(false);
  expect(await asks(one.dir)).toBe(false);
  for (const each of [dir, made.path, bare, strange]) expect(await asks(each)).toBe(true);
});

test("[WT11] of several copies of a thread the one counts that stands where it says, else the project's own", async () => {
  const [main, one, two] = [1, 2, 3].map(() => realpathSync(temporaryDirectory())) as [
    string,
    string,
    string,
  ];
  const link = join(temporaryDirectory(), "link");
  symlinkSync(two, link);
  const at = (place: string, path?: string) => ({
    place,
    context: path === undefined ? {} : { worktree: { path, branch: "b" } },
  });
  const copies = [at(one, two), at(main, two), at(two, link)];
  expect(await ownerOf(copies, main)).toBe(copies[2]);
  expect(await ownerOf(copies.slice(0, 2), main)).toBe(copies[1]);
  expect(await ownerOf([at(one), copies[1] as never], main)).toBe(copies[1]);
  expect(await ownerOf(copies.slice(0, 1), main)).toBe(copies[0]);
  expect(await ownerOf([], main)).toBeUndefined();
});

test("[WT12] a thread found in a worktree belongs to the project at its own path below the checkout's root", () => {
  expect(belongsTo({ relativeDir: "packages/app" }, "packages/app")).toBe(true);
  expect(belongsTo({ relativeDir: "packages\\app\\" }, "packages/app")).toBe(true);
  expect(belongsTo({}, ".")).toBe(true);
  expect(belongsTo({ relativeDir: "." }, "packages/app")).toBe(false);
  expect(belongsTo({ relativeDir: "packages/app" }, ".")).toBe(false);
  expect(belongsTo({ relativeDir: "packages/app2" }, "packages/app")).toBe(false);
});

test("[WT13] changed, staged, deleted and new files are refused with their names, ignored ones are not; force overrides", async () => {
  const { dir, made, worktree, given } = await withWorktree();
  worktree.commit({ ".gitignore": "*.log\n" });
  worktree.git("push", "-q", dir, "HEAD:refs/heads/elsewhere");
  worktree.write({ "x.log": "ignored" });
  const refused = (file: string) =>
    expect(removeWorktree(given)).rejects.toMatchObject({
      kind: "atsf.worktree_uncommitted",
      data: { path: made.path, files: [file], count: 1 },
    });
  const reset = () => worktree.git("reset", "-q", "--hard");
  worktree.write({ "a.txt": "changed" });
  await refused("a.txt");
  worktree.git("add", "a.txt");
  await refused("a.txt");
  reset();
  rmSync(join(made.path, "a.txt"));
  await refused("a.txt");
  reset();
  worktree.git("mv", "a.txt", "b.txt");
  await expect(removeWorktree(given)).rejects.toMatchObject({ data: { files: ["a.txt", "b.txt"] } });
  reset();
  worktree.git("config", "status.showUntrackedFiles", "no");
  worktree.write({ "new/file.txt": "new" });
  await refused("new/file.txt");
  expect(existsSync(made.path)).toBe(true);
  expect(existsSync(join(dir, ".agent"))).toBe(false);
  expect(await removeWorktree({ ...given, force: true })).toEqual({ copied: [THREAD] });
  expect(existsSync(made.path)).toBe(false);
});

test("[WT13] links that hooks made into the repository are no work: they go, what they lead to stays", async () => {
  const { dir, made, given } = await withWorktree();
  mkdirSync(join(dir, "node_modules"));
  writeFileSync(join(dir, "node_modules/x"), "x");
  const hooks = { symlinks: [{ source: "node_modules" }] };
  expect((await runHooks({ hooks, repository: dir, worktree: made.path })).ok).toBe(true);
  expect(repositoryAt(made.path).git("status", "--porcelain")).toBe("?? node_modules");
  symlinkSync("/etc/hosts", join(made.path, "mine"));
  await expect(removeWorktree(given)).rejects.toMatchObject({ data: { files: ["mine"] } });
  rmSync(join(made.path, "mine"));
  expect(await removeWorktree(given)).toEqual({ copied: [THREAD], deletedBranch: made.branch });
  expect(readFileSync(join(dir, "node_modules/x"), "utf8")).toBe("x");
});

/** A repository that has committed an ignore file of another program's, with a worktree and its thread. */
async function withForeignIgnoreFile(text: string) {
  const repository = freshRepository({ "a.txt": "a\n", ".agent/.gitignore": text });
  const { dir, worktrees } = repository;
  const made = await createWorktree({ project: dir, directory: worktrees, threadId: THREAD });
  const place = await openProject(made.path);
  const thread = await place.create(newThread(THREAD));
  await thread.append(textMessage("a"));
  await thread.clear();
  await place.close();
  return {
    repository,
    dir,
    made,
    worktree: repositoryAt(made.path),
    given: { project: dir, path: made.path },
  };
}

const THEIRS = GITIGNORE.replace("threads/*/*\n", "");

test("[WT13] a thread's own files are no work, whatever the ignore file lets git see of them", async () => {
  for (const text of [THEIRS, THEIRS.replace("# !", "!"), GITIGNORE.replace("# !", "!"), "\n"]) {
    const { repository, dir, made, given } = await withForeignIgnoreFile(text);
    expect(await removeWorktree(given), text).toEqual({ copied: [THREAD], deletedBranch: made.branch });
    expect(existsSync(made.path)).toBe(false);
    const seen = repository.git("status", "--porcelain", "--untracked-files=all");
    expect(seen).toBe(`?? .agent/threads/${THREAD}/thread.json`);
    expect(readdirSync(join(dir, ".agent/threads", THREAD)).some((name) => name.includes(".cleared-"))).toBe(
      true,
    );
  }
});

test("[WT13] beside a thread's files new and deleted ones are refused as ever, in other threads too", async () => {
  const { made, worktree, given } = await withForeignIgnoreFile(THEIRS.replace("# !", "!"));
  const refused = (...files: string[]) =>
    expect(removeWorktree(given)).rejects.toMatchObject({
      kind: "atsf.worktree_uncommitted",
      data: { files },
    });
  worktree.write({ "new.txt": "new", ".agent/notes.md": "new", ".agent/threads/list.md": "new" });
  await refused(".agent/notes.md", ".agent/threads/list.md", "new.txt");
  worktree.git("clean", "-q", "-f", "new.txt", ".agent/notes.md", ".agent/threads/list.md");
  worktree.git("rm", "-q", "--cached", ".agent/.gitignore");
  await refused(".agent/.gitignore", ".agent/.gitignore");
  worktree.git("reset", "-q");
  worktree.commit({ ".agent/threads/other/thread.json": "{}" });
  worktree.git("push", "-q", given.project, "HEAD:refs/heads/elsewhere");
  rmSync(join(made.path, ".agent/threads/other"), { recursive: true });
  await refused(".agent/threads/other/thread.json");
  expect(existsSync(join(made.path, ".agent/threads", THREAD, "thread.json"))).toBe(true);
});

test("[WT13] our ignore file in a worktree that someone else made is no work; another one is", async () => {
  const { dir, git, worktrees } = freshRepository();
  const path = join(worktrees, "mine");
  git("worktree", "add", "-q", "-b", "mine", path);
  const place = await openProject(path);
  await (await place.create(newThread(THREAD))).append(textMessage("a"));
  await place.close();
  const worktree = repositoryAt(path);
  expect(worktree.git("status", "--porcelain", "--untracked-files=all")).toBe("?? .agent/.gitignore");
  worktree.write({ ".agent/.gitignore": `${GITIGNORE}mine\n` });
  await expect(removeWorktree({ project: dir, path })).rejects.toMatchObject({
    data: { files: [".agent/.gitignore"] },
  });
  worktree.write({ ".agent/.gitignore": GITIGNORE });
  expect(await removeWorktree({ project: dir, path })).toEqual({ copied: [THREAD] });
  expect(existsSync(path)).toBe(false);
});

test("[WT13] a worktree with submodules is not forced away for a thread's files: git's refusal stands", async () => {
  const library = freshRepository();
  const { repository, dir, made, given } = await withForeignIgnoreFile("\n");
  const add = ["-c", "protocol.file.allow=always", "submodule", "add", "-q", library.dir, "lib"];
  const worktree = repositoryAt(made.path);
  worktree.git(...add);
  worktree.git("commit", "-q", "-m", "lib");
  worktree.git("push", "-q", dir, "HEAD:refs/heads/elsewhere");
  await expect(removeWorktree(given)).rejects.toMatchObject({
    kind: "atsf.git_failed",
    data: { words: expect.stringContaining("submodules") },
  });
  expect(existsSync(join(made.path, "lib/a.txt"))).toBe(true);
  expect(repository.git("worktree", "list")).toContain(made.path);
});

test("[WT14] commits that no remote and no other branch has are refused, on a branch or on none; force overrides", async () => {
  const { repository, dir, made, worktree, given } = await withWorktree();
  worktree.commit({ "b.txt": "b" });
  const head = worktree.commit({ "c.txt": "c" });
  const refused = (commits: number) =>
    expect(removeWorktree(given)).rejects.toMatchObject({
      kind: "atsf.worktree_unpushed",
      data: { path: made.path, commits },
    });
  await refused(2);
  const remote = join(temporaryDirectory(), "remote.git");
  repository.git("clone", "-q", "--bare", dir, remote);
  repository.git("remote", "add", "origin", remote);
  await refused(2);
  worktree.git("push", "-q", "origin", "HEAD~1:refs/heads/part");
  await refused(1);
  worktree.git("switch", "-q", "--detach");
  worktree.git("reset", "-q", "--hard", "HEAD~1");
  worktree.commit({ "d.txt": "d" });
  await refused(1);
  expect(await removeWorktree({ ...given, force: true })).toEqual({ copied: [THREAD] });
  expect(existsSync(made.path)).toBe(false);
  expect(repository.git("rev-parse", made.branch)).toBe(head);
});

test("[WT15] a locked worktree, the project's own checkout and what is no worktree are never removed", async () => {
  const { repository, dir, made, given } = await withWorktree();
  repository.git("worktree", "lock", "--reason", "on a stick", made.path);
  await expect(removeWorktree({ ...given, force: true })).rejects.toMatchObject({
    kind: "atsf.worktree_locked",
    data: { reason: "on a stick" },
  });
  repository.git("worktree", "unlock", made.path);
  for (const [project, path] of [
    [dir, dir],
    [made.path, dir],
    [made.path, made.path],
    [dir, temporaryDirectory()],
    [dir, join(made.path, ".agent")],
  ] as const) {
    await expect(removeWorktree({ project, path, force: true }), path).rejects.toMatchObject({
      kind: "atsf.not_a_worktree",
    });
  }
  expect(await listed(dir)).toEqual([dir, made.path]);
  expect(existsSync(join(made.path, "a.txt"))).toBe(true);
});

test("[WT16] the threads of a worktree stand whole in the project before it goes", async () => {
  const { repository, dir, made, given } = await withWorktree();
  const from = join(made.path, ".agent/threads");
  const files = ["thread.json", "messages.jsonl"].map((name) => readFileSync(join(from, THREAD, name)));
  mkdirSync(join(from, ".new-draft"));
  symlinkSync(temporaryDirectory(), join(from, "linked"));
  expect(await removeWorktree(given)).toMatchObject({ copied: [THREAD] });
  expect(await listed(dir)).toEqual([dir]);
  const threads = join(dir, ".agent/threads");
  expect(readdirSync(threads)).toEqual([THREAD]);
  expect(["thread.json", "messages.jsonl"].map((name) => readFileSync(join(threads, THREAD, name)))).toEqual(
    files,
  );
  expect(readdirSync(join(threads, THREAD, "assets"))).toHaveLength(1);
  const project = await openProject(dir);
  const thread = await project.thread(THREAD);
  await thread.append(textMessage("b"));
  expect((await thread.read()).messages).toHaveLength(2);
  await project.close();
  expect(repository.git("status", "--porcelain", "--untracked-files=all")).toBe("?? .agent/.gitignore");
});

test("[WT16] a thread the project has already is not replaced, and one that lacks messages is refused", async () => {
  const { dir, made, given } = await withWorktree();
  const project = await openProject(dir);
  const own = await project.create(newThread(THREAD, { title: "own" }));
  await expect(removeWorktree(given)).rejects.toMatchObject({
    kind: "atsf.worktree_thread_differs",
    data: { thread_id: THREAD },
  });
  expect(existsSync(join(made.path, "a.txt"))).toBe(true);
  const log = (root: string) => join(root, ".agent/threads", THREAD, "messages.jsonl");
  writeFileSync(log(dir), readFileSync(log(made.path)));
  await own.append(textMessage("b"));
  await project.close();
  const before = readFileSync(log(dir), "utf8");
  expect(await removeWorktree(given)).toEqual({ copied: [], deletedBranch: made.branch });
  expect(readFileSync(log(dir), "utf8")).toBe(before);
});

test("[WT16] a thread that another program writes to is waited for", async () => {
  const { dir, made, given } = await withWorktree();
  const thread = join(made.path, ".agent/threads", THREAD);
  const holder = spawn(process.execPath, ["--import", "tsx", "test/atsf/children/holder.ts", thread], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(holder, "exit");
  try {
    expect(String((await once(holder.stdout, "data"))[0])).toBe("held\n");
    const waiting: string[] = [];
    const removed = removeWorktree({
      ...given,
      onWaiting: (where) => {
        waiting.push(where);
        expect(existsSync(join(dir, ".agent/threads", THREAD))).toBe(false);
        holder.kill("SIGKILL");
      },
    });
    expect(await removed).toMatchObject({ copied: [THREAD] });
    expect(waiting).toEqual([thread]);
  } finally {
    holder.kill("SIGKILL");
    await ended;
  }
});

test("[WT17] a branch made with a worktree goes with it only when another has all its commits; others stay", async () => {
  const { repository, dir, made, given } = await withWorktree();
  const branches = () => repository.git("branch", "--format=%(refname:short)").split("\n");
  expect(await removeWorktree(given)).toEqual({ copied: [THREAD], deletedBranch: made.branch });
  expect(branches()).toEqual(["main"]);
  const mine = join(repository.worktrees, "mine");
  repository.git("worktree", "add", "-q", "-b", "mine", mine);
  expect(await removeWorktree({ project: dir, path: mine })).toEqual({ copied: [] });
  const again = await createWorktree({ project: dir, directory: repository.worktrees, threadId: "t" });
  repositoryAt(again.path).commit({ "b.txt": "b" });
  const remote = join(temporaryDirectory(), "remote.git");
  repository.git("clone", "-q", "--bare", dir, remote);
  repository.git("remote", "add", "origin", remote);
  repository.git("fetch", "-q", "origin");
  expect(await removeWorktree({ project: dir, path: again.path })).toEqual({ copied: [] });
  expect(branches()).toEqual(["am-t", "main", "mine"]);
});

test("[WT18] a worktree deleted by hand leaves git's list, it alone and without complaint, also twice", async () => {
  const { repository, dir, made, given } = await withWorktree();
  const other = await createWorktree({ project: dir, directory: repository.worktrees, threadId: "other" });
  for (const { path } of [made, other]) rmSync(path, { recursive: true });
  expect(await removeWorktree(given)).toEqual({ copied: [], deletedBranch: made.branch });
  expect(await listed(dir)).toEqual([dir, other.path]);
  expect(await removeWorktree(given)).toEqual({ copied: [] });
});

test("[WTG24] where the worktree is gone already its branch goes, if another has all its commits", async () => {
  const { repository, made, given } = await withWorktree();
  const branches = () => repository.git("branch", "--format=%(refname:short)").split("\n");
  repository.git("worktree", "remove", "--force", made.path);
  expect(await removeWorktree({ ...given, branch: "main" })).toEqual({ copied: [] });
  expect(branches()).toContain(made.branch);
  expect(await removeWorktree({ ...given, branch: made.branch })).toEqual({
    copied: [],
    deletedBranch: made.branch,
  });
  expect(branches()).not.toContain(made.branch);
  expect(await removeWorktree({ ...given, branch: made.branch })).toEqual({ copied: [] });
  const own = await withWorktree();
  repositoryAt(own.made.path).commit({ "b.txt": "own\n" });
  own.repository.git("worktree", "remove", "--force", own.made.path);
  expect(await removeWorktree({ ...own.given, branch: own.made.branch })).toEqual({ copied: [] });
  expect(own.repository.git("branch", "--list", own.made.branch)).toContain(own.made.branch);
});
