import { existsSync, readFileSync, realpathSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { startGateway, type TestGateway } from "../support/gateway.js";
import { freshRepository, ownGit, repositoryAt, script, Workshop } from "../support/repository.js";
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

const inWorktree = (shop: Workshop) => ({ workspace_id: shop.workspace_id, use_worktree: true });

/** Refused so, with nothing left of the attempt, and nobody told of a thread. */
async function refused(shop: Workshop, params: object = inWorktree(shop)) {
  const before = shop.traces(gateway.place.dataDir);
  const error = await shop.wire.error("thread/start", params);
  expect(shop.traces(gateway.place.dataDir)).toEqual(before);
  expect(await shop.ids()).toEqual([]);
  await shop.reindex();
  expect(await shop.ids()).toEqual([]);
  const told = (await shop.wire.settled()).map(({ method }) => method);
  expect(told.filter((method) => method !== "workspace/indexing")).toEqual([]);
  return error;
}

test("[WTG6] outside git, and in a workspace without a project, a worktree is refused with advice", async () => {
  const dir = realpathSync(temporaryDirectory());
  const wire = await gateway.wire();
  const { workspace } = await wire.result("workspace/create", { root_path: dir });
  for (const workspace_id of [workspace.id, gateway.home]) {
    const error = await wire.error("thread/start", { workspace_id, use_worktree: true });
    expect(error).toMatchObject({ code: -32600, data: { kind: "atsf.not_a_repository" } });
    expect(error.message).toContain("git init");
    expect((await wire.result("thread/list", { workspace_id })).data).toEqual([]);
  }
  expect(existsSync(join(dir, ".agent"))).toBe(false);
});

test("[WTG6] before the first commit a worktree is refused, and a thread in the project is not", async () => {
  const repository = repositoryAt(realpathSync(temporaryDirectory()));
  repository.git("init", "-q");
  const shop = await Workshop.open(gateway, repository);
  const error = await shop.wire.error("thread/start", inWorktree(shop));
  expect(error).toMatchObject({ code: -32600, data: { kind: "atsf.no_commits" } });
  expect(existsSync(join(shop.root, ".agent"))).toBe(false);
  expect((await shop.start({})).worktree).toBeUndefined();
});

test("[WTG6] a git that fails is told in its own words, and nothing of the attempt is left", async () => {
  const shop = await Workshop.open(gateway);
  script(join(shop.root, ".git/hooks/post-checkout"), "echo the hook says no >&2; exit 1");
  const error = await refused(shop);
  expect(error).toMatchObject({ code: -32600, data: { kind: "atsf.git_failed" } });
  expect(error.message).toContain("the hook says no");
});

test("[WTG6] a git that is not there is told from one that fails", async () => {
  const shop = await Workshop.open(gateway);
  vi.stubEnv("PATH", temporaryDirectory());
  const error = await shop.wire.error("thread/start", inWorktree(shop));
  expect(error).toMatchObject({ code: -32600, data: { kind: "atsf.git_missing" } });
  expect(await shop.ids()).toEqual([]);
});

test("[WTG6] a worktree in which no thread can be kept is taken away again", async () => {
  const file = await Workshop.open(gateway, freshRepository({ ".agent": "a file" }));
  expect(await refused(file)).toMatchObject({ code: -32600, data: { kind: "atsf.invalid_file" } });
  const repository = freshRepository();
  const outside = realpathSync(temporaryDirectory());
  symlinkSync(outside, join(repository.dir, ".agent"));
  repository.git("add", ".agent");
  repository.git("commit", "-q", "-m", "a link");
  const link = await Workshop.open(gateway, repository);
  const error = await link.wire.error("thread/start", inWorktree(link));
  expect(error.data).toMatchObject({ kind: expect.stringMatching(/^atsf\./) });
  expect(existsSync(join(outside, "threads"))).toBe(false);
  expect(repository.git("worktree", "list").split("\n")).toHaveLength(1);
});

test("[WTG6] threads that can't be written leave no worktree behind", async () => {
  const shop = await Workshop.open(gateway);
  // Root may write anywhere, so the place is taken by a file instead of being forbidden.
  script(
    join(shop.root, ".git/hooks/post-checkout"),
    "mkdir -p .agent; printf '*' > .agent/.gitignore; echo x > .agent/threads; chmod 444 .agent/threads",
  );
  const error = await refused(shop);
  expect(error.data).toMatchObject({ kind: expect.stringMatching(/^atsf\./) });
});

test("[WTG6] a folder that does not exist is refused before git is asked for anything", async () => {
  const shop = await Workshop.open(gateway);
  const folder_id = "fld_01J00000000000000000000000";
  expect(await refused(shop, { ...inWorktree(shop), folder_id })).toMatchObject({
    data: { kind: "folder.not_found" },
  });
});

test("[WTG6] a configuration that can't be read starts no thread, is left as it is and told of", async () => {
  const shop = await Workshop.open(gateway);
  const broken = '{"specVersion": "1.1", "defaults": {';
  shop.configure(broken);
  expect(await refused(shop)).toMatchObject({ code: -32600, data: { kind: "atsf.invalid_file" } });
  expect(await refused(shop, { workspace_id: shop.workspace_id })).toMatchObject({
    data: { kind: "atsf.invalid_file" },
  });
  expect(readFileSync(join(shop.root, ".agent/config.json"), "utf8")).toBe(broken);
  const told = await shop.wire.result("workspace/get", { workspace_id: shop.workspace_id });
  expect(told.trust).toBeUndefined();
  expect(told.warnings?.[0]).toContain("config.json");
});

test("[WTG6] a configuration of a later major version is refused, and its hooks are neither shown nor trusted", async () => {
  const shop = await Workshop.open(gateway);
  const later = { specVersion: "2.0", worktreeHooks: { postSetupCommands: [{ command: "touch ran" }] } };
  shop.configure(JSON.stringify(later));
  expect(await refused(shop)).toMatchObject({ code: -32600, data: { kind: "atsf.version_unsupported" } });
  const told = await shop.wire.result("workspace/get", { workspace_id: shop.workspace_id });
  expect(told.trust).toBeUndefined();
  expect(told.warnings).toHaveLength(1);
  const params = { workspace_id: shop.workspace_id, kind: "worktree_hooks", content_sha256: "0".repeat(64) };
  expect(await shop.wire.error("workspace/trust", params)).toMatchObject({
    data: { kind: "trust.content_changed" },
  });
});
