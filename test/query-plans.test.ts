import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { agentsDocs, messages, openStore, type Store, threads, type Unit } from "../src/store/index.js";
import { temporaryDirectory } from "./support/stores.js";

const directory = temporaryDirectory();
let store: Store;

beforeAll(async () => {
  store = await openStore(join(directory, "heddle.db"));
});

afterAll(async () => {
  await store.close();
  rmSync(directory, { recursive: true, force: true });
});

/** How SQLite would carry out the only statement of a unit, step by step. */
async function planOf(unit: Unit<unknown>): Promise<string[]> {
  const first = unit.next([]);
  if (first.done || !("statement" in first.value))
    throw new Error("the unit does not begin with a statement");
  const { statement } = first.value;
  const explained = await store.read(function* (): Unit<unknown[]> {
    return yield {
      statement(sql) {
        const query = statement(sql);
        return { ...query, sql: `explain query plan ${query.sql}` };
      },
    };
  });
  return (explained as { detail: string }[]).map(({ detail }) => detail);
}

test.each([
  ["thread", { thread_id: "thr_1" }, 0],
  ["folder", { folder_id: "fld_1" }, 0],
  ["folder's parents", { folder_id: "fld_1" }, 1],
] as const)("[BENCH8] a walk from a %s looks documents up by their folder", async (_, from, fromLevel) => {
  const plan = await planOf(agentsDocs.walkToRoot("ws_1", from, fromLevel));
  const documents = plan.filter((step) => / d USING/.test(step));
  expect(documents.length).toBeGreaterThan(0);
  for (const step of documents) expect(step).toMatch(/\((workspace_id=\? AND folder_id=\?|id=\?)\)/);
});

test.each([
  ["updated_at", undefined],
  ["updated_at", { at: 1, id: "thr_1" }],
  ["created_at", undefined],
  ["created_at", { at: 1, id: "thr_1" }],
] as const)("[BENCH9] a page by %s after %j comes out of its index", async (order, after) => {
  const plan = await planOf(threads.listThreads({ workspace_id: "ws_1", order, after, limit: 101 }));
  const place = after ? `workspace_id=? AND (${order},id)<(?,?)` : "workspace_id=?";
  expect(plan[0]).toBe(`SEARCH t USING INDEX ix_thread_${order} (${place})`);
  expect(plan.join("\n")).not.toContain("TEMP B-TREE");
});

test("[BENCH10] a page of one folder is found through what stands in it", async () => {
  const folder = { workspace_id: "ws_1", folder_id: "fld_1" };
  const plan = await planOf(threads.listThreads({ ...folder, order: "updated_at", limit: 101 }));
  expect(plan[0]).toMatch(/^SEARCH p USING INDEX \w+ \(.*folder_id=\?\)$/);
  expect(plan[1]).toMatch(/^SEARCH t USING INDEX \w+ \(workspace_id=\? AND id=\?\)$/);
});

test.each([
  ["a workspace", {}],
  ["one thread", { thread_id: "thr_1" }],
  ["what comes after a page", { before: { at: 1, id: 1 } }],
])("[SRCH11] a search in %s starts from the words and looks the rest up", async (_, narrowed) => {
  const search = { workspace_id: "ws_1", terms: ["alpha", "be"], limit: 101, ...narrowed };
  const plan = await planOf(messages.searchMessages(search));
  expect(plan[0]).toMatch(/^SCAN f VIRTUAL TABLE INDEX 0:M/);
  expect(plan[1]).toBe("SEARCH m USING INTEGER PRIMARY KEY (rowid=?)");
  expect(plan[2]).toMatch(/^SEARCH t USING INDEX \w+ \(workspace_id=\? AND id=\?\)$/);
});

test("[SRCH11] the messages of a thread are removed through their index", async () => {
  const plan = await planOf(messages.removeMessages("ws_1", "thr_1"));
  expect(plan[0]).toMatch(/^SEARCH message USING .*INDEX \w+ \(workspace_id=\? AND thread_id=\?\)$/);
});
