import { mkdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { readGitHead } from "../../src/atsf/index.js";
import { temporaryDirectory } from "../support/stores.js";
import { freshRepository, ownGit, repositoryAt } from "./repository.js";

beforeEach(() => {
  ownGit();
});
afterEach(() => vi.unstubAllEnvs());

test("[WT19] branch and commit read from git's files are what git says, from any directory of the checkout", async () => {
  const { repository, dir } = fresh();
  const commit = repository.git("rev-parse", "HEAD");
  const branch = repository.git("branch", "--show-current");
  expect(readGitHead(dir)).toEqual({ top: dir, relativeDir: ".", branch, commit });
  mkdirSync(join(dir, "deep/er"), { recursive: true });
  expect(readGitHead(join(dir, "deep/er"))).toEqual({
    top: dir,
    relativeDir: "deep/er",
    branch,
    commit,
  });
});

test("[WT19] packed branches, branches with slashes and a detached HEAD are read too", async () => {
  const { repository, dir } = fresh();
  const commit = repository.git("rev-parse", "HEAD");
  repository.git("switch", "-q", "-c", "feature/a/b");
  repository.git("pack-refs", "--all");
  expect(readGitHead(dir)).toMatchObject({ branch: "feature/a/b", commit });
  repository.git("switch", "-q", "--detach");
  expect(readGitHead(dir)).toEqual({ top: dir, relativeDir: ".", commit });
});

test("[WT19] a worktree's own branch is found in the repository it belongs to", async () => {
  const { repository, dir } = fresh();
  const path = join(dir, "..", "linked");
  repository.git("worktree", "add", "-q", "-b", "side", path);
  const linked = repositoryAt(path);
  const commit = linked.commit({ "b.txt": "b\n" });
  expect(readGitHead(path)).toEqual({
    top: realpathSync(path),
    relativeDir: ".",
    branch: "side",
    commit,
  });
  expect(readGitHead(dir)?.commit).not.toBe(commit);
});

test("[WT19] before the first commit there is a branch only; outside git there is nothing", async () => {
  const dir = realpathSync(temporaryDirectory());
  expect(readGitHead(dir)).toBeUndefined();
  repositoryAt(dir).git("init", "-q");
  expect(readGitHead(dir)).toEqual({ top: dir, relativeDir: ".", branch: "main" });
});

function fresh() {
  const repository = freshRepository();
  return { repository, dir: repository.dir };
}
