import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createWorktree, describeCheckout, listWorktrees, openProject } from "../../src/atsf/index.js";
import { git } from "../../src/atsf/worktrees/git.js";
import { temporaryDirectory } from "../support/stores.js";
import { pidsIn, runs } from "./processes.js";
import { freshRepository, ownGit, repositoryAt, script } from "./repository.js";
import { newThread, textMessage } from "./support.js";

beforeEach(() => {
  ownGit();
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const THREAD = "thr_01J9ABCDEFGH";

/** What git and the disk know of worktrees and branches: to be the same before and after a failure. */
function traces({ git, dir }: ReturnType<typeof freshRepository>) {
  return {
    worktrees: git("worktree", "list", "--porcelain"),
    branches: git("for-each-ref"),
    administration: existsSync(join(dir, ".git/worktrees")) ? readdirSync(join(dir, ".git/worktrees")) : [],
    config: readFileSync(join(dir, ".git/config"), "utf8"),
  };
}

test("[WT1] a directory's checkout: its root, the way below it, its branch and commit", async () => {
  const { dir, git, first, commit } = freshRepository({ "a.txt": "a", "packages/app/b.txt": "b" });
  expect(await describeCheckout(dir)).toEqual({ top: dir, relativeDir: ".", branch: "main", commit: first });
  const link = join(temporaryDirectory(), "link");
  symlinkSync(join(dir, "packages"), link);
  expect(await describeCheckout(join(link, "app"))).toEqual({
    top: dir,
    relativeDir: "packages/app",
    branch: "main",
    commit: first,
  });
  const odd = join(dir, "a\nb");
  mkdirSync(odd);
  expect(await describeCheckout(odd)).toMatchObject({ top: dir, relativeDir: "a\nb" });
  git("switch", "-q", "-c", "feature/x");
  const second = commit({ "c.txt": "c" });
  expect(await describeCheckout(dir)).toMatchObject({ branch: "feature/x", commit: second });
  git("switch", "-q", "--detach");
  expect(await describeCheckout(dir)).toEqual({ top: dir, relativeDir: ".", commit: second });
});

test("[WT1] outside git there is no checkout, and before the first commit neither branch nor commit", async () => {
  const dir = realpathSync(temporaryDirectory());
  vi.stubEnv("GIT_CEILING_DIRECTORIES", join(dir, ".."));
  expect(await describeCheckout(dir)).toBeUndefined();
  expect(await listWorktrees(dir)).toEqual([]);
  repositoryAt(dir).git("init", "-q");
  expect(await describeCheckout(dir)).toEqual({ top: dir, relativeDir: "." });
  expect(await describeCheckout(join(dir, ".git"))).toBeUndefined();
  await expect(describeCheckout(join(dir, "nowhere"))).rejects.toMatchObject({
    kind: "atsf.not_a_directory",
  });
});

test("[WT2] the repository is the directory's, whatever the environment says, and reading it takes no lock", async () => {
  const other = freshRepository();
  const { dir, first } = freshRepository({ "b.txt": "b" });
  vi.stubEnv("GIT_DIR", join(other.dir, ".git"));
  vi.stubEnv("GIT_WORK_TREE", other.dir);
  vi.stubEnv("GIT_INDEX_FILE", join(other.dir, ".git/index"));
  expect(await describeCheckout(dir)).toMatchObject({ top: dir, commit: first });
  const bin = temporaryDirectory();
  const said = join(bin, "said");
  script(join(bin, "git"), `{ echo "$@"; env | grep -E '^(GIT_|LC_ALL)' | sort; } > ${said}`);
  vi.stubEnv("PATH", `${bin}:${process.env.PATH}`);
  await git(dir, ["status"]);
  const lines = readFileSync(said, "utf8").split("\n");
  expect(lines[0]).toBe("--no-optional-locks status");
  expect(lines).toContain("GIT_TERMINAL_PROMPT=0");
  expect(lines).toContain(`GIT_CONFIG_GLOBAL=${process.env.GIT_CONFIG_GLOBAL}`);
  expect(lines.filter((line) => /^GIT_(DIR|WORK_TREE|INDEX_FILE)=/.test(line))).toEqual([]);
});

test("[WT2] a git that is missing, fails, floods or does not end is told apart and leaves no process", async () => {
  const { dir } = freshRepository();
  const bin = temporaryDirectory();
  const pids = join(bin, "pids");
  const path = process.env.PATH;
  vi.stubEnv("PATH", bin);
  await expect(describeCheckout(dir)).rejects.toMatchObject({ kind: "atsf.git_missing" });
  vi.stubEnv("PATH", `${bin}:${path}`);
  script(join(bin, "git"), "echo 'fatal: detected dubious ownership' >&2; exit 128");
  await expect(describeCheckout(dir)).rejects.toMatchObject({
    kind: "atsf.git_failed",
    data: { words: "fatal: detected dubious ownership", exit_code: 128 },
  });
  script(join(bin, "git"), "head -c 20000000 /dev/zero; head -c 20000000 /dev/zero >&2; exit 3");
  const flood = await git(dir, ["x"]);
  expect(flood).toMatchObject({ exitCode: 3, cut: true });
  expect(flood.stdout.length).toBeLessThan(10_000_000);
  expect(flood.words.length).toBeLessThan(3_000);
  script(
    join(bin, "git"),
    `trap '' TERM; sh -c "trap '' TERM; sleep 300" & echo $$ $! > ${pids}; wait; sleep 300`,
  );
  await expect(git(dir, ["x"], { timeoutMs: 300 })).rejects.toMatchObject({ kind: "atsf.git_failed" });
  expect(pidsIn(pids).map(runs)).toEqual([false, false]);
});

test("[WT3] a worktree has a branch and a directory named for its thread, and the project's place in it", async () => {
  const { dir, git, first, worktrees } = freshRepository({ "packages/app/b.txt": "b" });
  const project = join(dir, "packages/app");
  const made = await createWorktree({ project, directory: worktrees, threadId: THREAD });
  const path = join(realpathSync(worktrees), "thread-abcdefgh");
  expect(made).toEqual({
    path,
    branch: "am-abcdefgh",
    commit: first,
    workingDir: join(path, "packages/app"),
  });
  expect(readFileSync(join(made.workingDir, "b.txt"), "utf8")).toBe("b");
  expect(await describeCheckout(made.workingDir)).toEqual({
    top: path,
    relativeDir: "packages/app",
    branch: "am-abcdefgh",
    commit: first,
  });
  expect(git("status", "--porcelain")).toBe("");
  const odd = await createWorktree({ project: dir, directory: worktrees, threadId: "a.B_c..-." });
  expect(odd).toMatchObject({ branch: "am--b_c----", path: join(path, "../thread--b_c----") });
  mkdirSync(join(dir, "new/one"), { recursive: true });
  const untracked = await createWorktree({
    project: join(dir, "new/one"),
    directory: worktrees,
    threadId: "t",
  });
  expect(untracked).toMatchObject({ branch: "am-t", workingDir: join(path, "../thread-t/new/one") });
  expect(existsSync(untracked.workingDir)).toBe(true);
  await expect(
    createWorktree({ project: dir, directory: worktrees, threadId: "../x" }),
  ).rejects.toMatchObject({ kind: "atsf.invalid_thread_id" });
});

test("[WT4] a name that is taken, by a branch or a directory, gets a number; makers at once get different ones", async () => {
  const { dir, git, worktrees } = freshRepository();
  git("branch", "AM-abcdefgh");
  git("branch", "am-abcdefgh-2/below");
  mkdirSync(join(worktrees, "thread-abcdefgh-3"), { recursive: true });
  const given = { project: dir, directory: worktrees, threadId: THREAD };
  const first = await createWorktree(given);
  expect(first).toMatchObject({
    branch: "am-abcdefgh-4",
    path: join(realpathSync(worktrees), "thread-abcdefgh-4"),
  });
  const others = await Promise.all([1, 2, 3, 4].map(() => createWorktree(given)));
  expect(others.map(({ branch }) => branch).sort()).toEqual(
    ["5", "6", "7", "8"].map((n) => `am-abcdefgh-${n}`),
  );
  expect(git("branch", "--list", "AM-abcdefgh", "--format=%(refname:short)")).toBe("AM-abcdefgh");
});

test("[WT5] without a repository or without a commit there is no worktree, and the error says what to do", async () => {
  const dir = realpathSync(temporaryDirectory());
  const directory = join(temporaryDirectory(), "worktrees");
  vi.stubEnv("GIT_CEILING_DIRECTORIES", join(dir, ".."));
  const given = { project: dir, directory, threadId: THREAD };
  await expect(createWorktree(given)).rejects.toMatchObject({
    kind: "atsf.not_a_repository",
    message: expect.stringContaining("git init"),
  });
  repositoryAt(dir).git("init", "-q");
  await expect(createWorktree(given)).rejects.toMatchObject({
    kind: "atsf.no_commits",
    message: expect.stringContaining("Commit something"),
  });
  expect(existsSync(directory)).toBe(false);
});

test("[WT6] a worktree that can't be made whole leaves nothing behind, and git's words are told", async () => {
  const repository = freshRepository({ "a.txt": "a" });
  const { dir, git, write, worktrees } = repository;
  const before = traces(repository);
  const given = { project: dir, directory: worktrees, threadId: THREAD };
  const hook = script(join(dir, ".git/hooks/post-checkout"), "echo 'no room for another' >&2; exit 7");
  await expect(createWorktree(given)).rejects.toMatchObject({
    kind: "atsf.git_failed",
    data: { exit_code: 7, words: expect.stringContaining("no room for another") },
  });
  expect(traces(repository)).toEqual(before);
  expect(existsSync(join(worktrees, ".."))).toBe(false);
  rmSync(hook);
  git("config", "filter.broken.smudge", "false");
  git("config", "filter.broken.required", "true");
  write({ ".git/info/attributes": "*.txt filter=broken\n" });
  const configured = traces(repository);
  mkdirSync(worktrees, { recursive: true });
  await expect(createWorktree(given)).rejects.toMatchObject({ kind: "atsf.git_failed" });
  expect(traces(repository)).toEqual(configured);
  expect(existsSync(join(worktrees, "thread-abcdefgh"))).toBe(false);
  expect(existsSync(worktrees)).toBe(true);
});

/** A git that does something before it does what it is asked to; `$real` is the real one. */
function gitThat(does: string): void {
  const bin = temporaryDirectory();
  const path = process.env.PATH ?? "";
  const real = path.split(":").find((each) => existsSync(join(each, "git")));
  script(join(bin, "git"), `real=${real}/git; ${does}\nexec $real "$@"`);
  vi.stubEnv("PATH", `${bin}:${path}`);
}

test("[WT6] a branch of someone else who was faster stays, and the next name is taken", async () => {
  const { dir, git, first, commit, worktrees } = freshRepository();
  commit({ "b.txt": "b" });
  const once = join(temporaryDirectory(), "once");
  gitThat(
    `case " $* " in *" am-abcdefgh "*) if mkdir ${once}; then $real branch am-abcdefgh ${first}; fi;; esac`,
  );
  const made = await createWorktree({ project: dir, directory: worktrees, threadId: THREAD });
  expect(existsSync(once)).toBe(true);
  expect(made.branch).toBe("am-abcdefgh-2");
  expect(git("rev-parse", "am-abcdefgh")).toBe(first);
  expect(readdirSync(worktrees)).toEqual(["thread-abcdefgh-2"]);
});

test("[WT20] a git that meets a worktree another one is just making is run once more, and no more than once", async () => {
  const repository = freshRepository();
  const { dir, worktrees } = repository;
  const given = { project: dir, directory: worktrees, threadId: THREAD };
  const flags = temporaryDirectory();
  const fail = "echo 'fatal: failed to read .git/worktrees/thread-x/commondir: Success' >&2; exit 128";
  gitThat(`case "$1" in worktree) if [ "$2" = add ] && mkdir ${flags}/once; then ${fail}; fi;; esac`);
  expect((await createWorktree(given)).branch).toBe("am-abcdefgh");
  expect(existsSync(join(flags, "once"))).toBe(true);
  const before = traces(repository);
  gitThat(`case "$1" in worktree) if [ "$2" = add ]; then echo >> ${flags}/times; ${fail}; fi;; esac`);
  await expect(createWorktree(given)).rejects.toMatchObject({
    kind: "atsf.git_failed",
    data: { words: expect.stringContaining("commondir") },
  });
  expect(readFileSync(join(flags, "times"), "utf8")).toBe("\n\n");
  expect(traces(repository)).toEqual(before);
});

test("[WT6] links in the repository's last commit are not followed out of the new worktree", async () => {
  for (const link of [".agent", "packages"]) {
    const repository = freshRepository();
    const { dir, git, worktrees } = repository;
    const outside = temporaryDirectory();
    symlinkSync(outside, join(dir, link));
    git("add", link);
    git("commit", "-q", "-m", "link");
    rmSync(join(dir, link));
    mkdirSync(join(dir, "packages/app"), { recursive: true });
    const before = traces(repository);
    const project = link === "packages" ? join(dir, "packages/app") : dir;
    await expect(createWorktree({ project, directory: worktrees, threadId: THREAD })).rejects.toMatchObject({
      kind: "atsf.invalid_file",
      data: { problem: "leads_out" },
    });
    expect(existsSync(join(outside, ".gitignore")) || existsSync(join(outside, "app"))).toBe(false);
    expect(traces(repository)).toEqual(before);
  }
});

test("[WT7] git sees nothing of the threads in a worktree, and its own files stay as they are", async () => {
  const repository = freshRepository();
  const { dir, worktrees } = repository;
  const own = ["config", "info/exclude"].map((file) => join(dir, ".git", file));
  const before = own.map((file) => readFileSync(file, "utf8"));
  const made = await createWorktree({ project: dir, directory: worktrees, threadId: THREAD });
  const status = () => repositoryAt(made.path).git("status", "--porcelain", "--untracked-files=all");
  expect(readFileSync(join(made.path, ".agent/.gitignore"), "utf8")).toBe("*\n");
  expect(status()).toBe("");
  const project = await openProject(made.path);
  await (await project.create(newThread(THREAD))).append(textMessage("a"));
  await project.close();
  expect(status()).toBe("");
  expect(own.map((file) => readFileSync(file, "utf8"))).toEqual(before);
});

test("[WT7] an ignore file that the repository has stays, checked out or not", async () => {
  const { dir, git, worktrees } = freshRepository({ ".agent/.gitignore": "threads/\n", "src/a.txt": "a" });
  const made = await createWorktree({ project: dir, directory: worktrees, threadId: "one" });
  expect(readFileSync(join(made.path, ".agent/.gitignore"), "utf8")).toBe("threads/\n");
  git("sparse-checkout", "set", "src");
  const sparse = await createWorktree({ project: dir, directory: worktrees, threadId: "two" });
  expect(existsSync(join(sparse.path, ".agent/.gitignore"))).toBe(false);
  for (const { path } of [made, sparse]) expect(repositoryAt(path).git("status", "--porcelain")).toBe("");
});

test("[WT8] the user's hooks, signing and configuration work as ever", async () => {
  const home = ownGit(
    (own) =>
      `[core]
	hooksPath = ${own}/hooks
[commit]
	gpgsign = true
[gpg]
	program = ${own}/sign
`,
  );
  script(
    join(home, "sign"),
    `cat > /dev/null; printf '\\n[GNUPG:] SIG_CREATED D\\n' >&2
printf -- '-----BEGIN PGP SIGNATURE-----\\n\\nsigned\\n-----END PGP SIGNATURE-----\\n'`,
  );
  const { dir, worktrees } = freshRepository();
  script(
    join(home, "hooks/post-checkout"),
    `pwd > ~/hooked; echo "$3" >> ~/hooked; sleep 300 & echo $! > ~/daemon`,
  );
  const made = await createWorktree({ project: dir, directory: worktrees, threadId: THREAD });
  expect(readFileSync(join(home, "hooked"), "utf8")).toBe(`${made.path}\n1\n`);
  const daemon = Number(readFileSync(join(home, "daemon"), "utf8"));
  expect(process.kill(daemon, "SIGKILL")).toBe(true);
  const worktree = repositoryAt(made.path);
  worktree.commit({ "b.txt": "b" });
  expect(worktree.git("cat-file", "commit", "HEAD")).toContain("signed");
});

test("[WT9] worktrees are listed with branch, commit and state, whatever their path", async () => {
  const { dir, git, first, worktrees } = freshRepository();
  const at = (name: string) => join(worktrees, name);
  git("worktree", "add", "-q", "-b", "one", at("line\nbreak"));
  git("worktree", "add", "-q", "--detach", at("detached"));
  git("worktree", "add", "-q", "-b", "gone", at("gone"));
  git("worktree", "add", "-q", "-b", "kept", at("kept"));
  git("worktree", "lock", "--reason", "on a stick", at("kept"));
  rmSync(at("gone"), { recursive: true });
  const plain = { commit: first, bare: false, detached: false, prunable: false };
  const expected = [
    { ...plain, path: dir, branch: "main" },
    { ...plain, path: at("line\nbreak"), branch: "one" },
    { ...plain, path: at("detached"), detached: true },
    { ...plain, path: at("gone"), branch: "gone", prunable: true },
    { ...plain, path: at("kept"), branch: "kept", locked: "on a stick" },
  ];
  const byPath = (a: { path: string }, b: { path: string }) => (a.path < b.path ? -1 : 1);
  const [main, ...linked] = await listWorktrees(dir);
  expect(main).toEqual(expected[0]);
  expect(linked.sort(byPath)).toEqual(expected.slice(1).sort(byPath));
});

test("[WT9] a bare repository, one without commits, and a git that does not know -z", async () => {
  const { dir, git, first, worktrees } = freshRepository();
  const bare = join(worktrees, "bare.git");
  git("clone", "-q", "--bare", dir, bare);
  expect(await listWorktrees(bare)).toEqual([{ path: bare, bare: true, detached: false, prunable: false }]);
  const empty = realpathSync(temporaryDirectory());
  repositoryAt(empty).git("init", "-q");
  const state = { bare: false, detached: false, prunable: false };
  expect(await listWorktrees(empty)).toEqual([{ path: empty, branch: "main", ...state }]);
  const bin = temporaryDirectory();
  const real = process.env.PATH?.split(":").find((part) => existsSync(join(part, "git")));
  renameSync(
    script(join(bin, "git.new"), `case " $* " in *" -z "*) exit 129;; esac; exec ${real}/git "$@"`),
    join(bin, "git"),
  );
  vi.stubEnv("PATH", `${bin}:${process.env.PATH}`);
  git("worktree", "add", "-q", "-b", "two", join(worktrees, "two"));
  expect(await listWorktrees(dir)).toEqual([
    { path: dir, branch: "main", commit: first, ...state },
    { path: join(worktrees, "two"), branch: "two", commit: first, ...state },
  ]);
});
