import { afterEach, beforeEach, expect, test } from "vitest";
import { PostgresProxy } from "../../../test/contract/support/postgres-proxy.js";
import { addWorkspace, folderRow, rawStep } from "../../../test/contract/support/rows.js";
import { runSql } from "../../../test/contract/support/stage.js";
import { onPostgres, type StorePlace } from "../../../test/support/stores.js";
import {
  type Commit,
  folders,
  notifications,
  openStore,
  type Store,
  type Unit,
  workspaces,
} from "../index.js";

function* announcedFolder(id: string): Unit<string> {
  yield* workspaces.lockWorkspace("ws");
  yield* folders.insertFolder(folderRow("ws", id));
  yield* notifications.announce("ws", 1, [{ method: "thread/tree/changed", params: { id } }]);
  return id;
}

const write = (store: Store, id: string) => store.write({ key: "ws" }, () => announcedFolder(id));

const folderIds = async (store: Store) =>
  (await store.read(() => folders.listFolders("ws"))).map((row) => row.id).sort();

/** Waits until the store writes again. */
async function recovered(store: Store, id: string): Promise<void> {
  const attempt = () =>
    write(store, id).then(
      () => "written",
      (error) => error.kind,
    );
  await expect.poll(attempt, { timeout: 10_000, interval: 50 }).toBe("written");
}

/** Ends every connection that gateways have to this database, as an administrator might. */
async function terminateAll(place: StorePlace): Promise<number> {
  const rows = await runSql(
    place.store,
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'heddle' and datname = current_database()",
  );
  return rows.length;
}

onPostgres("connections that are ended", (kind) => {
  let place: StorePlace;
  let store: Store;
  const heard: Commit[] = [];
  beforeEach(async () => {
    heard.length = 0;
    place = await kind.empty();
    store = await openStore(place.store);
    store.onCommit((commit) => heard.push(commit));
    await store.write({ key: "ws" }, () => addWorkspace("ws"));
  });
  afterEach(async () => {
    await store?.close();
    await place?.remove();
  });

  test("[STO95] what is under way fails as unavailable or succeeds, and then it writes again by itself", async () => {
    const written = new Set<string>();
    for (let round = 0; round < 4; round++) {
      const calls = Array.from({ length: 40 }, (_, n) =>
        n % 4
          ? write(store, `fld_${round}_${n}`)
          : store.read(() => rawStep("select pg_sleep(0.02)")).then(() => undefined),
      );
      const settled = Promise.allSettled(calls);
      await calls[1];
      expect(await terminateAll(place)).toBeGreaterThan(1);
      for (const outcome of await settled) {
        if (outcome.status === "rejected")
          expect(outcome.reason).toMatchObject({ kind: "store.unavailable" });
        else if (outcome.value) written.add(outcome.value);
      }
      await recovered(store, `fld_${round}_recovered`);
      written.add(`fld_${round}_recovered`);
      await store.check();
    }
    expect(await folderIds(store)).toEqual([...written].sort());
    const told = heard.flatMap((commit) => commit.notes.map((note) => note.seq));
    expect(told).toEqual(told.map((_, i) => i + 1));
    expect(told.length).toBe(written.size);
  });

  test("[STO95] connections that are idle or stand between two statements may go as well", async () => {
    await Promise.all(Array.from({ length: 5 }, () => store.read(() => rawStep("select 1"))));
    await terminateAll(place);
    await recovered(store, "fld_after_idle");
    const slow = function* () {
      yield* rawStep("select pg_sleep(0.2)");
      yield* rawStep("select pg_sleep(0.2)");
    };
    const failure = store.read(slow).catch((e) => e);
    await expect.poll(() => terminateAll(place)).toBeGreaterThan(1);
    expect(await failure).toMatchObject({ kind: "store.unavailable" });
    await recovered(store, "fld_after_slow");
  });

  test("[STO96] [STO99] a gateway that lost its place to another writes nothing until that one is gone", async () => {
    await terminateAll(place);
    const other = await openStore(place.store);
    await expect(write(store, "fld_lost")).rejects.toMatchObject({ kind: "store.unavailable" });
    await expect(store.check()).rejects.toMatchObject({ kind: "store.unavailable" });
    await write(other, "fld_other");
    // Longer than the first needs to try again.
    await new Promise((next) => setTimeout(next, 1_500));
    await expect(write(store, "fld_lost")).rejects.toMatchObject({ kind: "store.unavailable" });
    let forgotten = 0;
    store.onForget(() => forgotten++);
    await other.close();
    await recovered(store, "fld_back");
    expect(forgotten, "[STO99]").toBe(1);
    expect(await folderIds(store)).toEqual(["fld_back", "fld_other"]);
  });

  test("[STO96] closing while the connection is lost leaves nobody behind who would take the place again", async () => {
    await terminateAll(place);
    await store.close();
    const other = await openStore(place.store);
    await new Promise((next) => setTimeout(next, 1_500));
    await other.check();
    await write(other, "fld_other");
    await other.close();
  });
});

onPostgres("a network that fails", (kind) => {
  let place: StorePlace;
  let proxy: PostgresProxy;
  let store: Store;
  const heard: Commit[] = [];
  beforeEach(async () => {
    heard.length = 0;
    place = await kind.empty();
    proxy = await PostgresProxy.start(place.store);
    store = await openStore(proxy.location);
    store.onCommit((commit) => heard.push(commit));
    await store.write({ key: "ws" }, () => addWorkspace("ws"));
  });
  afterEach(async () => {
    await store?.close();
    await proxy?.stop();
    await place?.remove();
  });

  test("[STO97] a commit whose answer is lost counts as what it was: written and told, once", async () => {
    proxy.loseAnswerTo("commit");
    expect(await write(store, "fld_lost_answer")).toBe("fld_lost_answer");
    await recovered(store, "fld_next");
    expect(await folderIds(store)).toEqual(["fld_lost_answer", "fld_next"]);
    expect(heard.flatMap((commit) => commit.notes.map((note) => note.seq))).toEqual([1, 2]);
  });

  test("[STO97] a commit that never arrived is told to its writer as failed, and to nobody else", async () => {
    const attempt = store.write({ key: "ws" }, function* () {
      yield* announcedFolder("fld_never");
      proxy.cut();
      setTimeout(() => proxy.restore(), 300);
    });
    await expect(attempt).rejects.toMatchObject({ kind: "store.unavailable" });
    await recovered(store, "fld_next");
    expect(await folderIds(store)).toEqual(["fld_next"]);
    expect(heard.length).toBe(1);
  });

  test("[STO98] while the server is away every call fails as unavailable, and when it is back they work", async () => {
    proxy.cut();
    const calls = [
      () => write(store, "fld_away"),
      () => store.read(() => folders.listFolders("ws")),
      () => store.check(),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject({ kind: "store.unavailable" });
    proxy.restore();
    await recovered(store, "fld_back");
    expect(await folderIds(store)).toEqual(["fld_back"]);
  });
});
