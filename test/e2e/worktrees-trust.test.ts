import { existsSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { startGateway, type TestGateway } from "../support/gateway.js";
import { freshRepository, ownGit, script, sha256Of, Workshop } from "../support/repository.js";
import { sqliteStore, temporaryDirectory } from "../support/stores.js";

let gateway: TestGateway;
let marks: string;
beforeAll(() => {
  ownGit();
});
beforeEach(async () => {
  gateway = await startGateway(sqliteStore);
  marks = realpathSync(temporaryDirectory());
});
afterEach(() => gateway?.stop());

const touching = (name: string) => ({ postSetupCommands: [{ command: `touch ${marks}/${name}` }] });
const ran = (name: string) => existsSync(join(marks, name));
const configText = (shop: Workshop) => readFileSync(join(shop.root, ".agent/config.json"), "utf8");

/** Starts a thread and answers how its set-up ended. */
async function statusOfNew(shop: Workshop): Promise<string | undefined> {
  const { id } = await shop.startInWorktree();
  return (await shop.setUp(id)).setup?.status;
}

const trustParams = (shop: Workshop, content_sha256: string) => ({
  workspace_id: shop.workspace_id,
  kind: "worktree_hooks" as const,
  content_sha256,
});

test("[WTG13] hooks nobody trusted don't run: the thread starts, works, and says what it needs", async () => {
  const shop = await Workshop.open(gateway, freshRepository({ "shared.txt": "s" }));
  const hooks = { symlinks: [{ source: "shared.txt", target: "l" }], ...touching("a"), initialPrompt: "Go" };
  shop.configure({ worktreeHooks: hooks });
  const { thread, id, path } = await shop.startInWorktree();
  const content_sha256 = sha256Of(JSON.stringify(hooks));
  expect(thread.setup).toEqual({ status: "untrusted", content_sha256 });
  await shop.wire.settled();
  expect(shop.wire.notifications("thread/setup").map(({ params }) => params)).toEqual([
    {
      workspace_id: shop.workspace_id,
      thread_id: id,
      status: "untrusted",
      reason: expect.stringContaining("not trusted"),
      content_sha256,
      seq: expect.any(Number),
    },
  ]);
  expect(ran("a")).toBe(false);
  expect(existsSync(join(path, "l"))).toBe(false);
  await shop.say(id, "works all the same");
  expect(await shop.get(id)).toMatchObject({ message_count: 1, setup: { status: "untrusted" } });
  expect((await shop.start({ use_worktree: false })).setup).toBeUndefined();
});

test("[WTG13] what would run is shown word for word, and a project without hooks shows nothing", async () => {
  const shop = await Workshop.open(gateway);
  expect(await shop.hooks()).toBeUndefined();
  shop.configure({ worktreeHooks: { symlinks: [], postSetupCommands: [], initialPrompt: "" } });
  expect(await shop.hooks()).toBeUndefined();
  expect((await shop.start()).setup).toBeUndefined();
  const hooks = { unknown: { kept: true }, ...touching("a") };
  shop.configure({ worktreeHooks: hooks });
  const shown = await shop.hooks();
  expect(JSON.parse(shown?.content ?? "")).toEqual(hooks);
  expect(shown).toMatchObject({ trusted: false, content_sha256: sha256Of(shown?.content ?? "") });
});

test("[WTG14] only the hash of what is there now can be trusted", async () => {
  const shop = await Workshop.open(gateway);
  const none = await shop.wire.error("workspace/trust", trustParams(shop, sha256Of("nothing")));
  expect(none).toMatchObject({ code: -32600, data: { kind: "trust.content_changed" } });
  shop.configure({ worktreeHooks: touching("seen") });
  const seen = (await shop.hooks())?.content_sha256 as string;
  shop.configure({ worktreeHooks: touching("swapped") });
  const error = await shop.wire.error("workspace/trust", trustParams(shop, seen));
  expect(error).toMatchObject({
    code: -32600,
    data: {
      kind: "trust.content_changed",
      trust_kind: "worktree_hooks",
      content_sha256: (await shop.hooks())?.content_sha256,
    },
  });
  expect(await statusOfNew(shop)).toBe("untrusted");
  expect(ran("seen") || ran("swapped")).toBe(false);
  for (const hash of ["", "0".repeat(63), seen.toUpperCase()]) {
    expect(await shop.wire.error("workspace/trust", trustParams(shop, hash))).toMatchObject({ code: -32602 });
  }
});

test("[WTG14] changed hooks need trust again; the earlier ones are trusted still", async () => {
  const shop = await Workshop.open(gateway);
  await shop.trusted(touching("one"));
  expect(await statusOfNew(shop)).toBe("done");
  expect(ran("one")).toBe(true);
  shop.configure({ worktreeHooks: touching("two") });
  expect(await statusOfNew(shop)).toBe("untrusted");
  expect(ran("two")).toBe(false);
  rmSync(join(marks, "one"));
  shop.configure({ worktreeHooks: touching("one") });
  expect(await statusOfNew(shop)).toBe("done");
  expect(ran("one")).toBe(true);
});

test("[WTG14] with the hooks' own hash trusted, the rest of config.json may change", async () => {
  const shop = await Workshop.open(gateway);
  await shop.trusted(touching("a"));
  shop.configure({ defaults: { agentId: "demo" }, extra: 1, worktreeHooks: touching("a") });
  expect(await shop.hooks()).toMatchObject({ trusted: true });
  expect(await statusOfNew(shop)).toBe("done");
  expect(ran("a")).toBe(true);
});

test("[WTG14] the hash of the whole config.json is accepted, for exactly those bytes", async () => {
  const shop = await Workshop.open(gateway);
  shop.configure({ worktreeHooks: touching("a") });
  await shop.trust(sha256Of(configText(shop)));
  expect(await shop.hooks()).toMatchObject({ trusted: true });
  expect(await statusOfNew(shop)).toBe("done");
  expect(ran("a")).toBe(true);
  rmSync(join(marks, "a"));
  shop.configure(`${configText(shop)}\n`);
  expect(await shop.hooks()).toMatchObject({ trusted: false });
  expect(await statusOfNew(shop)).toBe("untrusted");
  expect(ran("a")).toBe(false);
});

test("[WTG14] trust is one workspace's: the same hooks elsewhere are not trusted with it", async () => {
  const shop = await Workshop.open(gateway);
  await shop.trusted(touching("a"));
  const other = await Workshop.open(gateway);
  other.configure({ worktreeHooks: touching("a") });
  expect(await other.hooks()).toMatchObject({ trusted: false });
  expect(await statusOfNew(other)).toBe("untrusted");
  expect(ran("a")).toBe(false);
});

test("[WTG14] trust outlasts a restart and leaves nothing in the repository", async () => {
  let shop = await Workshop.open(gateway);
  shop.configure({ worktreeHooks: touching("a") });
  const before = configText(shop);
  await shop.trust();
  await shop.trust();
  expect(configText(shop)).toBe(before);
  expect(shop.repository.git("status", "--porcelain", "--untracked-files=all")).toBe("?? .agent/config.json");
  gateway = await gateway.restart();
  shop = await shop.on(gateway);
  expect(await shop.hooks()).toMatchObject({ trusted: true });
  expect(await statusOfNew(shop)).toBe("done");
});

test("[WTG14] hooks that were changed while git made the worktree don't run on another's trust", async () => {
  const shop = await Workshop.open(gateway);
  shop.configure({ worktreeHooks: touching("good") });
  const good = join(realpathSync(temporaryDirectory()), "good.json");
  writeFileSync(good, configText(shop));
  await shop.trust(sha256Of(configText(shop)));
  shop.configure({ worktreeHooks: touching("evil") });
  script(join(shop.root, ".git/hooks/post-checkout"), `cp ${good} ${shop.root}/.agent/config.json`);
  const status = await statusOfNew(shop);
  expect(ran("evil")).toBe(false);
  expect(status).toBe("untrusted");
});

test("[WTG22] hooks trusted with a thread's id run at once in its worktree, once", async () => {
  const shop = await Workshop.open(gateway, freshRepository({ "shared.txt": "s" }));
  shop.configure({ worktreeHooks: { symlinks: [{ source: "shared.txt", target: "l" }], ...touching("a") } });
  const { thread, id, path } = await shop.startInWorktree();
  const trust = trustParams(shop, thread.setup?.content_sha256 as string);
  const plain = await shop.start({ use_worktree: false });
  const refused = await shop.wire.error("workspace/trust", { ...trust, thread_id: plain.id });
  expect(refused.data.kind).toBe("thread.no_worktree");
  expect(await shop.wire.result("workspace/trust", { ...trust, thread_id: id })).toEqual({ trusted: true });
  const { setup } = await shop.setUp(id);
  expect(setup).toMatchObject({ status: "done", steps: [{ status: "done" }, { status: "done" }] });
  expect(ran("a")).toBe(true);
  expect(readFileSync(join(path, "l"), "utf8")).toBe("s");
  rmSync(join(marks, "a"));
  await shop.wire.result("workspace/trust", { ...trust, thread_id: id });
  await shop.wire.settled();
  expect(await shop.get(id)).toMatchObject({ setup: { status: "done" } });
  expect(ran("a")).toBe(false);
});
