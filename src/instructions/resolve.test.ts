import { afterEach, beforeEach, expect, test } from "vitest";
import { addWorkspace, folderRow } from "../../test/contract/support/rows.js";
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

const doc = (content: string): Parameters<typeof agentsDocs.insertDoc>[0] => ({
  id: "agd_1",
  workspace_id: "ws",
  folder_id: "fld",
  status: "active",
  title: "AGENTS.md",
  content,
  content_sha256: "0".repeat(64),
  char_count: content.length,
  version: 1,
  created_at: 1,
  updated_at: 1,
  archived_at: null,
  created_by: null,
  updated_by: null,
});

const thread: Parameters<typeof threads.insertThread>[0] = {
  id: "thr",
  workspace_id: "ws",
  title: "t",
  title_search: "t",
  agent_id: "demo",
  status: "idle",
  pinned_at: null,
  last_snippet: null,
  message_count: 0,
  worktree_path: null,
  worktree_branch: null,
  parent_thread_id: null,
  attributes: null,
  config: null,
  created_at: 1,
  updated_at: 1,
  deleted_at: null,
};

function* furnish(): Unit<void> {
  yield* addWorkspace("ws");
  yield* folders.insertFolder(folderRow("ws", "fld"));
  yield* threads.insertThread(thread, { workspace_id: "ws", thread_id: "thr", folder_id: "fld", rank: 0 });
  yield* agentsDocs.insertDoc(doc("old"));
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
