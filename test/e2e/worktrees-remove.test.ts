import { appendFileSync, cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { envelopeOf, line, textMessage } from "../atsf/support.js";
import { startGateway, type TestGateway } from "../support/gateway.js";
import { freshRepository, ownGit, repositoryAt, threadDir, WAIT, Workshop } from "../support/repository.js";
import { sqliteStore } from "../support/stores.js";

let gateway: TestGateway;
beforeAll(async () => {
  ownGit();
  gateway = await startGateway(sqliteStore);
});
afterAll(() => gateway?.stop());

async function withThread(files?: Record<string, string>) {
  const shop = await Workshop.open(gateway, freshRepository(files));
  const made = await shop.startInWorktree();
  await shop.say(made.id, "one");
  return { shop, ...made, worktree: repositoryAt(made.path) };
}

const remove = (shop: Workshop, thread_id: string, force?: boolean) =>
  shop.wire.call("thread/worktree/remove", { thread_id, ...(force !== undefined && { force }) });

test("[WTG11] changes and new files are refused with their names, and the worktree stays as it was", async () => {
  const { shop, id, path, worktree } = await withThread();
  worktree.write({ "a.txt": "changed\n", "new.txt": "new" });
  const { error } = await remove(shop, id);
  expect(error).toMatchObject({
    code: -32600,
    data: { kind: "atsf.worktree_uncommitted", path, count: 2 },
  });
  expect(error?.data.files).toEqual(expect.arrayContaining(["a.txt", "new.txt"]));
  expect(error?.message).toContain("force");
  expect(worktree.git("status", "--porcelain")).toBe(" M a.txt\n?? new.txt");
  await shop.say(id, "still here");
  expect(await shop.texts(id)).toEqual(["one", "still here"]);
  expect(existsSync(join(shop.root, ".agent"))).toBe(false);
});

test("[WTG11] new files alone are refused, ignored ones are not", async () => {
  const { shop, id, path, worktree } = await withThread({ ".gitignore": "*.log\n" });
  worktree.write({ "new.txt": "new" });
  expect((await remove(shop, id, false)).error?.data).toMatchObject({
    kind: "atsf.worktree_uncommitted",
    files: ["new.txt"],
  });
  worktree.git("clean", "-fq");
  worktree.write({ "debug.log": "x" });
  expect((await remove(shop, id)).result.thread.id).toBe(id);
  expect(existsSync(path)).toBe(false);
});

test("[WTG11] commits that nobody else has are refused until they are merged or pushed", async () => {
  const { shop, id, path, branch, worktree } = await withThread();
  worktree.commit({ "b.txt": "b" });
  expect((await remove(shop, id)).error).toMatchObject({
    code: -32600,
    data: { kind: "atsf.worktree_unpushed", commits: 1 },
  });
  expect(existsSync(path)).toBe(true);
  shop.repository.git("merge", "-q", branch);
  expect((await remove(shop, id)).result.thread.id).toBe(id);
  expect(shop.repository.git("branch", "--list", branch)).toBe("");
});

test("[WTG11] with force the worktree goes with its changes, and the branch stays for its commits", async () => {
  const { shop, id, path, branch, worktree } = await withThread();
  const commit = worktree.commit({ "b.txt": "b" });
  worktree.write({ "a.txt": "changed\n" });
  const { result } = await remove(shop, id, true);
  expect(result.thread).toMatchObject({ id, message_count: 1 });
  expect(existsSync(path)).toBe(false);
  expect(shop.repository.git("rev-parse", branch)).toBe(commit);
  expect(await shop.texts(id)).toEqual(["one"]);
});

test("[WTG11] a thread without a worktree, a locked worktree and an unknown thread are refused", async () => {
  const { shop, id, path } = await withThread();
  const inProject = await shop.start({});
  expect((await remove(shop, inProject.id, true)).error).toMatchObject({
    code: -32600,
    data: { kind: "thread.no_worktree", thread_id: inProject.id },
  });
  shop.repository.git("worktree", "lock", "--reason", "on a stick", path);
  const { error } = await remove(shop, id, true);
  expect(error?.data).toMatchObject({ kind: "atsf.worktree_locked", reason: "on a stick" });
  shop.repository.git("worktree", "unlock", path);
  expect((await remove(shop, "thr_unknown")).error?.data).toMatchObject({ kind: "thread.not_found" });
  await shop.say(id, "two");
});

test("[WTG11] a worktree is not removed while it is being set up, forced or not", async () => {
  const { shop } = await withThread();
  await shop.trusted({ postSetupCommands: [{ command: "until [ -e go ]; do sleep 0.05; done" }] });
  const { id, path } = await shop.startInWorktree();
  for (const force of [false, true]) {
    expect((await remove(shop, id, force)).error).toMatchObject({
      code: -32600,
      data: { kind: "thread.setting_up", thread_id: id },
    });
  }
  writeFileSync(join(path, "go"), "");
  await shop.setUp(id);
  expect((await remove(shop, id, true)).result.thread.id).toBe(id);
});

test("[WTG12] links that hooks made are no work that would be lost", async () => {
  const { shop } = await withThread({ ".gitignore": "", "deps/x.txt": "x" });
  shop.repository.write({ "local/y.txt": "y" });
  await shop.trusted({ symlinks: [{ source: "local" }, { source: "deps", target: "linked" }] });
  const { id, path } = await shop.startInWorktree();
  expect((await shop.setUp(id)).setup?.status).toBe("done");
  expect((await remove(shop, id)).error).toBeUndefined();
  expect(existsSync(path)).toBe(false);
  expect(existsSync(join(shop.root, "local/y.txt"))).toBe(true);
});

test("[WTG12] every thread of a worktree moves to the project and stays listed", async () => {
  const { shop, id, path } = await withThread();
  mkdirSync(threadDir(path, "guest"), { recursive: true });
  writeFileSync(threadDir(path, "guest", "thread.json"), JSON.stringify(envelopeOf("guest")));
  writeFileSync(
    threadDir(path, "guest", "messages.jsonl"),
    line({
      id: "g",
      role: "user",
      timestamp: "2026-01-01T00:00:00.000Z",
      content: [{ type: "text", text: "g" }],
    }),
  );
  await vi.waitFor(async () => expect(await shop.ids()).toContain("guest"), WAIT);
  expect((await remove(shop, id)).error).toBeUndefined();
  expect((await shop.ids()).sort()).toEqual(["guest", id].sort());
  expect(readdirSync(join(shop.root, ".agent/threads")).sort()).toEqual(["guest", id].sort());
  expect(await shop.texts("guest")).toEqual(["g"]);
  expect(await shop.get("guest")).not.toHaveProperty("read_only");
  expect(shop.wire.notifications("thread/deleted")).toEqual([]);
});

test("[WTG12] a thread that moved to the project is followed there", async () => {
  const { shop, id } = await withThread();
  expect((await remove(shop, id)).error).toBeUndefined();
  // Long enough for whoever watched the worktree to have seen it go.
  await new Promise((resolve) => setTimeout(resolve, 500));
  const theirs = { id: "theirs", role: "user", timestamp: "2026-01-02T00:00:00.000Z" };
  const content = [{ type: "text", text: "from another program" }];
  appendFileSync(threadDir(shop.root, id, "messages.jsonl"), line({ ...theirs, content }));
  await vi.waitFor(() => {
    const told = shop.wire.notifications("message/appended").map(({ params }) => params.message.id);
    expect(told).toContain("theirs");
  }, WAIT);
  expect(await shop.texts(id)).toEqual(["one", "from another program"]);
});

test("[WTG12] a thread whose worktree was removed has none any more, in the index and after reading it anew", async () => {
  const { shop, id } = await withThread();
  const { result } = await remove(shop, id);
  expect(result.thread).not.toHaveProperty("worktree");
  expect((await remove(shop, id)).error?.data).toMatchObject({ kind: "thread.no_worktree" });
  await shop.reindex();
  expect(await shop.get(id)).toEqual(result.thread);
  expect(await shop.texts(id)).toEqual(["one"]);
});

test("[WTG25] an older copy that a removal left is replaced, and the thread goes on with all of it", async () => {
  const { shop, id, path } = await withThread();
  cpSync(threadDir(path, id), threadDir(shop.root, id), { recursive: true });
  await shop.say(id, "since then");
  expect((await remove(shop, id)).error).toBeUndefined();
  expect(existsSync(path)).toBe(false);
  expect(await shop.texts(id)).toEqual(["one", "since then"]);
  await shop.say(id, "and on");
  expect(await shop.texts(id)).toEqual(["one", "since then", "and on"]);
});

test("[WTG26] a copy that a removal left does not bring a deleted thread back; undelete brings back what was deleted", async () => {
  const { shop, id, path } = await withThread();
  cpSync(threadDir(path, id), threadDir(shop.root, id), { recursive: true });
  await shop.say(id, "since then");
  expect((await shop.wire.call("thread/delete", { thread_id: id })).error).toBeUndefined();
  await shop.reindex();
  expect((await shop.wire.call("thread/get", { thread_id: id })).error?.data).toMatchObject({
    kind: "thread.not_found",
  });
  expect((await shop.wire.call("thread/undelete", { thread_id: id })).error).toBeUndefined();
  expect(await shop.texts(id)).toEqual(["one", "since then"]);
  expect(existsSync(threadDir(path, id))).toBe(true);
});

test("[WTG11] a project that has another version of the thread is not overwritten", async () => {
  const { shop, id, path } = await withThread();
  cpSync(threadDir(path, id), threadDir(shop.root, id), { recursive: true });
  appendFileSync(join(threadDir(shop.root, id), "messages.jsonl"), line(textMessage("other", "only there")));
  await shop.say(id, "only in the worktree");
  expect((await remove(shop, id)).error?.data).toMatchObject({
    kind: "atsf.worktree_thread_differs",
    thread_id: id,
  });
  expect(await shop.texts(id)).toEqual(["one", "only in the worktree"]);
  expect(existsSync(path)).toBe(true);
});
