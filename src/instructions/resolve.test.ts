import { afterEach, beforeEach, expect, test } from "vitest";
import { addWorkspace, docRow, folderRow, threadRow } from "../../test/contract/support/rows.js";
import { onEachStore, type StorePlace } from "../../test/support/stores.js";
import {
  agentsDocs,
  folders,
  notifications,
  openStore,
  type Store,
  threads,
  type Unit,
} from "../store/index.js";
import { Resolver } from "./resolve.js";

function* furnish(): Unit<void> {
  yield* addWorkspace("ws");
  yield* folders.insertFolder(folderRow("ws", "fld"));
  yield* threads.insertThread(threadRow("ws", "thr"), {
    workspace_id: "ws",
    thread_id: "thr",
    folder_id: "fld",
    rank: 0,
  });
  yield* agentsDocs.insertDoc(docRow("ws", "agd_1", { folder_id: "fld", content: "old" }));
}

function* change(content: string, announced: boolean): Unit<void> {
  yield* agentsDocs.updateDoc("agd_1", { content });
  if (announced) yield* notifications.announce("ws", 1, [{ method: "thread/tree/changed", params: {} }]);
}

onEachStore("remembering what is in effect", (kind) => {
  let place: StorePlace;
  let store: Store;
  let resolver: Resolver;
  const resolved = async () => (await resolver.walkForThread("ws", "thr")).nearest?.doc.content;
  beforeEach(async () => {
    place = await kind.fresh();
    store = await openStore(kind.name === "sqlite" ? `${place.dataDir}/heddle.db` : place.store);
    await store.write({ key: "ws" }, furnish);
    resolver = new Resolver(store);
  });
  afterEach(async () => {
    resolver.close();
    await store.close();
    await place.remove();
  });

  test("[RES1] what was resolved is remembered until the tree is told to have changed", async () => {
    expect(await resolved()).toBe("old");
    await store.write({ key: "ws" }, () => change("unannounced", false));
    expect(await resolved()).toBe("old");
    await store.write({ key: "ws" }, () => change("new", true));
    expect(await resolved()).toBe("new");
  });

  test("[RES2] a change during a read is never hidden by what the read found", async () => {
    for (let i = 0; i < 50; i++) {
      const reads = [resolved(), resolved()];
      const write = store.write({ key: "ws" }, () => change(`v${i}`, true));
      const during = resolved();
      await write;
      expect(await resolved()).toBe(`v${i}`);
      await Promise.all([...reads, during]);
      expect(await resolved()).toBe(`v${i}`);
    }
  });

  test("[RES3] told to forget, it reads anew", async () => {
    const listeners = new Set<() => void>();
    const onForget: Store["onForget"] = (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    };
    resolver.close();
    resolver = new Resolver({ ...store, onForget });
    expect(await resolved()).toBe("old");
    await store.write({ key: "ws" }, () => change("by another gateway", false));
    for (const listener of listeners) listener();
    expect(await resolved()).toBe("by another gateway");
    resolver.close();
    expect(listeners.size).toBe(0);
  });
});
