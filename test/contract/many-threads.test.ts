import { expect, test } from "vitest";
import { folders, openStore, threadFiles, threads, type Unit } from "../../src/store/index.js";
import { groundFloor } from "../../src/store/migrations/0001-ground-floor.js";
import { threadFiles as files } from "../../src/store/migrations/0002-thread-files.js";
import { runs } from "../../src/store/migrations/0003-runs.js";
import { agents } from "../../src/store/migrations/0004-agents.js";
import { artifacts } from "../../src/store/migrations/0005-artifacts.js";
import { programs } from "../../src/store/migrations/0006-programs.js";
import { decisions } from "../../src/store/migrations/0007-decisions.js";
import { onEachStore } from "../support/stores.js";
import { onFreshStore, read, write } from "./support/fresh-store.js";
import { writeOldStore } from "./support/old-store.js";
import { addThread, addWorkspace, folderRow, threadRow } from "./support/rows.js";
import { locationOf, runSql } from "./support/stage.js";

/** More than are looked through one by one. */
const MANY = 2_300;
const idOf = (number: number) => `thr_${String(number).padStart(5, "0")}`;
const titleOf = (number: number) =>
  `thread ${number} ${number % 3 === 0 ? 'of "straße" 東京都' : "of the day"}${number === 17 ? " quixotic" : ""}`;

function* manyTitled(ws: string): Unit<void> {
  yield* addWorkspace(ws);
  for (let number = 0; number < MANY; number++) {
    const title_search = titleOf(number);
    const agent_id = number % 2 === 0 ? "even" : "odd";
    const times = { created_at: number, updated_at: (number * 7) % MANY };
    yield* addThread(threadRow(ws, idOf(number), { title_search, agent_id, ...times }));
  }
}

/** Every page of a list, taken together. */
async function walk(filter: Omit<threads.ThreadListFilter, "limit">): Promise<string[]> {
  const seen: string[] = [];
  let after: { at: number; id: string } | undefined;
  for (;;) {
    const rows = await read(() => threads.listThreads({ ...filter, after, limit: 100 }));
    seen.push(...rows.map(({ id }) => id));
    const last = rows.at(-1);
    if (rows.length < 100 || !last) return seen;
    after = { at: last[filter.order], id: last.id };
  }
}

onFreshStore("many threads", () => {
  test("[SCL2] a part of a title finds the same threads by its pieces as by looking at each of them", async () => {
    const workspace_id = "ws_titles";
    await write(() => manyTitled(workspace_id));
    const numbers = Array.from({ length: MANY }, (_, number) => number);
    const expected = (part: string, order: "created_at" | "updated_at", agent?: string) =>
      numbers
        .filter((number) => titleOf(number).includes(part))
        .filter((number) => agent === undefined || (number % 2 === 0 ? "even" : "odd") === agent)
        .sort((a, b) => (order === "created_at" ? b - a : ((b * 7) % MANY) - ((a * 7) % MANY)))
        .map(idOf);
    for (const part of [
      "quixotic",
      "thread 17",
      "7 of",
      'of "str',
      "東京都",
      "e 東",
      "thread",
      "nothing",
      "%%%",
      "day",
    ]) {
      for (const order of ["created_at", "updated_at"] as const) {
        expect(await walk({ workspace_id, title_part: part, order }), part).toEqual(expected(part, order));
      }
    }
    const ofEven = { workspace_id, title_part: "9 of", order: "updated_at", agent_id: "even" } as const;
    expect(await walk(ofEven)).toEqual(expected("9 of", "updated_at", "even"));
  });

  test("[SCL3] a thread is found by what it is called now, and not at all when it is gone", async () => {
    const workspace_id = "ws_titles";
    const find = (title_part: string) => walk({ workspace_id, title_part, order: "updated_at" });
    await write(() => threads.updateThread(workspace_id, idOf(17), { title_search: "something else" }));
    expect(await find("quixotic")).toEqual([]);
    expect(await find("something")).toEqual([idOf(17)]);
    await write(() => threads.updateThread(workspace_id, idOf(17), { deleted_at: 5 }));
    expect(await find("something")).toEqual([]);
    await write(() => threadFiles.removeThread(workspace_id, idOf(17)));
    await write(() => addThread(threadRow(workspace_id, "thr_new", { title_search: "entirely new" })));
    expect(await find("something")).toEqual([]);
    expect(await find("entirely")).toEqual(["thr_new"]);
  });

  test("[SCL1] of too many threads the tree has the pinned and the latest ones, in display order, and says so", async () => {
    const workspace_id = "ws_tree";
    await write(function* () {
      yield* addWorkspace(workspace_id);
      for (let n = 0; n < 10; n++) {
        const pinned_at = n === 1 || n === 8 ? n : null;
        yield* addThread(threadRow(workspace_id, `thr_${n}`, { updated_at: n, pinned_at }), null, 100 - n);
      }
      yield* addThread(threadRow(workspace_id, "thr_gone", { updated_at: 99, deleted_at: 1 }));
    });
    const tree = (most: number) => read(() => threads.listTreeThreads(workspace_id, most));
    const ids = async (most: number) => (await tree(most)).rows.map(({ id }) => id);
    expect(await ids(4)).toEqual(["thr_8", "thr_1", "thr_9", "thr_7", "thr_6"]);
    expect((await tree(4)).truncated).toBe(true);
    expect(await ids(10)).toEqual(["thr_8", "thr_1", ...[9, 7, 6, 5, 4, 3, 2, 0].map((n) => `thr_${n}`)]);
    expect((await tree(10)).truncated).toBe(false);
  });

  test("[SCL4] the names above a folder and the threads below it are found without the rest of the workspace", async () => {
    const workspace_id = "ws_below";
    await write(function* () {
      yield* addWorkspace(workspace_id);
      for (const [id, parent_folder_id] of [
        ["a", null],
        ["b", "a"],
        ["c", "b"],
        ["d", "a"],
      ] as const)
        yield* folders.insertFolder(
          folderRow(workspace_id, id, { parent_folder_id, name: id.toUpperCase() }),
        );
      for (const folder of ["a", "b", "c", "d"])
        yield* addThread(threadRow(workspace_id, `in_${folder}`), folder);
      yield* addThread(threadRow(workspace_id, "at_root"));
    });
    const names = await read(() => folders.folderPath({ id: "c" }));
    expect(names.map(({ name }) => name)).toEqual(["A", "B", "C"]);
    const below = await read(() => folders.foldersBelow("b"));
    expect(below.map(({ id }) => id).sort()).toEqual(["b", "c"]);
    const rows = await read(() => threadFiles.fileFoldersBelow(workspace_id, "b"));
    expect(rows.map(({ id, folder_id }) => [id, folder_id]).sort()).toEqual([
      ["in_b", "b"],
      ["in_c", "c"],
    ]);
  });
});

onEachStore("a store from before", (kind) => {
  test("[SCL3] threads that were there already are found by their titles", async () => {
    const place = await kind.empty();
    const location = locationOf(kind, place);
    await writeOldStore(kind.name, location, [
      groundFloor,
      files,
      runs,
      agents,
      artifacts,
      programs,
      decisions,
    ]);
    for (const statement of oldThreads(kind.name)) await runSql(location, statement);
    const store = await openStore(location);
    try {
      const list = { workspace_id: "ws", title_part: "title 1234 ", order: "updated_at", limit: 10 } as const;
      const rows = await store.read(() => threads.listThreads(list));
      expect(rows.map(({ id }) => id)).toEqual(["thr_1234"]);
    } finally {
      await store.close();
      await place.remove();
    }
  });
});

function oldThreads(kind: "sqlite" | "postgres"): string[] {
  const numbers =
    kind === "postgres"
      ? `with n as (select i from generate_series(0, ${MANY}) as i)`
      : `with recursive n(i) as (select 0 union all select i + 1 from n where i < ${MANY})`;
  return [
    "insert into workspace (id, name, home, seq, created_at, updated_at) values ('ws', 'ws', 0, 0, 1, 1)",
    `insert into thread (id, workspace_id, title, title_search, agent_id, status, message_count, created_at, updated_at)
      ${numbers} select 'thr_' || i, 'ws', 'x', 'title ' || i || ' kept', 'demo', 'idle', 0, i, i from n`,
  ];
}
