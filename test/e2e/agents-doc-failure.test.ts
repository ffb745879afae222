import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { RpcError } from "../../src/protocol/index.js";
import { type Database, openDatabase, type Scene, type Stage, stageOn } from "../support/agents-doc.js";
import { onEachStore, postgresStore, sqliteStore } from "../support/stores.js";

onEachStore("a failing database", (kind) => {
  const stage = stageOn(kind);
  if (kind === sqliteStore) lockedFile(stage);
  if (kind === postgresStore) lostServer(stage);
  missingTables(stage);
});

const FAMILY = "thread/agents_doc/";

/** Tables of `docs/errors.md` name every kind. */
const documented = readFileSync("docs/errors.md", "utf8");

/** A store with a document, a folder and a thread. */
async function furnished(open: () => Promise<Scene>): Promise<Scene> {
  const scene = await open();
  await scene.save("one");
  await scene.save("two");
  await scene.folder("A");
  await scene.thread();
  await scene.news();
  return scene;
}

async function withDatabase<T>(stage: Stage, use: (database: Database) => Promise<T>): Promise<T> {
  const database = await openDatabase(stage.gateway().place);
  try {
    return await use(database);
  } finally {
    await database.close();
  }
}

/** The calls that write, each with params that would do. */
async function writes(scene: Scene): Promise<[string, object][]> {
  const { workspace_id } = scene;
  const { agents_docs, threads } = await scene.tree();
  const [doc_id, thread_id] = [agents_docs[0]?.id, threads[0]?.id];
  return [
    [`${FAMILY}save`, { workspace_id, content: "three" }],
    [`${FAMILY}archive`, { workspace_id }],
    [`${FAMILY}restore`, { workspace_id, doc_id, version: 1 }],
    ["thread/folder/create", { workspace_id, name: "B" }],
    ["thread/update", { thread_id, title: "B" }],
  ];
}

function expectFailure(method: string, error: RpcError, kinds: readonly string[]): void {
  const code = method.startsWith(FAMILY) ? -32600 : -32603;
  expect([method, error.code]).toEqual([method, code]);
  expect(kinds).toContain(error.data.kind);
  expect(documented).toContain(`\`${error.data.kind}\``);
  expect(JSON.stringify(error)).not.toMatch(/sqlite_|relation "|select |insert |node_modules|\bat \S+:\d/i);
}

function lockedFile(stage: Stage): void {
  test("[API46] [DOC88] [DOC89] a locked file: store.busy in time, nothing written, then it goes on", async () => {
    const scene = await furnished(stage.scene);
    const state = await scene.state();
    const calls = await writes(scene);
    await withDatabase(stage, async (database) => {
      await database.all("begin exclusive");
      const started = Date.now();
      const first = calls[0] as [string, object];
      const failures = calls.map(
        async ([method, params]) => [method, await scene.wire.error(method, params)] as const,
      );
      expectFailure(first[0], ((await failures[0]) ?? [])[1] as RpcError, ["store.busy"]);
      expect(Date.now() - started).toBeLessThan(7_000);
      // Reading goes on while another program writes.
      expect((await scene.get()).explicit?.content).toBe("two");
      for (const [method, error] of await Promise.all(failures)) expectFailure(method, error, ["store.busy"]);
      await database.all("rollback");
    });
    expect(await scene.state()).toEqual(state);
    expect(await scene.news()).toEqual([]);
    expect((await scene.save("three", { expected_version: 2 })).version).toBe(3);
  });

  test("[DOC89] a lock that ends in time is waited for", async () => {
    const scene = await furnished(stage.scene);
    await withDatabase(stage, async (database) => {
      await database.all("begin exclusive");
      const saved = scene.save("three");
      // The save is under way once a later request on the same connection is answered.
      await scene.get();
      await database.all("rollback");
      expect((await saved).version).toBe(3);
    });
  });
}

function missingTables(stage: Stage): void {
  test.each([
    ["thread_agents_doc_revision", [`${FAMILY}save`, `${FAMILY}archive`, `${FAMILY}restore`]],
    ["thread_folder", ["thread/folder/create"]],
    ["thread", ["thread/update"]],
  ])(
    "[API46] [DOC88] [DOC89] without the table %s: well-formed errors, then it goes on",
    async (table, failing) => {
      const scene = await furnished(stage.scene);
      const state = await scene.state();
      const calls = (await writes(scene)).filter(([method]) => failing.includes(method));
      await withDatabase(stage, async (database) => {
        if (stage.gateway().place.store === "sqlite") await database.all("pragma legacy_alter_table = on");
        await database.all(`alter table ${table} rename to away`);
        try {
          for (const [method, params] of calls) {
            const error = await scene.wire.error(method, params);
            expectFailure(method, error, ["internal"]);
            expect(error.data).toEqual({
              kind: "internal",
              reference: expect.stringMatching(/^[0-9a-f-]{36}$/),
            });
          }
        } finally {
          await database.all(`alter table away rename to ${table}`);
        }
      });
      expect(calls.length).toBe(failing.length);
      expect(await scene.state()).toEqual(state);
      expect(await scene.news()).toEqual([]);
      expect((await scene.save("three", { expected_version: 2 })).version).toBe(3);
    },
  );

  test("[API46] [DOC88] reads fail in the same way", async () => {
    const scene = await furnished(stage.scene);
    const { workspace_id } = scene;
    const thread_id = await scene.thread();
    await withDatabase(stage, async (database) => {
      if (stage.gateway().place.store === "sqlite") await database.all("pragma legacy_alter_table = on");
      await database.all("alter table thread_agents_doc rename to away");
      try {
        for (const [method, params] of [
          [`${FAMILY}get`, { workspace_id }],
          [`${FAMILY}revisions`, { workspace_id }],
          [`${FAMILY}resolve_for_thread`, { workspace_id, thread_id }],
          ["thread/tree", { workspace_id }],
        ] as const) {
          expectFailure(method, await scene.wire.error(method, params), ["internal"]);
        }
      } finally {
        await database.all("alter table away rename to thread_agents_doc");
      }
    });
    expect((await scene.get()).explicit?.content).toBe("two");
  });
}

function lostServer(stage: Stage): void {
  const others = "from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()";

  /** Tries until the store is back; everything before must be a proper refusal. */
  async function untilSaved(scene: Scene, content: string): Promise<number> {
    const { workspace_id } = scene;
    const giveUp = Date.now() + 15_000;
    for (;;) {
      const { result, error } = await scene.wire.call(`${FAMILY}save`, { workspace_id, content });
      if (result) return result.doc.version;
      expectFailure(`${FAMILY}save`, error as RpcError, ["store.unavailable"]);
      if (Date.now() > giveUp) throw new Error("the store did not come back");
    }
  }

  test("[API46] [DOC88] [DOC89] every connection ended: refusals, then it goes on", async () => {
    const scene = await furnished(stage.scene);
    await withDatabase(stage, async (database) => {
      // With a time it waits until they are gone: one that was only told to go may answer once more.
      await database.all(`select pg_terminate_backend(pid, 10000) ${others}`);
      const { workspace_id } = scene;
      const error = await scene.wire.error("thread/folder/create", { workspace_id, name: "B" });
      expectFailure("thread/folder/create", error, ["store.unavailable"]);
    });
    expect(await untilSaved(scene, "three")).toBe(3);
    expect((await scene.revisions()).map(({ version }) => version)).toEqual([3, 2, 1]);
  });

  test("[API46] [DOC88] [DOC89] a connection ended in the middle of a save: nothing written, it goes on", async () => {
    const scene = await furnished(stage.scene);
    const state = await scene.state();
    await withDatabase(stage, async (database) => {
      await database.all("begin");
      await database.all(`select id from workspace where id = '${scene.workspace_id}' for update`);
      const failed = scene.wire.error(`${FAMILY}save`, {
        workspace_id: scene.workspace_id,
        content: "three",
      });
      let waiting: Record<string, unknown>[] = [];
      while (waiting.length === 0) {
        waiting = await database.all(`select pid ${others} and wait_event_type = 'Lock'`);
      }
      await database.all(`select pg_terminate_backend(${waiting[0]?.pid}, 10000)`);
      expectFailure(`${FAMILY}save`, await failed, ["store.unavailable"]);
      await database.all("rollback");
    });
    expect(await scene.state()).toEqual(state);
    expect(await scene.news()).toEqual([]);
    expect(await untilSaved(scene, "three")).toBe(3);
  });
}
