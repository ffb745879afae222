import fs, { rmSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { addWorkspace, folderRow } from "../../../test/contract/support/rows.js";
import { temporaryDirectory } from "../../../test/support/stores.js";
import { folders, notifications, openStore, type Store } from "../index.js";

type Ended = (error: Error | null) => void;

const real = fs.fdatasync;
let directory: string;
let store: Store;
/** Flushes that were asked for and not done. */
let held: Ended[];
beforeEach(async () => {
  directory = temporaryDirectory();
  store = await openStore(join(directory, "heddle.db"));
  await store.write({ key: "ws" }, () => addWorkspace("ws"));
  held = [];
  fs.fdatasync = ((_file: number, ended: Ended) => held.push(ended)) as unknown as typeof real;
  syncBuiltinESMExports();
});
afterEach(async () => {
  fs.fdatasync = real;
  syncBuiltinESMExports();
  await store.close();
  rmSync(directory, { recursive: true, force: true });
});

function add(id: string, heard: string[], written?: () => void): Promise<void> {
  const unit = function* () {
    yield* folders.insertFolder(folderRow("ws", id));
    yield* notifications.announce("ws", 1, [{ method: id, params: {} }]);
  };
  return store.write({ key: "ws", ...(written && { written }) }, unit).then(() => void heard.push(id));
}

const soon = () => new Promise((next) => setTimeout(next, 20));

test("[STO84] nobody hears of a commit before it is flushed; those made meanwhile share a flush, in order", async () => {
  const heard: string[] = [];
  store.onCommit(({ notes }) => heard.push(...notes.map(({ method }) => `told ${method}`)));
  const first = add("fld_1", heard, () => heard.push("written fld_1"));
  await soon();
  const seen = store.read(() => folders.listFolders("ws")).then((rows) => heard.push(`read ${rows.length}`));
  const later = [add("fld_2", heard), soon().then(() => add("fld_3", heard))];
  await soon();
  await soon();
  expect([heard, held.length]).toEqual([["written fld_1"], 1]);
  expect((await store.readAhead(() => folders.listFolders("ws"))).length).toBe(3);
  held.shift()?.(null);
  await Promise.all([first, seen]);
  await soon();
  expect([heard, held.length]).toEqual([["written fld_1", "told fld_1", "fld_1", "read 1"], 1]);
  held.shift()?.(null);
  await Promise.all(later);
  expect(heard.slice(4)).toEqual(["told fld_2", "told fld_3", "fld_2", "fld_3"]);
});

test("[STO85] what can't be flushed is not acknowledged, nor is anything behind it", async () => {
  const heard: string[] = [];
  const outcomes = Promise.allSettled([add("fld_1", heard), soon().then(() => add("fld_2", heard))]);
  await soon();
  await soon();
  held.shift()?.(Object.assign(new Error("no"), { code: "EIO" }));
  await soon();
  held.shift()?.(null);
  expect((await outcomes).map((one) => one.status === "rejected" && one.reason.kind)).toEqual([
    "store.unavailable",
    "store.unavailable",
  ]);
  await expect(add("fld_3", heard)).rejects.toMatchObject({ kind: "store.unavailable" });
  expect([heard, held.length]).toEqual([[], 0]);
});
