import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openStore, type Store, threadFiles, type Unit, workspaces } from "../../store/index.js";
import { query } from "../../store/unit.js";
import { pageThrough } from "./page-through.js";

let directory: string;
let store: Store;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "heddle-pages-"));
  store = await openStore(join(directory, "heddle.db"));
});
afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true, force: true });
});

function* fill(workspace_id: string, threads: number): Unit<void> {
  const at = { created_at: 1, updated_at: 1 };
  const unbound = { root_path: null, home: 0, seq: 0, deleted_at: null };
  yield* workspaces.insertWorkspace({ id: workspace_id, name: workspace_id, ...unbound, ...at });
  const row = {
    workspace_id,
    title: "t",
    title_search: "t",
    agent_id: "a",
    status: "idle",
    message_count: 0,
    ...at,
  };
  for (let from = 0; from < threads; from += 500) {
    const count = Math.min(500, threads - from);
    const rows = Array.from({ length: count }, (_, index) => ({ id: `thr_${from + index}`, ...row }));
    yield* query(({ db }) => db.insertInto("thread").values(rows as never));
  }
}

test.each([0, 1, 2_000, 5_001])(
  "[SCL6] %i threads come once each, and others have their turn meanwhile",
  async (threads) => {
    await store.write({ key: "ws_1" }, () => fill("ws_1", threads));
    await store.write({ key: "ws_2" }, () => fill("ws_2", 3));
    let turns = 0;
    let over = false;
    const others = () => {
      turns++;
      if (!over) setImmediate(others);
    };
    setImmediate(others);
    const ids: string[] = [];
    for await (const { id } of pageThrough({ store }, "ws_1", threadFiles.pageOfFileStates)) ids.push(id);
    over = true;
    expect(ids.toSorted()).toEqual(Array.from({ length: threads }, (_, index) => `thr_${index}`).toSorted());
    expect(turns).toBeGreaterThanOrEqual(Math.floor(threads / 2_000));
  },
);
