import { beforeAll, describe, expect, test } from "vitest";
import { agentsDocs, folders, threads, type Unit, workspaces } from "../../src/store/index.js";
import { onFreshStore, read, write } from "./support/fresh-store.js";
import { addThread, addWorkspace, counting, docRow, folderRow, rawStep, threadRow } from "./support/rows.js";

/** A workspace with one chain of folders, each with a thread in it, and a thread at the root. */
function* chain(ws: string, depth: number): Unit<void> {
  yield* addWorkspace(ws);
  yield* addThread(threadRow(ws, "thr_0"));
  for (let n = 1; n <= depth; n++) {
    const parent_folder_id = n === 1 ? null : `fld_${ws}_${n - 1}`;
    yield* folders.insertFolder(folderRow(ws, `fld_${ws}_${n}`, { parent_folder_id, name: `Level ${n}` }));
    yield* addThread(threadRow(ws, `thr_${n}`), `fld_${ws}_${n}`);
  }
}

function* addDoc(ws: string, level: number, status: "draft" | "active" | "archived" = "active") {
  const folder_id = level === 0 ? null : `fld_${ws}_${level}`;
  yield* agentsDocs.insertDoc(docRow(ws, `agd_${ws}_${level}_${status}`, { folder_id, status }));
}

/** A walk in short: what was asked for, the names on the way up, the nearest document and how far up it is. */
async function walk(ws: string, from: agentsDocs.WalkFrom, fromLevel?: 0 | 1) {
  const count = { statements: 0 };
  const found = await read(() => counting(agentsDocs.walkToRoot(ws, from, fromLevel), count));
  expect(count.statements).toBe(1);
  if (!found) return undefined;
  const { subject, levels, nearest } = found;
  return { subject, names: levels.map(({ name }) => name), doc: nearest?.doc.id, level: nearest?.level };
}

const namesUp = (from: number) => Array.from({ length: from }, (_, i) => `Level ${from - i}`);

onFreshStore("the walk to the root", () => {
  test.each([0, 1, 2, 64])(
    "[STO20] it is one query and finds the nearest document, from depth %i",
    async (depth) => {
      const ws = `ws_d${depth}`;
      await write(() => chain(ws, depth));
      const subject = depth === 0 ? ws : `fld_${ws}_${depth}`;
      const folder = { folder_id: depth === 0 ? null : subject };
      const thread = { thread_id: `thr_${depth}` };
      const names = namesUp(depth);
      const none = { doc: undefined, level: undefined };
      expect(await walk(ws, folder)).toEqual({ subject, names, ...none });
      expect(await walk(ws, thread)).toEqual({ subject: `thr_${depth}`, names, ...none });
      await write(() => addDoc(ws, 0));
      const root = { doc: `agd_${ws}_0_active`, level: depth };
      expect(await walk(ws, folder)).toEqual({ subject, names, ...root });
      expect(await walk(ws, thread)).toEqual({ subject: `thr_${depth}`, names, ...root });
      if (depth < 2) return;
      await write(() => addDoc(ws, 1));
      expect(await walk(ws, folder)).toMatchObject({ doc: `agd_${ws}_1_active`, level: depth - 1 });
      await write(() => addDoc(ws, depth));
      const own = { doc: `agd_${ws}_${depth}_active`, level: 0 };
      expect(await walk(ws, folder)).toEqual({ subject, names, ...own });
      expect(await walk(ws, thread)).toEqual({ subject: `thr_${depth}`, names, ...own });
    },
  );

  test("[STO21] drafts and archived documents neither resolve nor block", async () => {
    await write(() => chain("ws_block", 4));
    await write(function* () {
      yield* addDoc("ws_block", 1);
      yield* addDoc("ws_block", 2, "draft");
      yield* addDoc("ws_block", 3, "archived");
      yield* addDoc("ws_block", 4, "archived");
      yield* addDoc("ws_block", 4, "draft");
    });
    const at = async (level: number) => (await walk("ws_block", { folder_id: `fld_ws_block_${level}` }))?.doc;
    for (const level of [1, 2, 3, 4]) expect(await at(level)).toBe("agd_ws_block_1_active");
    await write(() => addDoc("ws_block", 0, "draft"));
    expect(await walk("ws_block", { folder_id: null })).toMatchObject({ doc: undefined });
  });

  test("[STO22] from level 1 it leaves the scope's own document aside", async () => {
    await write(() => chain("ws_above", 2));
    await write(function* () {
      for (const level of [0, 1, 2]) yield* addDoc("ws_above", level);
    });
    const above = async (from: agentsDocs.WalkFrom) => {
      const found = await walk("ws_above", from, 1);
      return [found?.doc, found?.level];
    };
    expect(await above({ folder_id: "fld_ws_above_2" })).toEqual(["agd_ws_above_1_active", 1]);
    expect(await above({ folder_id: "fld_ws_above_1" })).toEqual(["agd_ws_above_0_active", 1]);
    expect(await above({ folder_id: null })).toEqual([undefined, undefined]);
    expect(await above({ thread_id: "thr_2" })).toEqual(["agd_ws_above_1_active", 1]);
    expect(await above({ thread_id: "thr_0" })).toEqual([undefined, undefined]);
  });
});

onFreshStore("the walk from what is not there", () => {
  beforeAll(async () => {
    await write(() => chain("ws_a", 1));
    await write(() => chain("ws_b", 1));
    await write(() => addDoc("ws_a", 0));
    await write(() => chain("ws_gone", 1));
    await write(() => workspaces.updateWorkspace("ws_gone", { deleted_at: 1 }));
  });

  test("[STO23] an unknown or deleted workspace gives nothing", async () => {
    for (const ws of ["ws_none", "ws_gone", ""]) {
      expect(await walk(ws, { folder_id: null })).toBeUndefined();
      expect(await walk(ws, { folder_id: "fld_ws_gone_1" })).toBeUndefined();
      expect(await walk(ws, { thread_id: "thr_1" })).toBeUndefined();
    }
  });

  test("[STO23] an unknown folder or thread, or one of another workspace, is told apart by its missing subject", async () => {
    await write(() => threads.updateThread("ws_a", "thr_1", { deleted_at: 1 }));
    const unknown: agentsDocs.WalkFrom[] = [
      { folder_id: "fld_none" },
      { folder_id: "fld_ws_b_1" },
      { folder_id: "" },
      { thread_id: "thr_none" },
      { thread_id: "thr_1" },
    ];
    for (const from of unknown) expect(await walk("ws_a", from)).toMatchObject({ subject: null, names: [] });
    await write(() => threads.updateThread("ws_a", "thr_1", { deleted_at: null }));
    expect(await walk("ws_a", { thread_id: "thr_1" })).toMatchObject({ subject: "thr_1" });
  });

  describe("neighbours", () => {
    test("[STO24] a thread without a placement stands at the root", async () => {
      await write(() =>
        rawStep("delete from thread_placement where thread_id = 'thr_0' and workspace_id = 'ws_a'"),
      );
      const found = await walk("ws_a", { thread_id: "thr_0" });
      expect(found).toEqual({ subject: "thr_0", names: [], doc: "agd_ws_a_0_active", level: 0 });
    });

    test("[STO24] one thread id in two workspaces resolves in each on its own", async () => {
      await write(() => addDoc("ws_b", 1));
      expect(await walk("ws_a", { thread_id: "thr_1" })).toMatchObject({ doc: "agd_ws_a_0_active" });
      expect(await walk("ws_b", { thread_id: "thr_1" })).toMatchObject({
        doc: "agd_ws_b_1_active",
        level: 0,
      });
    });
  });
});
