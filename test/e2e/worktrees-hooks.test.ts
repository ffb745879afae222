import {
  existsSync,
  lstatSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { pidsIn, runs } from "../atsf/processes.js";
import { startGateway, type TestGateway } from "../support/gateway.js";
import { freshRepository, ownGit, WAIT, Workshop } from "../support/repository.js";
import { sqliteStore, temporaryDirectory } from "../support/stores.js";

let gateway: TestGateway;
let outside: string;
beforeAll(async () => {
  ownGit();
  gateway = await startGateway(sqliteStore);
});
afterAll(() => gateway?.stop());
beforeEach(() => {
  outside = realpathSync(temporaryDirectory());
});

/** The set-up of a thread in a worktree of its own, when it has ended. */
async function setUpWith(hooks: object, files?: Record<string, string>) {
  const shop = await Workshop.open(gateway, freshRepository(files));
  await shop.trusted(hooks);
  const made = await shop.startInWorktree();
  const { setup } = await shop.setUp(made.id);
  return { shop, ...made, setup };
}

const progressOf = (shop: Workshop, id: string) =>
  shop.wire
    .notifications("thread/setup")
    .filter(({ params }) => params.thread_id === id)
    .map(({ params: { status, step, of, label, reason } }) => ({ status, step, of, label, reason }));

test("[WTG15] links, then commands, then the prompt, with progress in order and an end", async () => {
  const { shop, id, path, setup } = await setUpWith(
    {
      symlinks: [{ source: "shared" }, { source: "a.txt", target: "deep/b.txt" }],
      postSetupCommands: [
        { command: "cat shared/x.txt deep/b.txt > seen.txt; pwd > where.txt", label: "first" },
        { command: "cat seen.txt" },
        { command: "exit 3", platforms: ["win32"], label: "elsewhere" },
      ],
      initialPrompt: "Read CONTRIBUTING.md.",
    },
    { "a.txt": "A\n", "shared/x.txt": "X\n", ".gitignore": "x" },
  );
  // `shared` is tracked, so it stands in the worktree already and stays as it is.
  expect(setup).toEqual({
    status: "done",
    steps: [
      { label: "shared", status: "skipped", reason: "shared is there already" },
      { label: "a.txt -> deep/b.txt", status: "done" },
      { label: "first", status: "done" },
      { label: "cat seen.txt", status: "done", output: "X\nA\n" },
      { label: "elsewhere", status: "skipped", reason: expect.stringContaining("not for") },
    ],
    initial_prompt: "Read CONTRIBUTING.md.",
  });
  expect(readlinkSync(join(path, "deep/b.txt"))).toBe(join(shop.root, "a.txt"));
  expect(readFileSync(join(path, "where.txt"), "utf8").trim()).toBe(path);
  expect(lstatSync(join(path, "shared")).isDirectory()).toBe(true);
  await shop.wire.settled();
  const at = (step: number, label: string, reason?: string) => ({
    status: "running",
    step,
    of: 5,
    label,
    reason,
  });
  const plain = (status: string) => ({
    status,
    step: undefined,
    of: undefined,
    label: undefined,
    reason: undefined,
  });
  expect(progressOf(shop, id)).toEqual([
    plain("running"),
    at(1, "shared"),
    at(1, "shared", "skipped"),
    at(2, "a.txt -> deep/b.txt"),
    at(2, "a.txt -> deep/b.txt"),
    at(3, "first"),
    at(3, "first"),
    at(4, "cat seen.txt"),
    at(4, "cat seen.txt"),
    at(5, "elsewhere", "skipped"),
    plain("done"),
  ]);
  const seqs = shop.wire.notifications("thread/setup").map(({ params }) => params.seq);
  expect(seqs).toEqual([...seqs].sort((a, b) => a - b));
});

test("[WTG15] a prompt alone is a set-up too, and is there as soon as the thread is", async () => {
  const shop = await Workshop.open(gateway);
  await shop.trusted({ initialPrompt: "Begin." });
  const { thread, id } = await shop.startInWorktree();
  expect(thread.setup).toEqual({ status: "running", initial_prompt: "Begin." });
  expect((await shop.setUp(id)).setup).toEqual({ status: "done", steps: [], initial_prompt: "Begin." });
});

test("[WTG15] sources and targets are relative to the repository's and the worktree's root", async () => {
  const repository = freshRepository({ "packages/app/b.txt": "b" });
  repository.write({ ".env": "root", "packages/app/.env": "app" });
  const shop = await Workshop.open(gateway, repository, "packages/app");
  await shop.trusted({
    symlinks: [{ source: ".env" }, { source: "packages/app/.env" }],
    postSetupCommands: [{ command: "pwd" }],
  });
  const { id, path } = await shop.startInWorktree();
  expect((await shop.setUp(id)).setup?.steps).toEqual([
    { label: ".env", status: "done" },
    { label: "packages/app/.env", status: "done" },
    { label: "pwd", status: "done", output: `${path}\n` },
  ]);
  expect(readFileSync(join(path, ".env"), "utf8")).toBe("root");
  expect(readFileSync(join(path, "packages/app/.env"), "utf8")).toBe("app");
});

test("[WTG16] a command that fails skips the rest, and the thread can be used all the same", async () => {
  const { shop, id, path, setup } = await setUpWith({
    postSetupCommands: [
      { command: "echo fine; exit 4", continueOnError: true },
      { command: "echo broken >&2; exit 3", label: "breaks" },
      { command: "touch never" },
    ],
    initialPrompt: "Go on.",
  });
  expect(setup).toMatchObject({
    status: "failed",
    steps: [
      { status: "failed", reason: "exit code 4", output: "fine\n" },
      { label: "breaks", status: "failed", reason: "exit code 3", output: "broken\n" },
      { label: "touch never", status: "skipped", reason: expect.stringContaining("breaks") },
    ],
    initial_prompt: "Go on.",
  });
  expect(existsSync(join(path, "never"))).toBe(false);
  await shop.say(id, "never mind");
  expect(await shop.texts(id)).toEqual(["never mind"]);
  expect(await shop.get(id)).toMatchObject({ status: "idle", setup: { status: "failed" } });
});

test("[WTG17] a command that takes too long is ended with all it started", async () => {
  const pids = join(outside, "pids");
  const { setup } = await setUpWith({
    postSetupCommands: [
      { command: `echo $$ > ${pids}; sleep 600 & echo $! >> ${pids}; wait`, timeout: 500, label: "long" },
      { command: "touch never" },
    ],
  });
  expect(setup).toMatchObject({
    status: "failed",
    steps: [
      { label: "long", status: "timed_out", reason: expect.stringContaining("500") },
      { label: "touch never", status: "skipped" },
    ],
  });
  const started = pidsIn(pids);
  expect(started).toHaveLength(2);
  expect(started.filter(runs)).toEqual([]);
});

test("[WTG17] what a command leaves in the background ends with it", async () => {
  const pids = join(outside, "pids");
  const { setup } = await setUpWith({
    postSetupCommands: [{ command: `sleep 600 >/dev/null 2>&1 & echo $! > ${pids}` }],
  });
  expect(setup?.status).toBe("done");
  expect(pidsIn(pids).filter(runs)).toEqual([]);
});

test("[WTG19] thread/start answers before the set-up ends, and the thread can be used meanwhile", async () => {
  const shop = await Workshop.open(gateway);
  await shop.trusted({ postSetupCommands: [{ command: "until [ -e go ]; do sleep 0.05; done" }] });
  const { thread, id, path } = await shop.startInWorktree();
  expect(thread.setup).toEqual({ status: "running" });
  await shop.say(id, "meanwhile");
  expect(await shop.get(id)).toMatchObject({ message_count: 1, setup: { status: "running" } });
  writeFileSync(join(path, "go"), "");
  expect((await shop.setUp(id)).setup?.status).toBe("done");
  expect(await shop.texts(id)).toEqual(["meanwhile"]);
});

test("[WTG19] a thread deleted during its set-up comes back with the set-up's end", async () => {
  const shop = await Workshop.open(gateway);
  await shop.trusted({
    postSetupCommands: [{ command: "until [ -e go ]; do sleep 0.05; done; touch ended" }],
  });
  const { id, path } = await shop.startInWorktree();
  await shop.wire.result("thread/delete", { thread_id: id });
  writeFileSync(join(path, "go"), "");
  await vi.waitFor(() => expect(existsSync(join(path, "ended"))).toBe(true), WAIT);
  await new Promise((resolve) => setTimeout(resolve, 500));
  const { thread } = await shop.wire.result("thread/undelete", { thread_id: id });
  expect(thread.setup?.status).toBe("done");
  expect(shop.wire.notifications("thread/deleted")).toHaveLength(1);
});

test("[WTG20] a command that prints without end is drained, and its last words are kept", async () => {
  const { setup, shop } = await setUpWith({
    postSetupCommands: [
      { command: "yes 0123456789abcdef | head -c 30000000; echo; echo the end", label: "loud" },
    ],
  });
  expect(setup?.status).toBe("done");
  const output = setup?.steps?.[0]?.output ?? "";
  expect(output.endsWith("the end\n")).toBe(true);
  expect(output.length).toBeLessThanOrEqual(4096);
  await shop.wire.settled();
  const largest = Math.max(
    ...shop.wire.notifications("thread/setup").map(({ params }) => params.output?.length ?? 0),
  );
  expect(largest).toBeLessThanOrEqual(16 * 1024);
});

test("[WTG20] links that lead out of repository or worktree are refused, and the other steps go on", async () => {
  const repository = freshRepository({ "a.txt": "a" });
  writeFileSync(join(outside, "secret.txt"), "secret");
  symlinkSync(outside, join(repository.dir, "way-out"));
  repository.git("add", "way-out");
  repository.git("commit", "-q", "-m", "a link that leads out");
  const shop = await Workshop.open(gateway, repository);
  await shop.trusted({
    symlinks: [
      { source: "../../etc" },
      { source: join(outside, "secret.txt"), target: "s" },
      { source: "a.txt", target: "../escaped.txt" },
      { source: "a.txt", target: join(outside, "escaped.txt") },
      { source: "a.txt", target: "way-out/escaped.txt" },
      { source: "way-out/secret.txt", target: "secret.txt" },
      { source: "nothing.txt" },
      { source: "a.txt", target: "fine.txt" },
    ],
    postSetupCommands: [{ command: "cat fine.txt", label: "goes on" }],
  });
  const { id, path } = await shop.startInWorktree();
  const { setup } = await shop.setUp(id);
  const ends = setup?.steps?.map(({ status }) => status);
  expect(ends).toEqual([...Array(7).fill("failed"), "done", "done"]);
  expect(setup?.status).toBe("failed");
  expect(existsSync(join(outside, "escaped.txt"))).toBe(false);
  expect(existsSync(join(path, "../escaped.txt"))).toBe(false);
  expect(existsSync(join(path, "secret.txt"))).toBe(false);
  expect(existsSync(join(path, "s"))).toBe(false);
});
