import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { resolvePack } from "../../src/prompts/packs/source/resolve.js";
import { freshRepository, ownGit, script } from "../atsf/repository.js";
import { temporaryDirectory } from "../support/stores.js";
import { message } from "./support.js";

let home: string;
beforeEach(() => {
  home = ownGit();
});
afterEach(() => vi.unstubAllEnvs());

const text = (content: string) => `${JSON.stringify(message(content))}\n`;
const PACK = "prompts/packs/default.json";

async function read(root: string, version: string, pack = "default"): Promise<unknown> {
  try {
    const { content, index, ...rest } = await resolvePack(root, { pack, version });
    return { content: String(content), ...(index && { index: String(index) }), ...rest };
  } catch (error) {
    const { kind, data } = error as { kind: string; data: { stage: string; reason: string } };
    expect(kind, String(error)).toBe("prompt.unreadable");
    return data;
  }
}

const failed = (stage: string, reason: RegExp) => ({ stage, reason: expect.stringMatching(reason) });

test("[PRM13] index and pack are read as the commit has them", async () => {
  const repository = freshRepository({ [PACK]: text("one") });
  const index = JSON.stringify({ schema_version: 1, prompt_packs: { mapped: "texts/m.json" } });
  const second = repository.commit({
    [PACK]: text("two"),
    "agent.workspace.json": index,
    "texts/m.json": text("m"),
  });
  repository.git("tag", "-a", "v2", "-m", "two");
  repository.git("branch", "topic/x", repository.first);
  repository.write({ [PACK]: text("edited"), "agent.workspace.json": "{" });
  rmSync(join(repository.dir, "texts"), { recursive: true });
  const { dir, first } = repository;
  const one = { content: text("one"), version: first };
  const two = { content: text("two"), index, version: second };
  for (const version of ["HEAD", "main", "v2", second, second.slice(0, 9), "HEAD@{0}"])
    expect(await read(dir, version), version).toEqual(two);
  for (const version of ["HEAD~1", "topic/x", first, "v2^"])
    expect(await read(dir, version), version).toEqual(one);
  expect(await read(dir, "v2", "mapped")).toEqual({ ...two, content: text("m") });
  expect(await read(dir, first, "mapped")).toEqual(
    failed("read", new RegExp(`There is no file prompts/packs/mapped.json at the version ${first}`)),
  );
});

test("[PRM13] the directory may be anywhere in its repository, or in a worktree of it", async () => {
  const below = "odd dir/[x]*/é";
  const repository = freshRepository({ [PACK]: text("top"), [`${below}/${PACK}`]: text("below") });
  const { dir, first } = repository;
  expect(await read(join(dir, below), "HEAD")).toEqual({ content: text("below"), version: first });
  mkdirSync(join(dir, "new"));
  expect(await read(join(dir, "new"), "HEAD")).toEqual(failed("read", /There is no file/));
  const worktree = join(dir, "../worktree");
  repository.git("worktree", "add", "-q", "--detach", worktree, first);
  repository.commit({ [PACK]: text("later") });
  expect(await read(worktree, "HEAD")).toEqual({ content: text("top"), version: first });
  expect(await read(worktree, "main")).toMatchObject({ content: text("later") });
});

test("[PRM13] bytes are as they were committed: no filter, no text conversion, no replacement", async () => {
  const repository = freshRepository({
    ".gitattributes": "*.json filter=shout diff=shout text eol=crlf ident\n",
  });
  const shout = script(join(home, "shout"), 'tr a-z A-Z; echo ran >> "$HOME/ran"');
  const content = '{"role":"system","content":"$Id$ quiet"}\n\n';
  const commit = repository.commit({ [PACK]: content });
  for (const key of [
    "filter.shout.smudge",
    "filter.shout.clean",
    "diff.shout.textconv",
    "core.pager",
    "core.fsmonitor",
  ])
    repository.git("config", key, shout);
  for (const hook of ["post-checkout", "reference-transaction", "post-index-change", "pre-auto-gc"])
    script(join(repository.dir, ".git/hooks", hook), 'echo hook >> "$HOME/ran"');
  const blob = repository.git("rev-parse", `${commit}:${PACK}`);
  writeFileSync(join(home, "other.json"), text("replaced"));
  const other = repository.git("hash-object", "-w", "--no-filters", join(home, "other.json"));
  repository.git("replace", blob, other);
  writeFileSync(join(home, "ran"), "");
  expect(await read(repository.dir, "HEAD")).toEqual({ content, version: commit });
  expect(readFileSync(join(home, "ran"), "utf8")).toBe("");
});

test("[PRM13] a gateway that was started from within a git hook reads the workspace's repository", async () => {
  const repository = freshRepository({ [PACK]: text("mine") });
  const other = freshRepository({ [PACK]: text("theirs") });
  vi.stubEnv("GIT_DIR", join(other.dir, ".git"));
  vi.stubEnv("GIT_WORK_TREE", other.dir);
  vi.stubEnv("GIT_INDEX_FILE", join(other.dir, ".git/index"));
  vi.stubEnv("GIT_PREFIX", "nested/");
  vi.stubEnv("GIT_PAGER", script(join(home, "pager"), "cat > /dev/null; echo paged"));
  expect(await read(repository.dir, "HEAD")).toEqual({ content: text("mine"), version: repository.first });
});

test.each([
  "nonsense",
  "--help",
  "--batch",
  "-p",
  "--upload-pack=touch /tmp/x",
  "$(touch x)",
  "HEAD; touch x",
  "HEAD:prompts",
  "HEAD..HEAD",
  "^HEAD",
  "0000000000000000000000000000000000000000",
  " ",
  "HEAD^{tree}",
  "é❤️",
  "x".repeat(255),
])("[PRM14] the version %j is no commit", async (version) => {
  const { dir } = freshRepository({ [PACK]: text("x") });
  expect(await read(dir, version)).toEqual(
    failed("resolve", /The version .* can't be read: there is no such commit/s),
  );
});

test("[PRM14] a version that is two lines is not two questions", async () => {
  const { dir } = freshRepository({ [PACK]: text("x") });
  expect(await read(dir, "HEAD\nHEAD")).toEqual(failed("resolve", /it has a control character/));
});

test("[PRM14] a version that looks like an option is one all the same when git has it", async () => {
  const repository = freshRepository({ [PACK]: text("x") });
  repository.git("update-ref", "refs/heads/-all", repository.first);
  expect(await read(repository.dir, "-all")).toEqual({ content: text("x"), version: repository.first });
});

test("[PRM14] a directory outside git, and one without commits, are told", async () => {
  const dir = temporaryDirectory();
  mkdirSync(join(dir, ".not-git"));
  vi.stubEnv("GIT_CEILING_DIRECTORIES", join(dir, ".."));
  expect(await read(dir, "HEAD")).toEqual(failed("resolve", /is not in a git repository/));
  const repository = freshRepository();
  const empty = join(repository.dir, "empty");
  mkdirSync(empty);
  repository.git("init", "-q", empty);
  expect(await read(empty, "HEAD")).toEqual(failed("resolve", /there is no such commit/));
});

test("[PRM14] a git that is not there, or that fails, is told", async () => {
  const { dir } = freshRepository({ [PACK]: text("x") });
  vi.stubEnv("PATH", join(home, "nothing"));
  expect(await read(dir, "HEAD")).toEqual(failed("resolve", /git was not found/));
  script(join(home, "bin/git"), "echo 'fatal: the disk is on fire' >&2; exit 128");
  vi.stubEnv("PATH", `${join(home, "bin")}:/usr/bin:/bin`);
  expect(await read(dir, "HEAD")).toEqual(failed("resolve", /fatal: the disk is on fire/));
});

test("[PRM15] in a commit a link, a directory and a submodule are no files", async () => {
  const repository = freshRepository({ "texts/real.json": text("real") });
  const { dir } = repository;
  mkdirSync(join(dir, "prompts/packs"), { recursive: true });
  symlinkSync("../../texts/real.json", join(dir, "prompts/packs/link.json"));
  symlinkSync("texts", join(dir, "linked"));
  const index = { schema_version: 1, prompt_packs: { through: "linked/real.json" } };
  repository.commit({
    "prompts/packs/directory.json/x": "x",
    "agent.workspace.json": JSON.stringify(index),
  });
  repository.git("add", "prompts", "linked");
  repository.git(
    "update-index",
    "--add",
    "--cacheinfo",
    `160000,${repository.first},prompts/packs/module.json`,
  );
  repository.git("commit", "-q", "-m", "links");
  expect(await read(dir, "HEAD", "link")).toEqual(failed("read", /link\.json is a link/));
  expect(await read(dir, "HEAD", "directory")).toEqual(failed("read", /is not a regular file/));
  expect(await read(dir, "HEAD", "module")).toEqual(failed("read", /is not a regular file/));
  expect(await read(dir, "HEAD", "through")).toEqual(failed("read", /There is no file linked\/real\.json/));
});

test("[PRM15] a file of a commit has at most 1 MiB, and an executable one is a file", async () => {
  const full = JSON.stringify(message("x".repeat(1024 * 1024 - JSON.stringify(message("")).length)));
  const repository = freshRepository({ [PACK]: full, "prompts/packs/more.json": `${full} ` });
  repository.git("update-index", "--chmod=+x", PACK);
  repository.git("commit", "-q", "-m", "executable");
  expect(await read(repository.dir, "HEAD")).toMatchObject({ content: full });
  expect(await read(repository.dir, "HEAD", "more")).toEqual(
    failed("read", /more\.json is larger than 1 MiB/),
  );
});

test("[PRM16] paths of a commit's index are held to the same rules", async () => {
  const paths = {
    up: "../x.json",
    absolute: "/x.json",
    git: ".git/config",
    magic: ":(top)x.json",
    dash: "-x.json",
  };
  const index = JSON.stringify({ schema_version: 1, prompt_packs: paths });
  const repository = freshRepository({
    "sub/agent.workspace.json": index,
    "x.json": text("top"),
    "sub/-x.json": text("dash"),
  });
  const odd = ":(top,glob)*.json";
  repository.commit({ "agent.workspace.json": JSON.stringify({ schema_version: 1, prompt_packs: { odd } }) });
  expect(await read(repository.dir, "HEAD", "odd")).toEqual(failed("read", /There is no file/));
  repository.write({ [odd]: text("odd") });
  repository.git("add", ".");
  repository.git("commit", "-q", "-m", "odd");
  expect(await read(repository.dir, "HEAD", "odd")).toMatchObject({ content: text("odd") });
  const sub = join(repository.dir, "sub");
  expect(await read(sub, "HEAD", "up")).toEqual(failed("resolve", /leads out/));
  expect(await read(sub, "HEAD", "absolute")).toEqual(failed("resolve", /is not a relative path/));
  expect(await read(sub, "HEAD", "git")).toEqual(failed("resolve", /\.git or \.agent/));
  expect(await read(sub, "HEAD", "magic")).toEqual(failed("read", /There is no file :\(top\)x\.json/));
  expect(await read(sub, "HEAD", "dash")).toMatchObject({ content: text("dash") });
});
