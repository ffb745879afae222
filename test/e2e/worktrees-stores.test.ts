import { existsSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { startGateway, type TestGateway } from "../support/gateway.js";
import {
  envelopeIn,
  freshRepository,
  ownGit,
  repositoryAt,
  threadDir,
  WAIT,
  Workshop,
  withoutStore,
} from "../support/repository.js";
import { onEachStore } from "../support/stores.js";

beforeAll(() => {
  ownGit();
});

onEachStore("worktrees", (kind) => {
  let gateway: TestGateway;
  beforeEach(async () => {
    gateway = await startGateway(kind);
  });
  afterEach(() => gateway?.stop());

  test("[WTG1] a thread has a branch, a directory and its files in a worktree, and git sees no change", async () => {
    const shop = await Workshop.open(gateway, freshRepository({ "a.txt": "a", "src/b.txt": "b" }));
    const { git, dir } = shop.repository;
    const { thread, id, path, branch } = await shop.startInWorktree();
    const short = id.slice(-8).toLowerCase();
    const worktrees = join(realpathSync(gateway.place.dataDir), "worktrees");
    expect(thread.worktree).toEqual({
      path: join(worktrees, basename(dir), `thread-${short}`),
      branch: `am-${short}`,
    });
    expect(thread).not.toHaveProperty("setup");
    expect(thread).not.toHaveProperty("read_only");
    expect(envelopeIn(path, id)).toMatchObject({
      threadId: id,
      context: {
        workingDir: path,
        relativeDir: ".",
        gitBranch: "main",
        gitCommit: git("rev-parse", "HEAD"),
        worktree: { path, branch },
      },
    });
    await shop.say(id, "hello");
    const worktree = repositoryAt(path);
    expect(worktree.git("rev-parse", "--abbrev-ref", "HEAD")).toBe(branch);
    expect(readFileSync(join(path, "src/b.txt"), "utf8")).toBe("b");
    expect(worktree.git("status", "--porcelain", "--untracked-files=all")).toBe("");
    expect(git("status", "--porcelain", "--untracked-files=all", "--ignored")).toBe("");
    expect(existsSync(join(dir, ".agent"))).toBe(false);
  });

  test("[WTG8] worktree threads are found after a restart, and after everything the store knew is lost", async () => {
    let shop = await Workshop.open(gateway);
    const { thread, id } = await shop.startInWorktree();
    await shop.say(id, "kept in the worktree");
    const before = await shop.get(id);
    gateway = await gateway.restart();
    shop = await shop.on(gateway);
    expect(await shop.get(id)).toEqual(before);
    expect(await shop.texts(id)).toEqual(["kept in the worktree"]);
    gateway = await withoutStore(gateway, kind);
    shop = await Workshop.open(gateway, shop.repository);
    expect(await shop.ids()).toEqual([id]);
    expect(await shop.get(id)).toEqual({ ...before, workspace_id: shop.workspace_id });
    expect(thread.worktree).toEqual(before.worktree);
    await shop.say(id, "and goes on");
    expect(await shop.texts(id)).toEqual(["kept in the worktree", "and goes on"]);
  });

  test("[WTG10] a worktree that is deleted leaves its thread listed, read-only, until someone deletes it", async () => {
    const shop = await Workshop.open(gateway);
    const { id, path } = await shop.startInWorktree();
    await shop.say(id, "soon gone");
    rmSync(path, { recursive: true });
    const thread = await vi.waitFor(async () => {
      const found = await shop.get(id);
      expect(found.read_only).toContain(path);
      return found;
    }, WAIT);
    expect(thread).toMatchObject({ message_count: 1, last_snippet: "soon gone" });
    expect(await shop.wire.error("thread/messages", { thread_id: id })).toMatchObject({
      data: { kind: "thread.files_missing" },
    });
    expect(await shop.wire.result("thread/delete", { thread_id: id })).toEqual({ deleted: true });
    expect(await shop.ids()).toEqual([]);
  });

  test("[WTG12] without its worktree a thread goes on in the project, with every message", async () => {
    const shop = await Workshop.open(gateway);
    const { id, path, branch } = await shop.startInWorktree();
    await shop.say(id, "one");
    await shop.say(id, "two");
    const { thread } = await shop.wire.result("thread/worktree/remove", { thread_id: id });
    expect(thread).toMatchObject({ id, message_count: 2, last_snippet: "two" });
    expect(thread).not.toHaveProperty("read_only");
    expect(existsSync(path)).toBe(false);
    expect(shop.repository.git("branch", "--list", branch)).toBe("");
    expect(readdirSync(join(shop.root, ".agent/threads"))).toEqual([id]);
    await shop.say(id, "three");
    expect(await shop.texts(id)).toEqual(["one", "two", "three"]);
    expect(existsSync(threadDir(shop.root, id, "messages.jsonl"))).toBe(true);
  });

  test("[WTG13] [WTG14] [WTG15] hooks run once the user has trusted them, and trust outlasts a restart", async () => {
    let shop = await Workshop.open(gateway, freshRepository({ "shared.txt": "s" }));
    const worktreeHooks = {
      symlinks: [{ source: "shared.txt", target: "link.txt" }],
      postSetupCommands: [{ command: "echo ran > ran.txt", label: "running" }],
      initialPrompt: "Begin.",
    };
    shop.configure({ worktreeHooks });
    const refused = await shop.startInWorktree();
    const hooks = await shop.hooks();
    expect(hooks).toEqual({
      kind: "worktree_hooks",
      content_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      trusted: false,
      content: JSON.stringify(worktreeHooks),
    });
    expect(refused.thread.setup).toEqual({ status: "untrusted", content_sha256: hooks?.content_sha256 });
    await shop.trust();
    gateway = await gateway.restart();
    shop = await shop.on(gateway);
    expect(await shop.hooks()).toEqual({ ...hooks, trusted: true });
    const { id, path } = await shop.startInWorktree();
    expect((await shop.setUp(id)).setup).toEqual({
      status: "done",
      steps: [
        { label: "shared.txt -> link.txt", status: "done" },
        { label: "running", status: "done" },
      ],
      initial_prompt: "Begin.",
    });
    expect(readFileSync(join(path, "link.txt"), "utf8")).toBe("s");
    expect(readFileSync(join(path, "ran.txt"), "utf8")).toBe("ran\n");
    expect(existsSync(join(refused.path, "ran.txt"))).toBe(false);
    expect(existsSync(join(refused.path, "link.txt"))).toBe(false);
  });

  test("[WTG20] output no store takes as it is does not keep a set-up from ending", async () => {
    const shop = await Workshop.open(gateway);
    await shop.trusted({
      postSetupCommands: [{ command: "printf 'a\\0b\\377c'", label: "odd \0 \ud800" }],
      initialPrompt: "half \ud800 \0",
    });
    const { id } = await shop.startInWorktree();
    const { setup } = await shop.setUp(id);
    expect(setup?.status).toBe("done");
    expect(setup?.steps?.[0]?.output).toMatch(/^a.b.c$/su);
    await shop.wire.settled();
    expect(shop.wire.notifications("thread/setup").at(-1)?.params.status).toBe("done");
  });
});
