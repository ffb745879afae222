import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { addWorkspace, folderRow } from "../../../test/contract/support/rows.js";
import { runSql } from "../../../test/contract/support/stage.js";
import { temporaryDirectory } from "../../../test/support/stores.js";
import { type SqliteHandle, sqliteDriver } from "../../base/index.js";
import { folders, openStore, type Store } from "../index.js";

let directory: string;
let path: string;
let store: Store;
beforeEach(async () => {
  directory = temporaryDirectory();
  path = join(directory, "heddle.db");
  store = await openStore(path);
  await store.write({ key: "ws" }, () => addWorkspace("ws"));
});
afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true, force: true });
});

const addFolder = (id: string) => store.write({ key: "ws" }, () => folders.insertFolder(folderRow("ws", id)));

/** How many transactions the log holds: in SQLite's format the last frame of each carries the size of the database. */
function committed(): number {
  const log = readFileSync(`${path}-wal`);
  const frameBytes = 24 + log.readUInt32BE(8);
  const salts = log.subarray(16, 24);
  let commits = 0;
  for (let at = 32; at + frameBytes <= log.length; at += frameBytes) {
    if (!log.subarray(at + 8, at + 16).equals(salts)) break;
    if (log.readUInt32BE(at + 4) !== 0) commits++;
  }
  return commits;
}

describe("group commit", () => {
  test("[STO80] writers that come at once share a commit, and so a flush", async () => {
    const start = committed();
    for (let n = 0; n < 5; n++) await addFolder(`fld_alone_${n}`);
    expect(committed() - start).toBe(5);
    await Promise.all(Array.from({ length: 50 }, (_, n) => addFolder(`fld_together_${n}`)));
    expect(committed() - start - 5).toBeLessThanOrEqual(2);
    expect((await store.read(() => folders.listFolders("ws"))).length).toBe(55);
  });

  test("[STO80] one that fails by itself costs the others no commit of their own", async () => {
    const start = committed();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 50 }, (_, n) =>
        store.write({ key: "ws" }, function* () {
          yield* folders.insertFolder(folderRow("ws", `fld_${n}`));
          if (n === 25) throw new Error("no");
        }),
      ),
    );
    expect(outcomes.filter((each) => each.status === "rejected").length).toBe(1);
    expect(committed() - start).toBeLessThanOrEqual(2);
    expect((await store.read(() => folders.listFolders("ws"))).length).toBe(49);
  });
});

/** Another program that holds the database for writing until it lets go. */
function lockedByAnother(how = "begin immediate"): { release(): void } {
  const handle: SqliteHandle = sqliteDriver().open(path);
  handle.exec(how);
  return {
    release() {
      handle.exec("rollback");
      handle.close();
    },
  };
}

describe("a database that another program holds", () => {
  test("[STO81] writes wait, reads and everything else go on, and the writes follow when it lets go", async () => {
    const other = lockedByAnother();
    let written = false;
    const write = addFolder("fld_waiting").then(() => {
      written = true;
    });
    const before = performance.eventLoopUtilization();
    await new Promise((next) => setTimeout(next, 1_000));
    const { utilization } = performance.eventLoopUtilization(before);
    expect(written).toBe(false);
    // A driver that waits by itself would keep the loop busy nearly all the time.
    expect(utilization).toBeLessThan(0.5);
    expect(await store.read(() => folders.listFolders("ws"))).toEqual([]);
    await store.check();
    other.release();
    await write;
    expect((await runSql(path, "select id from thread_folder"))[0]).toEqual({ id: "fld_waiting" });
  });

  test("[STO82] after five seconds the writers learn that it is locked, and later ones succeed", async () => {
    const other = lockedByAnother();
    const start = performance.now();
    const late = new Promise((next) => setTimeout(next, 300)).then(() => addFolder("fld_late"));
    const outcomes = await Promise.allSettled([addFolder("fld_1"), addFolder("fld_2"), late]);
    expect(performance.now() - start).toBeGreaterThan(4_900);
    // Each waits five seconds from when it asked, not from when its turn came.
    expect(performance.now() - start).toBeLessThan(7_500);
    const reasons = outcomes.map((each) => each.status === "rejected" && each.reason.kind);
    expect(reasons).toEqual(["store.busy", "store.busy", "store.busy"]);
    other.release();
    await addFolder("fld_1");
    expect((await store.read(() => folders.listFolders("ws"))).map((row) => row.id)).toEqual(["fld_1"]);
  });

  test("[STO81] opening waits as well", async () => {
    path = join(directory, "new.db");
    const other = lockedByAnother("begin exclusive");
    const opening = openStore(path);
    await new Promise((next) => setTimeout(next, 200));
    other.release();
    const second = await opening;
    await second.check();
    await second.close();
  });
});
