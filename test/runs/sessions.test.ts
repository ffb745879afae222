import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Sessions } from "../../src/runs/session/sessions.js";
import { openStore, type Store } from "../../src/store/index.js";
import { type StorePlace, sqliteStore } from "../support/stores.js";

let place: StorePlace;
let store: Store;
beforeAll(async () => {
  place = await sqliteStore.fresh();
  store = await openStore(join(place.dataDir, "heddle.db"));
});
afterAll(async () => {
  await store.close();
  await place.remove();
});

test("[RCV24] whoever asks for a thread whose run is being taken up gets it when that is done, and not before", async () => {
  const sessions = new Sessions(store);
  const key = { workspace_id: "ws_1", thread_id: "thr_1" };
  const done: string[] = [];
  let takenUp = () => {};
  const begun = new Promise<void>((begin) => {
    sessions.takeUp = (session) => {
      // As one with a run under way is kept.
      session.driven = true;
      session.driving = new Promise(() => {});
      sessions.settle(session);
      begin();
      return new Promise((resolve) => {
        takenUp = () => {
          done.push("taken up");
          resolve();
        };
      });
    };
  });
  const first = sessions.open(key).then(() => done.push("first"));
  await begun;
  const second = sessions.open(key).then(() => done.push("second"));
  await new Promise((resolve) => setImmediate(resolve));
  expect(done).toEqual([]);
  takenUp();
  await Promise.all([first, second]);
  expect(done).toEqual(["taken up", "first", "second"]);
  expect(await sessions.open(key)).toBe(await sessions.open(key));
  sessions.close();
});
