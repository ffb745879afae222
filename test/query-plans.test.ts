import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  agentsDocs,
  delegations,
  folders,
  messages,
  openStore,
  runs,
  type Store,
  threadFiles,
  threads,
  type Unit,
} from "../src/store/index.js";
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

/** How SQLite would carry out a statement of a unit, step by step: its first, or the one after these answers. */
async function planOf(unit: Unit<unknown>, ...answers: unknown[][]): Promise<string[]> {
  const first = answers.reduce((_, answer) => unit.next(answer), unit.next([]));
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

test.each([
  ["updated_at", "ix_thread_agent"],
  ["created_at", "ix_thread_agent_created"],
] as const)("[SCL5] a page of one agent by %s comes out of its index", async (order, index) => {
  const after = { at: 1, id: "thr_1" };
  const plan = await planOf(
    threads.listThreads({ workspace_id: "ws_1", agent_id: "a", order, after, limit: 101 }),
  );
  const place = `workspace_id=? AND agent_id=? AND (${order},id)<(?,?)`;
  expect(plan[0]).toBe(`SEARCH t USING INDEX ${index} (${place})`);
  expect(plan.join("\n")).not.toContain("TEMP B-TREE");
});

test("[SCL5] a part of a title is looked for among the newest, and then through the pieces of titles", async () => {
  const filter = { workspace_id: "ws_1", title_part: "part", order: "updated_at", limit: 101 } as const;
  const first = await planOf(threads.listThreads(filter));
  expect(first).toEqual(["SEARCH thread USING INDEX ix_thread_updated_at (workspace_id=?)"]);
  const newest = await planOf(threads.listThreads(filter), [{ at: 1, id: "thr_1" }]);
  expect(newest[0]).toBe(
    "SEARCH t USING INDEX ix_thread_updated_at (workspace_id=? AND (updated_at,id)>(?,?))",
  );
  const titled = await planOf(threads.listThreads(filter), [{ at: 1, id: "thr_1" }], []);
  expect(titled[0]).toMatch(/^SCAN f VIRTUAL TABLE INDEX 0:M/);
  expect(titled[1]).toBe("SEARCH n USING INTEGER PRIMARY KEY (rowid=?)");
  expect(titled[2]).toMatch(/^SEARCH t USING INDEX \w+ \(workspace_id=\? AND id=\?\)$/);
});

test.each([
  ["updated_at", undefined],
  ["created_at", { at: 1, id: "run_1" }],
] as const)("[SCL5] the runs of one thread by %s are found through the thread", async (order, after) => {
  const plan = await planOf(
    runs.listRuns({ workspace_id: "ws_1", thread_id: "thr_1", order, after, limit: 51 } as never),
  );
  expect(plan[0]).toMatch(/^SEARCH run USING INDEX \w+ \(workspace_id=\? AND thread_id=\?\)$/);
});

test("[SCL5] runs that wait, and those of a delegation, are found without going through every run", async () => {
  for (const unit of [runs.waitingBelow(["run_1"]), runs.runTree("run_1", 10)]) {
    const plan = await planOf(unit);
    expect(plan.some((step) => /^SEARCH run USING INDEX \w+ \(id=\?\)$/.test(step))).toBe(true);
    for (const step of plan) expect(step).not.toMatch(/^SCAN run(?! USING INDEX uq_run_active)/);
  }
});

test.each([undefined, "ws_1"])(
  "[SCL5] results that are still to come back (%s) are found among the open ones",
  async (workspace_id) => {
    const plan = await planOf(delegations.unreturned(workspace_id));
    const scans = plan.filter((step) => step.startsWith("SCAN"));
    expect(scans).toEqual(["SCAN delegation USING INDEX ix_delegation_open"]);
  },
);

test("[SCL5] of a tree with too many threads only the latest and the pinned are looked up", async () => {
  const [some, last] = [[{}], [{ updated_at: 1, id: "thr_1" }]];
  const more = await planOf(threads.listTreeThreads("ws_1", 1));
  expect(more).toEqual([
    expect.stringMatching(/^SEARCH thread_placement USING COVERING INDEX \w+ \(workspace_id=\?\)$/),
  ]);
  const pinned = await planOf(threads.listTreeThreads("ws_1", 1), some, last);
  expect(pinned[0]).toBe("SEARCH t USING INDEX ix_thread_pinned (workspace_id=?)");
  const latest = await planOf(threads.listTreeThreads("ws_1", 1), some, last, []);
  expect(latest[0]).toBe(
    "SEARCH t USING INDEX ix_thread_updated_at (workspace_id=? AND (updated_at,id)>(?,?))",
  );
});

test("[SCL5] what stands above and below a folder is found through the folder", async () => {
  const plans = [
    await planOf(folders.folderPath({ id: "fld_1" })),
    await planOf(folders.foldersBelow("fld_1")),
    await planOf(threadFiles.fileFoldersBelow("ws_1", "fld_1")),
  ];
  for (const step of plans.flat()) expect(step).not.toMatch(/^SCAN (?!up|down)/);
  expect(plans[2]?.join("\n")).toMatch(/SEARCH p USING INDEX \w+ \(.*folder_id=\?\)/);
});

test("[SCL5] a page of all threads of a workspace begins where the one before ended", async () => {
  const page = { workspace_id: "ws_1", after: "thr_1", limit: 100 };
  for (const unit of [
    threadFiles.pageOfFileStates(page),
    threadFiles.pageOfWordStates(page),
    threadFiles.pageOfFileFolders(page),
  ]) {
    const plan = await planOf(unit);
    expect(plan[0]).toMatch(/^SEARCH (t|thread) USING INDEX \w+ \(workspace_id=\? AND id>\?\)$/);
    expect(plan.join("\n")).not.toContain("TEMP B-TREE");
  }
});

test("[SCL5] a page of all folders begins where the one before ended", async () => {
  const plan = await planOf(folders.pageOfFolders({ workspace_id: "ws_1", after: "fld_1", limit: 100 }));
  expect(plan).toEqual([expect.stringMatching(/^SEARCH thread_folder USING INDEX \w+ \(id>\?\)$/)]);
});
