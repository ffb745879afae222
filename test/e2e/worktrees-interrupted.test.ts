import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { pidsIn, runs } from "../atsf/processes.js";
import { startGateway, type TestGateway } from "../support/gateway.js";
import { HeddleProcess } from "../support/process.js";
import { freshRepository, ownGit, WAIT, Workshop } from "../support/repository.js";
import { onEachStore, type StorePlace, sqliteStore, temporaryDirectory } from "../support/stores.js";
import { Wire } from "../support/wire.js";

beforeAll(() => {
  ownGit();
});

/** A set-up that is under way and does not end by itself. */
async function settingUp(gateway: Pick<TestGateway, "wire">) {
  const pids = join(realpathSync(temporaryDirectory()), "pids");
  const shop = await Workshop.open(gateway, freshRepository());
  await shop.trusted({
    postSetupCommands: [
      { command: "touch begun", label: "begins" },
      { command: `sleep 600 & echo $$ $! > ${pids}; wait`, label: "hangs" },
      { command: "touch never" },
    ],
    initialPrompt: "Go on.",
  });
  const made = await shop.startInWorktree();
  const started = await vi.waitFor(() => {
    const found = existsSync(pids) ? pidsIn(pids) : [];
    expect(found).toHaveLength(2);
    return found;
  }, WAIT);
  onTestFinished(() => {
    for (const pid of started.filter(runs)) process.kill(pid, "SIGKILL");
  });
  expect((await shop.get(made.id)).setup).toEqual({ status: "running", initial_prompt: "Go on." });
  return { shop, started, ...made };
}

onEachStore("a stop during a set-up", (kind) => {
  let gateway: TestGateway;
  afterEach(() => gateway?.stop());

  test("[WTG18] ends its processes and leaves the thread usable, with what was done", async () => {
    gateway = await startGateway(kind);
    const { shop, id, path, started } = await settingUp(gateway);
    gateway = await gateway.restart();
    expect(started.filter(runs)).toEqual([]);
    const again = await shop.on(gateway);
    const { setup } = await again.get(id);
    expect(setup).toMatchObject({
      status: "interrupted",
      steps: [
        { label: "begins", status: "done" },
        { label: "hangs", status: "failed", reason: "cancelled" },
        { label: "touch never", status: "skipped", reason: "cancelled" },
      ],
      initial_prompt: "Go on.",
    });
    expect(existsSync(join(path, "begun"))).toBe(true);
    expect(existsSync(join(path, "never"))).toBe(false);
    await again.say(id, "never mind");
    expect(await again.texts(id)).toEqual(["never mind"]);
  });
});

interface Served {
  readonly heddle: HeddleProcess;
  wire(): Promise<Wire>;
}

async function serve(place: StorePlace): Promise<Served> {
  const args = ["serve", "--json", "--port", "0", "--data", place.dataDir, "--store", place.store];
  const heddle = new HeddleProcess(args, { GIT_CONFIG_NOSYSTEM: "1" });
  onTestFinished(() => heddle.end());
  const { url, token } = await heddle.ready();
  const wire = async () => {
    const made = await Wire.open(url, token);
    onTestFinished(() => made.close());
    return made;
  };
  return { heddle, wire };
}

async function freshPlace(): Promise<StorePlace> {
  const place = await sqliteStore.fresh();
  onTestFinished(() => place.remove());
  return place;
}

test("[WTG18] a gateway that is killed says after its restart that the set-up was interrupted", async () => {
  const place = await freshPlace();
  const first = await serve(place);
  const { shop, id, path } = await settingUp(first);
  await shop.say(id, "meanwhile");
  await first.heddle.end();
  const again = await shop.on(await serve(place));
  const thread = await again.setUp(id);
  expect(thread.setup).toEqual({ status: "interrupted", initial_prompt: "Go on." });
  expect(await again.texts(id)).toEqual(["meanwhile"]);
  await again.wire.result("thread/worktree/remove", { thread_id: id, force: true });
  expect(existsSync(path)).toBe(false);
  expect(await again.texts(id)).toEqual(["meanwhile"]);
});

test("[WTG18] a gateway that is asked to end takes the processes of a set-up with it", async () => {
  const place = await freshPlace();
  const served = await serve(place);
  const { id, path, started } = await settingUp(served);
  served.heddle.signal("SIGTERM");
  expect(await served.heddle.exited).toEqual({ code: 0, signal: null });
  expect(started.filter(runs)).toEqual([]);
  expect(existsSync(join(path, "never"))).toBe(false);
  expect(readFileSync(join(path, ".agent/threads", id, "thread.json"), "utf8")).toContain(id);
});

test("[WTG23] what a killed gateway had made of a worktree is taken back by the next one", async () => {
  const place = await freshPlace();
  const repository = freshRepository();
  const first = await serve(place);
  const shop = await Workshop.open(first, repository);
  const kept = await shop.startInWorktree();
  const before = shop.traces(place.dataDir);
  const ended = join(realpathSync(temporaryDirectory()), "ended");
  const hook = join(repository.dir, ".git/hooks/post-checkout");
  writeFileSync(hook, `#!/bin/sh\nsleep 1\ntouch ${ended}\n`, { mode: 0o755 });
  void shop.start().catch(() => {});
  await vi.waitFor(() => expect(shop.traces(place.dataDir).made).not.toEqual(before.made), WAIT);
  await vi.waitFor(() => expect(shop.traces(place.dataDir).listed).not.toBe(before.listed), WAIT);
  await first.heddle.end();
  await vi.waitFor(() => expect(existsSync(ended)).toBe(true), WAIT);
  rmSync(hook);
  const again = await shop.on(await serve(place));
  expect(again.traces(place.dataDir)).toEqual(before);
  expect(await again.ids()).toEqual([kept.id]);
  await vi.waitFor(() => expect(readdirSync(join(place.dataDir, "worktrees/.making"))).toEqual([]), WAIT);
});

test("[WTG23] a note that was cut short, or whose project is gone, is not looked at again", async () => {
  const place = await freshPlace();
  for (const kind of [".making", ".removing"]) {
    const dir = join(place.dataDir, "worktrees", kind);
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, "thr_1.json"), "");
    writeFileSync(join(dir, "thr_2.json.tmp"), "{");
    const gone = { project: join(place.dataDir, "gone"), directory: dir, path: dir, branch: "am-x" };
    writeFileSync(join(dir, "thr_3.json"), JSON.stringify({ ...gone, threadId: "thr_3" }));
  }
  await serve(place);
  for (const kind of [".making", ".removing"])
    await vi.waitFor(() => expect(readdirSync(join(place.dataDir, "worktrees", kind))).toEqual([]), WAIT);
});

test("[WTG24] the branch of a worktree goes with it, also when the gateway is killed in between", async () => {
  const place = await freshPlace();
  const repository = freshRepository();
  const first = await serve(place);
  const shop = await Workshop.open(first, repository);
  const before = repository.git("for-each-ref");
  const { id, path } = await shop.startInWorktree();
  const dir = realpathSync(temporaryDirectory());
  const [began, ended] = [join(dir, "began"), join(dir, "ended")];
  // Git asks it before the branch is deleted. What it asks for is refused, as if git had been killed too.
  const hook = join(repository.dir, ".git/hooks/reference-transaction");
  const refuses = `touch ${began}; sleep 1; touch ${ended}; exit 1`;
  writeFileSync(hook, `#!/bin/sh\n[ "$1" != prepared ] || ! grep -q heads/am- || { ${refuses}; }\n`, {
    mode: 0o755,
  });
  void shop.wire.result("thread/worktree/remove", { thread_id: id }).catch(() => {});
  await vi.waitFor(() => expect(existsSync(began)).toBe(true), WAIT);
  await first.heddle.end();
  await vi.waitFor(() => expect(existsSync(ended)).toBe(true), WAIT);
  rmSync(hook);
  expect(existsSync(path)).toBe(false);
  expect(repository.git("for-each-ref")).not.toBe(before);
  const again = await shop.on(await serve(place));
  await vi.waitFor(() => expect(repository.git("for-each-ref")).toBe(before), WAIT);
  await vi.waitFor(() => expect(readdirSync(join(place.dataDir, "worktrees/.removing"))).toEqual([]), WAIT);
  expect(await again.ids()).toEqual([id]);
});
