import { afterAll, beforeAll, expect, test } from "vitest";
import { notifications, type Store, type Unit, workspaces } from "../../src/store/index.js";
import { onEachStore } from "../support/stores.js";
import { addWorkspace } from "./support/rows.js";
import { openStage, type Stage } from "./support/stage.js";

const KEPT = notifications.NOTIFICATIONS_KEPT;

onEachStore("the log of notifications", (kind) => {
  let stage: Stage;
  let store: Store;
  beforeAll(async () => {
    stage = await openStage(kind);
    store = stage.store;
  });
  afterAll(() => stage?.end());

  const write = <T>(unit: () => Unit<T>) => store.write({ key: "any" }, unit);
  const range = (ws: string) => store.read(() => notifications.notificationRange(ws));
  const announce = (ws: string, count: number) =>
    write(() => notifications.announce(ws, 9, Array(count).fill({ method: "m", params: { a: "é" } })));

  test("[STO50] an announcement is numbered, kept as the text clients get, and read back in order", async () => {
    await write(() => addWorkspace("ws_log"));
    expect(await range("ws_log")).toEqual({ seq: 0, oldest: undefined });
    await announce("ws_log", 3);
    await write(() => notifications.announce("ws_log", 9, []));
    expect(await range("ws_log")).toEqual({ seq: 3, oldest: 1 });
    const row = (seq: number) => ({
      workspace_id: "ws_log",
      seq,
      method: "m",
      params: JSON.stringify({ a: "é", seq }),
      created_at: 9,
    });
    const after = (seq: number, limit: number) =>
      store.read(() => notifications.notificationsAfter("ws_log", seq, limit));
    expect(await after(0, 9)).toEqual([row(1), row(2), row(3)]);
    expect(await after(1, 1)).toEqual([row(2)]);
    expect(await after(3, 9)).toEqual([]);
  });

  test("[STO51] the newest 2,000 of each workspace are kept, with no gap, and at most 100 more", async () => {
    expect(KEPT).toBe(2_000);
    await write(() => addWorkspace("ws_many"));
    await write(() => addWorkspace("ws_few"));
    await announce("ws_few", 5);
    let total = 0;
    for (const count of [1_990, 7, 3, 99, 1, 1, 250, 30, 30, 30, 30]) {
      await announce("ws_many", count);
      total += count;
      const kept = await store.read(() => notifications.notificationsAfter("ws_many", 0, 10_000));
      expect(kept.length).toBeGreaterThanOrEqual(Math.min(total, KEPT));
      expect(kept.length).toBeLessThan(KEPT + 100);
      expect(kept.map((row) => row.seq)).toEqual(kept.map((_, i) => total - kept.length + 1 + i));
      expect(await range("ws_many")).toEqual({ seq: total, oldest: kept[0]?.seq });
    }
    expect(await range("ws_few")).toEqual({ seq: 5, oldest: 1 });
  });

  test("[STO52] there is no range for a workspace that is unknown or deleted", async () => {
    await write(() => addWorkspace("ws_deleted"));
    await announce("ws_deleted", 1);
    await write(() => workspaces.updateWorkspace("ws_deleted", { deleted_at: 1 }));
    expect(await range("ws_deleted")).toBeUndefined();
    expect(await range("ws_none")).toBeUndefined();
  });

  test("[STO52] nothing can be announced in a workspace that is not there", async () => {
    await expect(announce("ws_none", 1)).rejects.toThrow();
    expect(await store.read(() => notifications.notificationsAfter("ws_none", -5, 9))).toEqual([]);
  });
});
