import { cpSync, existsSync, readFileSync, realpathSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { startGateway, type TestGateway } from "../support/gateway.js";
import { ownGit, threadDir, WAIT, Workshop } from "../support/repository.js";
import { sqliteStore, temporaryDirectory } from "../support/stores.js";

let gateway: TestGateway;
beforeAll(() => {
  ownGit();
});
beforeEach(async () => {
  gateway = await startGateway(sqliteStore);
});
afterEach(() => gateway?.stop());

async function withThread() {
  const shop = await Workshop.open(gateway);
  const made = await shop.startInWorktree();
  await shop.say(made.id, "the last words");
  return { shop, ...made };
}

/** The thread once the gateway has seen that its worktree is gone. */
const readOnly = (shop: Workshop, id: string) =>
  vi.waitFor(async () => {
    const thread = await shop.get(id);
    expect(thread.read_only).toEqual(expect.any(String));
    return thread;
  }, WAIT);

test("[WTG10] `git worktree remove` by hand leaves the thread listed, and everything else goes on", async () => {
  const { shop, id, path } = await withThread();
  const other = await shop.startInWorktree();
  shop.repository.git("worktree", "remove", path);
  const thread = await readOnly(shop, id);
  expect(thread).toMatchObject({ title: "the last words", message_count: 1 });
  expect(thread.read_only).toContain("gone");
  const changed = shop.wire.notifications("thread/changed").at(-1)?.params.thread;
  expect(changed).toEqual(thread);
  await shop.say(other.id, "still here");
  expect(await shop.texts(other.id)).toEqual(["still here"]);
  expect((await shop.ids()).sort()).toEqual([id, other.id].sort());
});

test("[WTG10] whatever needs the files of a thread says that they are missing and where they were", async () => {
  const { shop, id, path } = await withThread();
  rmSync(path, { recursive: true });
  await readOnly(shop, id);
  const missing = { kind: "thread.files_missing", thread_id: id, path: threadDir(path, id) };
  const message = { role: "user", content: "more" };
  const calls: [string, object][] = [
    ["thread/messages", {}],
    ["message/append", { message }],
    ["thread/clear", {}],
    ["thread/export", {}],
    ["thread/update", { title: "another" }],
  ];
  for (const [method, params] of calls) {
    expect((await shop.wire.error(method, { thread_id: id, ...params })).data, method).toEqual(missing);
  }
  const query = { workspace_id: shop.workspace_id, query: "words" };
  expect((await shop.wire.result("thread/search", query)).data).toEqual([]);
  expect((await shop.reindex()).threads).toBe(1);
  expect(await shop.ids()).toEqual([id]);
  expect(existsSync(path)).toBe(false);
});

test("[THR120] a worktree whose threads can't be read keeps them, and no copy takes them over", async () => {
  const { shop, id, path } = await withThread();
  const before = await shop.get(id);
  const threads = join(path, ".agent", "threads");
  cpSync(threadDir(path, id), threadDir(shop.root, id), { recursive: true });
  renameSync(threads, `${threads}.away`);
  symlinkSync(threads, threads);
  expect((await shop.reindex()).problems).toEqual([
    { file: threads, message: expect.stringContaining(threads) },
  ]);
  expect(await shop.get(id)).toEqual(before);
  rmSync(threads);
  renameSync(`${threads}.away`, threads);
  expect((await shop.reindex()).problems).toEqual([]);
  expect(await shop.texts(id)).toEqual(["the last words"]);
});

test("[WTG10] a worktree that goes slowly, its threads first, is no deletion of them", async () => {
  const { shop, id, path } = await withThread();
  rmSync(join(path, ".agent"), { recursive: true });
  const thread = await readOnly(shop, id);
  expect(thread.message_count).toBe(1);
  rmSync(path, { recursive: true });
  await shop.reindex();
  expect(await shop.ids()).toEqual([id]);
});

test("[WTG10] a thread whose own directory is deleted in a worktree leaves the lists, as in the project", async () => {
  const { shop, id, path } = await withThread();
  rmSync(threadDir(path, id), { recursive: true });
  await vi.waitFor(async () => expect(await shop.ids()).toEqual([]), WAIT);
});

test("[WTG10] a worktree that is gone when the gateway starts is noticed, and again without harm", async () => {
  const { shop, id, path } = await withThread();
  await gateway.app.stop();
  rmSync(path, { recursive: true });
  gateway = await startGateway({ name: "sqlite", fresh: async () => gateway.place });
  const again = await shop.on(gateway);
  await readOnly(again, id);
  gateway = await gateway.restart();
  const third = await shop.on(gateway);
  expect(await third.get(id)).toMatchObject({ read_only: expect.any(String), message_count: 1 });
  expect((await third.start({})).id).not.toBe(id);
});

test("[WTG10] a worktree that comes back as it was makes its thread writable again", async () => {
  const { shop: before, id, path } = await withThread();
  gateway = await gateway.restart();
  let shop = await before.on(gateway);
  expect(await shop.texts(id)).toEqual(["the last words"]);
  const away = join(realpathSync(temporaryDirectory()), "away");
  renameSync(path, away);
  await shop.reindex();
  await readOnly(shop, id);
  renameSync(away, path);
  gateway = await gateway.restart();
  shop = await shop.on(gateway);
  await vi.waitFor(async () => expect(await shop.get(id)).not.toHaveProperty("read_only"), WAIT);
  await shop.say(id, "back again");
  expect(await shop.texts(id)).toEqual(["the last words", "back again"]);
});

test("[WTG10] a thread whose worktree is gone can be deleted; what is not there can't be brought back", async () => {
  const { shop, id, path } = await withThread();
  rmSync(path, { recursive: true });
  expect(await shop.wire.result("thread/delete", { thread_id: id })).toEqual({ deleted: true });
  expect(await shop.ids()).toEqual([]);
  expect(await shop.wire.error("thread/undelete", { thread_id: id })).toMatchObject({
    data: { kind: "thread.files_missing" },
  });
  gateway = await gateway.restart();
  expect(await (await shop.on(gateway)).ids()).toEqual([]);
});

test("[WTG10] the entry git keeps of a worktree deleted by hand can be removed; the thread stays listed", async () => {
  const { shop, id, path, branch } = await withThread();
  rmSync(path, { recursive: true });
  await readOnly(shop, id);
  const { thread } = await shop.wire.result("thread/worktree/remove", { thread_id: id });
  expect(thread).toMatchObject({ id, message_count: 1, read_only: expect.any(String) });
  expect(shop.repository.git("worktree", "list").split("\n")).toHaveLength(1);
  expect(shop.repository.git("branch", "--list", branch)).toBe("");
  await shop.reindex();
  expect(await shop.ids()).toEqual([id]);
});

test("[WTG10] a repository that is away says nothing about its threads: they are there when it is back", async () => {
  const { shop, id, path } = await withThread();
  const away = `${shop.root}-away`;
  renameSync(shop.root, away);
  const error = await shop.wire.error("thread/start", {
    workspace_id: shop.workspace_id,
    use_worktree: true,
  });
  expect(error.data).toMatchObject({ kind: "workspace.directory_missing" });
  expect(await shop.ids()).toEqual([id]);
  gateway = await gateway.restart();
  renameSync(away, shop.root);
  const again = await shop.on(gateway);
  expect(await again.texts(id)).toEqual(["the last words"]);
  expect(readFileSync(threadDir(path, id, "messages.jsonl"), "utf8")).toContain("the last words");
});
