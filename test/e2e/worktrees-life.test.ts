import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { envelopeOf, line } from "../atsf/support.js";
import { startGateway, type TestGateway } from "../support/gateway.js";
import {
  envelopeIn,
  freshRepository,
  ownGit,
  threadDir,
  WAIT,
  Workshop,
  withoutStore,
} from "../support/repository.js";
import { sqliteStore, temporaryDirectory } from "../support/stores.js";

let gateway: TestGateway;
beforeAll(() => {
  ownGit();
});
beforeEach(async () => {
  gateway = await startGateway(sqliteStore);
});
afterEach(() => gateway?.stop());

const said = (id: string, text: string) =>
  line({ id, role: "user", timestamp: "2026-01-02T00:00:00.000Z", content: [{ type: "text", text }] });

/** A thread as another program leaves it. */
function foreign(root: string, id: string, context: object, ...texts: string[]): void {
  mkdirSync(threadDir(root, id), { recursive: true });
  const envelope = envelopeOf(id, { context: { workingDir: root, ...context } });
  writeFileSync(threadDir(root, id, "thread.json"), JSON.stringify(envelope));
  const log = texts.map((text, index) => said(`${id}-${index}`, text)).join("");
  writeFileSync(threadDir(root, id, "messages.jsonl"), log);
}

/** A worktree that was made by hand. */
function byHand(shop: Workshop, name: string): string {
  const path = join(realpathSync(temporaryDirectory()), name);
  shop.repository.git("worktree", "add", "-q", "-b", name, path);
  return path;
}

const SETTLE_MS = 500;
/** Long enough for whoever watches the files to have looked. */
const settle = () => new Promise((resolve) => setTimeout(resolve, SETTLE_MS));

const toldSnippets = (shop: Workshop) =>
  shop.wire.notifications("thread/changed").map(({ params }) => params.thread.last_snippet);

test("[WTG7] messages, search, titles and clearing work on the worktree's files", async () => {
  const shop = await Workshop.open(gateway);
  const { id, path } = await shop.startInWorktree();
  await shop.say(id, "look for the heron");
  expect(await shop.get(id)).toMatchObject({ title: "look for the heron", message_count: 1 });
  const found = await shop.wire.result("thread/search", { workspace_id: shop.workspace_id, query: "heron" });
  expect(found.data).toMatchObject([{ thread_id: id, snippet: "look for the heron" }]);
  await shop.wire.result("thread/update", { thread_id: id, title: "Birds", pinned: true });
  expect(envelopeIn(path, id)).toMatchObject({ title: "Birds", threadId: id });
  const { thread } = await shop.wire.result("thread/clear", { thread_id: id });
  expect(thread).toMatchObject({ message_count: 0, title: "Birds", worktree: { path } });
  expect(await shop.texts(id)).toEqual([]);
  const after = await shop.wire.result("thread/search", { workspace_id: shop.workspace_id, query: "heron" });
  expect(after.data).toEqual([]);
  expect(existsSync(join(shop.root, ".agent"))).toBe(false);
});

test("[WTG7] a message another program appends in a worktree is told of", async () => {
  const shop = await Workshop.open(gateway);
  const { id, path } = await shop.startInWorktree();
  // Nobody has looked at the thread since it was made.
  await new Promise((resolve) => setTimeout(resolve, 300));
  appendFileSync(threadDir(path, id, "messages.jsonl"), said("m2", "theirs"));
  await vi.waitFor(() => {
    const told = shop.wire.notifications("message/appended").map(({ params }) => params.message.id);
    expect(told).toContain("m2");
  }, WAIT);
  expect(await shop.texts(id)).toEqual(["theirs"]);
});

test("[WTG7] deleting a thread leaves its worktree, and undeleting puts the thread back there", async () => {
  const shop = await Workshop.open(gateway);
  const { id, path, branch } = await shop.startInWorktree();
  await shop.say(id, "hello");
  shop.repository.write({});
  writeFileSync(join(path, "work.txt"), "unfinished");
  await shop.wire.result("thread/delete", { thread_id: id });
  expect(await shop.ids()).toEqual([]);
  expect(existsSync(threadDir(path, id))).toBe(false);
  expect(readFileSync(join(path, "work.txt"), "utf8")).toBe("unfinished");
  expect(shop.repository.git("branch", "--list", branch)).toContain(branch);
  await shop.reindex();
  expect(await shop.ids()).toEqual([]);
  const { thread } = await shop.wire.result("thread/undelete", { thread_id: id });
  expect(thread).toMatchObject({ id, worktree: { path, branch }, message_count: 1 });
  expect(existsSync(threadDir(path, id, "thread.json"))).toBe(true);
  expect(await shop.texts(id)).toEqual(["hello"]);
});

test("[WTG7] a deleted thread whose worktree is gone meanwhile comes back in the project", async () => {
  const shop = await Workshop.open(gateway);
  const { id, path } = await shop.startInWorktree();
  await shop.say(id, "hello");
  await shop.wire.result("thread/delete", { thread_id: id });
  shop.repository.git("worktree", "remove", path);
  const { thread } = await shop.wire.result("thread/undelete", { thread_id: id });
  expect(thread).not.toHaveProperty("read_only");
  expect(existsSync(threadDir(shop.root, id, "thread.json"))).toBe(true);
  await shop.say(id, "again");
  expect(await shop.texts(id)).toEqual(["hello", "again"]);
});

test("[WTG7] a worktree thread is exported whole and taken in elsewhere", async () => {
  const shop = await Workshop.open(gateway);
  const { id } = await shop.startInWorktree();
  await shop.say(id, "to go");
  const { archive_base64 = "" } = await shop.wire.result("thread/export", { thread_id: id });
  const other = await Workshop.open(gateway);
  const params = { workspace_id: other.workspace_id, archive_base64 };
  expect((await other.wire.result("thread/import", params)).data).toEqual([
    { thread_id: id, status: "imported" },
  ]);
  expect(await other.texts(id)).toEqual(["to go"]);
  await other.say(id, "on");
  expect(await shop.texts(id)).toEqual(["to go"]);
});

test("[WTG8] a thread that another program keeps in a worktree of its own is found and can be written to", async () => {
  const shop = await Workshop.open(gateway);
  const path = byHand(shop, "theirs");
  foreign(path, "by-hand", { worktree: { path, branch: "theirs" } }, "from elsewhere");
  expect(await shop.reindex()).toMatchObject({ threads: 1, problems: [] });
  expect(await shop.get("by-hand")).toMatchObject({ worktree: { path, branch: "theirs" } });
  await shop.say("by-hand", "answered");
  expect(await shop.texts("by-hand")).toEqual(["from elsewhere", "answered"]);
  expect(readFileSync(threadDir(path, "by-hand", "messages.jsonl"), "utf8")).toContain("answered");
  foreign(path, "later", {}, "seen at once");
  await vi.waitFor(async () => expect(await shop.ids()).toContain("later"), WAIT);
  gateway = await gateway.restart();
  expect((await (await shop.on(gateway)).ids()).sort()).toEqual(["by-hand", "later"]);
});

test("[WTG8] folders, pins and titles of worktree threads outlast the store", async () => {
  let shop = await Workshop.open(gateway);
  const { workspace_id } = shop;
  const { folder } = await shop.wire.result("thread/folder/create", { workspace_id, name: "F" });
  const { id } = await shop.start({ use_worktree: true, folder_id: folder.id, title: "T" });
  await shop.wire.result("thread/update", { thread_id: id, pinned: true });
  const before = await shop.get(id);
  gateway = await withoutStore(gateway, sqliteStore);
  shop = await Workshop.open(gateway, shop.repository);
  const thread = await shop.get(id);
  expect(thread).toMatchObject({ title: "T", pinned_at: before.pinned_at, worktree: before.worktree });
  const tree = await shop.wire.result("thread/tree", { workspace_id: shop.workspace_id });
  expect(tree.folders).toMatchObject([{ id: thread.folder_id, name: "F" }]);
});

test("[WTG8] a worktree that was moved with git takes its threads along", async () => {
  let shop = await Workshop.open(gateway);
  const { id, path } = await shop.startInWorktree();
  await shop.say(id, "before");
  const moved = join(realpathSync(temporaryDirectory()), "moved");
  shop.repository.git("worktree", "move", path, moved);
  gateway = await gateway.restart();
  shop = await shop.on(gateway);
  expect(await shop.texts(id)).toEqual(["before"]);
  await shop.say(id, "after");
  expect(readFileSync(threadDir(moved, id, "messages.jsonl"), "utf8")).toContain("after");
  expect(await shop.get(id)).not.toHaveProperty("read_only");
});

test("[WTG9] of two copies the one that stands in its own worktree counts, whichever came last", async () => {
  const shop = await Workshop.open(gateway);
  const { id, path } = await shop.startInWorktree();
  await shop.say(id, "in the worktree");
  await shop.start({});
  await shop.reindex();
  cpSync(threadDir(path, id), threadDir(shop.root, id), { recursive: true });
  appendFileSync(threadDir(shop.root, id, "messages.jsonl"), said("copy", "in the copy"));
  await settle();
  expect(await shop.texts(id)).toEqual(["in the worktree"]);
  expect(toldSnippets(shop)).not.toContain("in the copy");
  await shop.say(id, "more");
  await shop.reindex();
  expect(await shop.texts(id)).toEqual(["in the worktree", "more"]);
  gateway = await gateway.restart();
  expect(await (await shop.on(gateway)).texts(id)).toEqual(["in the worktree", "more"]);
});

test("[WTG9] a copy in a worktree that is not its own does not count beside the project's", async () => {
  const shop = await Workshop.open(gateway);
  const { id } = await shop.start({});
  await shop.say(id, "in the project");
  const path = byHand(shop, "copied");
  await shop.reindex();
  foreign(path, "other", {}, "makes the place known");
  await shop.reindex();
  cpSync(threadDir(shop.root, id), threadDir(path, id), { recursive: true });
  appendFileSync(threadDir(path, id, "messages.jsonl"), said("copy", "in the copy"));
  await settle();
  expect(await shop.texts(id)).toEqual(["in the project"]);
  expect(toldSnippets(shop)).not.toContain("in the copy");
  await shop.reindex();
  expect(await shop.texts(id)).toEqual(["in the project"]);
});

test("[WTG9] copies of a thread in two worktrees: the one it says it works in", async () => {
  const shop = await Workshop.open(gateway, freshRepository());
  const [one, two] = [byHand(shop, "one"), byHand(shop, "two")];
  const context = { worktree: { path: two, branch: "two" } };
  foreign(one, "twice", context, "in one");
  foreign(two, "twice", context, "in two");
  expect(await shop.reindex()).toMatchObject({ threads: 1 });
  expect(await shop.texts("twice")).toEqual(["in two"]);
});

test("[WTG9] [ARC21] a project taken into its own workspace, threads in worktrees included, changes nothing", async () => {
  const shop = await Workshop.open(gateway);
  const { id, path } = await shop.startInWorktree();
  await shop.say(id, "here");
  const before = await shop.get(id);
  const { data } = await shop.wire.result("thread/import", {
    workspace_id: shop.workspace_id,
    path: shop.root,
  });
  expect(data).toEqual([{ thread_id: id, status: "exists" }]);
  expect(await shop.get(id)).toEqual(before);
  expect(existsSync(threadDir(shop.root, id))).toBe(false);
  expect(existsSync(threadDir(path, id))).toBe(true);
});

test("[WTG9] taking in an archive of a worktree's own thread does not replace it", async () => {
  const shop = await Workshop.open(gateway);
  const { id, path } = await shop.startInWorktree();
  await shop.say(id, "archived");
  const { archive_base64 = "" } = await shop.wire.result("thread/export", { thread_id: id });
  await shop.say(id, "since then");
  const { workspace_id } = shop;
  const { data } = await shop.wire.result("thread/import", { workspace_id, archive_base64 });
  expect(await shop.texts(id)).toEqual(["archived", "since then"]);
  expect(data).toMatchObject([{ thread_id: id, status: "exists" }]);
  await shop.say(id, "and on");
  expect(readFileSync(threadDir(path, id, "messages.jsonl"), "utf8")).toContain("and on");
});

test("[WTG8] a workspace bound to another project leaves worktree threads with theirs", async () => {
  const shop = await Workshop.open(gateway);
  const { id } = await shop.startInWorktree();
  const other = freshRepository();
  const { workspace_id } = shop;
  await shop.wire.result("workspace/update", { workspace_id, root_path: other.dir });
  await vi.waitFor(async () => expect(await shop.ids()).toEqual([]), { timeout: 3_000 });
  await shop.wire.result("workspace/update", { workspace_id, root_path: shop.root });
  await vi.waitFor(async () => expect(await shop.ids()).toEqual([id]), WAIT);
});
