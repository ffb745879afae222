import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { startGateway, type TestGateway } from "../support/gateway.js";
import {
  envelopeIn,
  freshRepository,
  ownGit,
  repositoryAt,
  script,
  threadDir,
  Workshop,
} from "../support/repository.js";
import { sqliteStore, temporaryDirectory } from "../support/stores.js";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway(sqliteStore);
});
afterAll(() => gateway?.stop());
beforeEach(() => {
  ownGit();
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const statusOf = (dir: string) => repositoryAt(dir).git("status", "--porcelain", "--untracked-files=all");

test("[WTG1] an ignore file that the repository tracks rules in the worktree too", async () => {
  const ignore = "threads/\n";
  const shop = await Workshop.open(gateway, freshRepository({ ".agent/.gitignore": ignore }));
  const { id, path } = await shop.startInWorktree();
  await shop.say(id, "hello");
  expect(readFileSync(join(path, ".agent/.gitignore"), "utf8")).toBe(ignore);
  expect(statusOf(path)).toBe("");
});

test("[WTG1] the worktree begins at the last commit: what is not committed stays in the project", async () => {
  const shop = await Workshop.open(gateway);
  shop.repository.git("switch", "-q", "-c", "feature/x");
  const commit = shop.repository.commit({ "b.txt": "b" });
  shop.repository.write({ "a.txt": "changed\n", "new.txt": "n" });
  const { id, path } = await shop.startInWorktree();
  expect(envelopeIn(path, id).context).toMatchObject({ gitBranch: "feature/x", gitCommit: commit });
  expect(readFileSync(join(path, "a.txt"), "utf8")).toBe("a\n");
  expect(existsSync(join(path, "b.txt"))).toBe(true);
  expect(existsSync(join(path, "new.txt"))).toBe(false);
  expect(statusOf(shop.root)).toBe(" M a.txt\n?? new.txt");
});

test("[WTG2] a thread in the project says where it began; git sees nothing of it but the ignore file", async () => {
  const shop = await Workshop.open(gateway);
  const { id, worktree } = await shop.start({});
  await shop.say(id, "hello");
  expect(worktree).toBeUndefined();
  expect(envelopeIn(shop.root, id).context).toEqual({
    workingDir: shop.root,
    relativeDir: ".",
    gitBranch: "main",
    gitCommit: shop.repository.git("rev-parse", "HEAD"),
  });
  expect(statusOf(shop.root)).toBe("?? .agent/.gitignore");
  shop.repository.git("worktree", "add", "-q", "../linked");
  const linked = await Workshop.open(gateway, repositoryAt(realpathSync(join(shop.root, "../linked"))));
  const other = await linked.start({ use_worktree: false });
  expect(envelopeIn(linked.root, other.id).context).toMatchObject({
    gitBranch: "linked",
    gitCommit: shop.repository.git("rev-parse", "HEAD"),
  });
});

test("[WTG2] on no branch a thread has a commit only, before the first commit neither", async () => {
  const shop = await Workshop.open(gateway);
  const commit = shop.repository.git("rev-parse", "HEAD");
  shop.repository.git("switch", "-q", "--detach");
  const inProject = await shop.start({});
  expect(envelopeIn(shop.root, inProject.id).context).toEqual({
    workingDir: shop.root,
    relativeDir: ".",
    gitCommit: commit,
  });
  const { id, path, branch } = await shop.startInWorktree();
  expect(envelopeIn(path, id).context).toEqual({
    workingDir: path,
    relativeDir: ".",
    gitCommit: commit,
    worktree: { path, branch },
  });
  const empty = repositoryAt(realpathSync(temporaryDirectory()));
  empty.git("init", "-q");
  const fresh = await Workshop.open(gateway, empty);
  const before = await fresh.start({});
  const { context } = envelopeIn(fresh.root, before.id);
  expect(context).toMatchObject({ workingDir: fresh.root, relativeDir: "." });
  expect(context).not.toHaveProperty("gitCommit");
});

test("[WTG3] a project below its repository's root works in the same directory of the worktree", async () => {
  const repository = freshRepository({ "packages/app/b.txt": "b", "a.txt": "a" });
  const shop = await Workshop.open(gateway, repository, "packages/app");
  const { id, path } = await shop.startInWorktree();
  expect(path).toContain(join("worktrees", "app", "thread-"));
  expect(envelopeIn(path, id).context).toMatchObject({
    workingDir: join(path, "packages/app"),
    relativeDir: "packages/app",
  });
  expect(existsSync(join(path, "packages/app/b.txt"))).toBe(true);
  expect(statusOf(path)).toBe("");
  expect(statusOf(repository.dir)).toBe("");
  await shop.reindex();
  expect(await shop.ids()).toEqual([id]);
});

test("[WTG3] a directory that only the project has, not the last commit, is made in the worktree", async () => {
  const repository = freshRepository();
  mkdirSync(join(repository.dir, "new/app"), { recursive: true });
  const shop = await Workshop.open(gateway, repository, "new/app");
  const { id, path } = await shop.startInWorktree();
  expect(existsSync(join(path, "new/app"))).toBe(true);
  expect(envelopeIn(path, id).context.workingDir).toBe(join(path, "new/app"));
});

test("[WTG3] projects of one repository keep their threads apart, whatever happens to the files", async () => {
  const repository = freshRepository({ "one/a.txt": "a", "two/b.txt": "b" });
  const one = await Workshop.open(gateway, repository, "one");
  const two = await Workshop.open(gateway, repository, "two");
  const { id, path } = await one.startInWorktree();
  await one.say(id, "of one");
  await two.reindex();
  expect(await two.ids()).toEqual([]);
  await one.wire.result("thread/delete", { thread_id: id });
  await one.wire.result("thread/undelete", { thread_id: id });
  const other = await two.startInWorktree();
  await one.reindex();
  // Long enough for whoever watches the worktree to have looked.
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(await two.ids()).toEqual([other.id]);
  expect(await one.ids()).toEqual([id]);
  expect(readdirSync(join(path, ".agent/threads"))).toEqual([id]);
});

test("[WTG4] a branch that is taken gives the thread's branch and directory a number", async () => {
  const shop = await Workshop.open(gateway);
  const bin = temporaryDirectory();
  const git = shop.repository.git("--exec-path");
  // A git before which another program makes the branch, once, as soon as its name is asked about.
  script(
    join(bin, "git"),
    `for last; do :; done
case "$*" in *for-each-ref*refs/heads/am-*) if ! [ -e ${bin}/made ]; then touch ${bin}/made; ${git}/git branch "\${last#refs/heads/}"; fi;; esac
exec ${git}/git "$@"`,
  );
  vi.stubEnv("PATH", `${bin}:${process.env.PATH}`);
  const { id, path, branch } = await shop.startInWorktree();
  const short = id.slice(-8).toLowerCase();
  expect(branch).toBe(`am-${short}-2`);
  expect(path.endsWith(`thread-${short}-2`)).toBe(true);
  expect(envelopeIn(path, id).context.worktree).toEqual({ path, branch });
  expect(shop.repository.git("branch", "--list", `am-${short}`).trim()).toBe(`am-${short}`);
});

test("[WTG4] threads that are started at once each get a worktree of their own", async () => {
  const shop = await Workshop.open(gateway);
  const made = await Promise.all(Array.from({ length: 8 }, () => shop.startInWorktree()));
  expect(new Set(made.map(({ path }) => path)).size).toBe(8);
  for (const { id, path } of made) expect(envelopeIn(path, id).context.worktree.path).toBe(path);
  expect((await shop.ids()).sort()).toEqual(made.map(({ id }) => id).sort());
  expect(shop.repository.git("worktree", "list").split("\n")).toHaveLength(9);
});

test("[WTG5] without use_worktree the project's configuration decides, and the caller's word goes above it", async () => {
  const shop = await Workshop.open(gateway);
  shop.configure({ defaults: { useWorktree: true } });
  const byDefault = await shop.start({});
  expect(byDefault.worktree).toBeDefined();
  expect((await shop.start({ use_worktree: false })).worktree).toBeUndefined();
  shop.configure({ defaults: { useWorktree: false } });
  expect((await shop.start({})).worktree).toBeUndefined();
  expect((await shop.start()).worktree).toBeDefined();
});

test("[WTG5] the main checkout's configuration rules, never the one in a worktree or in the last commit", async () => {
  const committed = JSON.stringify({
    specVersion: "1.1",
    defaults: { useWorktree: false },
    worktreeHooks: { initialPrompt: "committed" },
  });
  const shop = await Workshop.open(gateway, freshRepository({ ".agent/config.json": committed }));
  shop.configure({ defaults: { useWorktree: true }, worktreeHooks: { initialPrompt: "on disk" } });
  await shop.trust();
  const thread = await shop.start({});
  const path = thread.worktree?.path as string;
  expect(readFileSync(join(path, ".agent/config.json"), "utf8")).toBe(committed);
  expect((await shop.setUp(thread.id)).setup).toMatchObject({ status: "done", initial_prompt: "on disk" });
  const second = await shop.start({});
  expect(second.worktree).toBeDefined();
});

test("[WTG5] outside git a project's wish for worktrees counts for nothing", async () => {
  const dir = realpathSync(temporaryDirectory());
  const shop = await Workshop.open(gateway, repositoryAt(dir));
  shop.configure({ defaults: { useWorktree: true } });
  const thread = await shop.start({});
  expect(thread.worktree).toBeUndefined();
  expect(existsSync(threadDir(dir, thread.id))).toBe(true);
  expect(envelopeIn(dir, thread.id).context).toEqual({ workingDir: dir, relativeDir: "." });
});
