import { expect, test } from "vitest";
import { folders, siblings, threads, type Unit } from "../../src/store/index.js";
import { findRank } from "../../src/tree/place.js";
import { onFreshStore, read, write } from "./support/fresh-store.js";
import { addThread, addWorkspace, counting, folderRow, threadRow } from "./support/rows.js";

type Table = siblings.Siblings["table"];
const tables: Table[] = ["thread_folder", "thread_placement"];

/** Adds a folder or a thread under a parent with a rank. */
function* add({ table, workspace_id, parent_id }: siblings.Siblings, id: string, rank: number): Unit<void> {
  if (table === "thread_folder")
    yield* folders.insertFolder(folderRow(workspace_id, id, { parent_folder_id: parent_id, rank }));
  else yield* addThread(threadRow(workspace_id, id), parent_id, rank);
}

/** The members of some siblings in their order, with their ranks. */
function* inOrder({ table, workspace_id, parent_id }: siblings.Siblings): Unit<[string, number][]> {
  if (table === "thread_folder") {
    const rows = yield* folders.childFolders(workspace_id, parent_id);
    return rows.map((row) => [row.id, row.rank]);
  }
  const { rows } = yield* threads.listTreeThreads(workspace_id, 1_000);
  return rows.filter((row) => row.folder_id === parent_id).map((row) => [row.id, row.rank as number]);
}

onFreshStore("ranks", () => {
  test.each(tables)("[STO40] the edges, a member's rank and the one after it: %s", async (table) => {
    const workspace_id = `ws_edges_${table}`;
    await write(() => addWorkspace(workspace_id));
    await write(() => folders.insertFolder(folderRow(workspace_id, `fld_${table}`, { rank: 7 })));
    const inFolder = { table, workspace_id, parent_id: `fld_${table}` };
    expect(await read(() => siblings.edgeRank(inFolder, "first"))).toBeUndefined();
    for (const [id, rank] of [
      ["m_b", 20],
      ["m_a", -10],
      ["m_c", 30],
    ] as const)
      await write(() => add(inFolder, `${table}_${id}`, rank));
    const at = <T>(unit: () => Unit<T>) => read(unit);
    expect(await at(() => siblings.edgeRank(inFolder, "first"))).toBe(-10);
    expect(await at(() => siblings.edgeRank(inFolder, "last"))).toBe(30);
    expect(await at(() => siblings.rankOf(inFolder, `${table}_m_b`))).toBe(20);
    expect(await at(() => siblings.rankOf(inFolder, "m_none"))).toBeUndefined();
    expect(await at(() => siblings.rankOf({ ...inFolder, parent_id: null }, `${table}_m_b`))).toBeUndefined();
    expect(await at(() => siblings.rankAfter(inFolder, -10, "m_none"))).toBe(20);
    expect(await at(() => siblings.rankAfter(inFolder, -10, `${table}_m_b`))).toBe(30);
    expect(await at(() => siblings.rankAfter(inFolder, 30, "m_none"))).toBeUndefined();
    expect(
      await at(() => siblings.edgeRank({ ...inFolder, workspace_id: "ws_none" }, "last")),
    ).toBeUndefined();
  });

  test.each(tables)(
    "[STO41] 200 in a row between the same two neighbours keep their order: %s",
    async (table) => {
      const workspace_id = `ws_between_${table}`;
      const all = { table, workspace_id, parent_id: null };
      await write(() => addWorkspace(workspace_id));
      await write(() => add(all, `${table}_start`, 0));
      await write(() => add(all, `${table}_end`, siblings.RANK_GAP));
      const expected = [`${table}_start`, `${table}_end`];
      let renumbered = 0;
      for (let n = 0; n < 200; n++) {
        const id = `${table}_${n}`;
        await write(function* () {
          const place = { siblings: all, after_id: `${table}_start`, otherwise: "last", id } as const;
          const found = yield* findRank(place);
          if (found.renumbered) renumbered++;
          yield* add(all, id, found.rank);
        });
        expected.splice(1, 0, id);
      }
      const members = await read(() => inOrder(all));
      expect(members.map(([id]) => id)).toEqual(expected);
      expect(new Set(members.map(([, rank]) => rank)).size).toBe(202);
      expect(renumbered).toBeGreaterThan(0);
    },
  );

  test.each(tables)(
    "[STO42] all members move behind a rank in one statement, in their order: %s",
    async (table) => {
      const workspace_id = `ws_move_${table}`;
      await write(() => addWorkspace(workspace_id));
      const from = { table, workspace_id, parent_id: `fld_from_${table}` };
      const to = { table, workspace_id, parent_id: `fld_to_${table}` };
      await write(function* () {
        for (const { parent_id } of [from, to])
          yield* folders.insertFolder(folderRow(workspace_id, parent_id));
        for (let n = 0; n < 30; n++) yield* add(from, `${table}_x${n}`, n % 2 ? -n : n);
        yield* add(to, `${table}_stays`, 5);
      });
      const order = (await read(() => inOrder(from))).map(([id]) => id);
      const count = { statements: 0 };
      await write(() => counting(siblings.moveAll(from, to.parent_id, 5), count));
      expect(count.statements).toBe(1);
      const gap = siblings.RANK_GAP;
      const moved = order.map((id, i) => [id, 5 + (i + 1) * gap]);
      expect(await read(() => inOrder(to))).toEqual([[`${table}_stays`, 5], ...moved]);
      expect(await read(() => inOrder(from))).toEqual([]);
      await write(() => siblings.renumber(to));
      const spread = [`${table}_stays`, ...order].map((id, i) => [id, (i + 1) * gap]);
      expect(await read(() => inOrder(to))).toEqual(spread);
    },
  );
});
