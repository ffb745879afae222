import { describe, expect, test } from "vitest";
import type { Result, Thread } from "../../src/protocol/index.js";
import { changed, ROOT, whole } from "../../web/state/tree-maps.js";

const times = { created_at: 1, updated_at: 1 };
const folder = (id: string, rank: number) => ({ id, workspace_id: "ws_1", name: id, rank, ...times });
const thread = (id: string, more: Partial<Thread> = {}): Thread => ({
  id,
  workspace_id: "ws_1",
  agent_id: "notes",
  title: id,
  status: "idle",
  message_count: 0,
  config: {},
  ...times,
  ...more,
});
const place = (thread_id: string, rank: number, folder_id?: string) => ({
  thread_id,
  workspace_id: "ws_1",
  rank,
  ...(folder_id !== undefined && { folder_id }),
});

const tree = whole({
  workspace_id: "ws_1",
  seq: 1,
  threads: [thread("thr_1"), thread("thr_2")],
  folders: [folder("fld_1", 1), folder("fld_2", 2)],
  placements: [place("thr_1", 1), place("thr_2", 1, "fld_1")],
  agents_docs: [],
} satisfies Result<"thread/tree">);

describe("what is known of the tree", () => {
  test("[PGT31] a change of a thread's own fields leaves every map from which rows are made as it is", () => {
    const next = { ...tree, ...changed(tree, { threads: [thread("thr_1", { status: "running" })] }) };
    expect(next.threads.get("thr_1")?.status).toBe("running");
    expect(next.threads.get("thr_2")).toBe(tree.threads.get("thr_2"));
    for (const part of ["children", "folders", "places", "docs"] as const)
      expect(next[part]).toBe(tree[part]);
  });

  test("[PGT31] what stands elsewhere, comes or goes does change them", () => {
    const moved = { ...tree, ...changed(tree, { placements: [place("thr_1", 2, "fld_1")] }) };
    expect(moved.children.get("fld_1")?.threads).toEqual(["thr_2", "thr_1"]);
    expect(moved.threads).toBe(tree.threads);
    const pinned = { ...moved, ...changed(moved, { threads: [thread("thr_1", { pinned_at: 9 })] }) };
    expect(pinned.children.get("fld_1")?.threads).toEqual(["thr_1", "thr_2"]);
    const gone = { ...pinned, ...changed(pinned, { removed_ids: ["fld_2"] }) };
    expect(gone.children.get(ROOT)?.folders).toEqual(["fld_1"]);
    expect([gone.threads, gone.places]).toEqual([pinned.threads, pinned.places]);
    expect(gone.threads).toBe(pinned.threads);
  });
});
