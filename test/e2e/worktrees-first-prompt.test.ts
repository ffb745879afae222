import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { startGateway, type TestGateway } from "../support/gateway.js";
import { ownGit, WAIT, Workshop } from "../support/repository.js";
import { sqliteStore } from "../support/stores.js";

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

const SLOW = { postSetupCommands: [{ command: "sleep 0.5; echo ready > ready.txt" }] };

test("[WTG21] the project's first prompt is asked once the worktree is set up", async () => {
  const shop = await Workshop.open(gateway);
  await shop.trusted({ ...SLOW, initialPrompt: "Read the file ready.txt" });
  const { id } = await shop.startInWorktree();
  expect(await shop.texts(id)).toEqual([]);
  const texts = await vi.waitFor(async () => {
    const found = await shop.texts(id);
    expect(found).toHaveLength(2);
    return found;
  }, WAIT);
  expect(texts[0]).toBe("Read the file ready.txt");
  const { data } = await shop.wire.result("run/list", { workspace_id: shop.workspace_id, thread_id: id });
  expect(data).toMatchObject([{ number: 1, status: "completed" }]);
  const { data: messages } = await shop.wire.result("thread/messages", { thread_id: id });
  expect(JSON.stringify(messages[0]?.toolCalls)).toContain("ready");
});

test("[WTG21] a run waits for the set-up; who asks first leaves the project's prompt unasked", async () => {
  const shop = await Workshop.open(gateway);
  await shop.trusted({ ...SLOW, initialPrompt: "Begin." });
  const { id } = await shop.startInWorktree();
  const { run } = await shop.wire.result("run/start", { thread_id: id, content: "Read the file ready.txt" });
  await vi.waitFor(async () => {
    const { run: now } = await shop.wire.result("run/get", { run_id: run.id });
    expect(now.status).toBe("completed");
  }, WAIT);
  expect((await shop.get(id)).setup?.status).toBe("done");
  const { data: messages } = await shop.wire.result("thread/messages", { thread_id: id });
  expect(JSON.stringify(messages[0]?.toolCalls)).toContain("ready");
  expect(messages).toHaveLength(2);
});

test("[WTG21] hooks that are not trusted ask nothing", async () => {
  const shop = await Workshop.open(gateway);
  shop.configure({ worktreeHooks: { initialPrompt: "Begin." } });
  const { id } = await shop.startInWorktree();
  await shop.setUp(id);
  const { data } = await shop.wire.result("run/list", { workspace_id: shop.workspace_id, thread_id: id });
  expect(data).toEqual([]);
});
