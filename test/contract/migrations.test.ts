import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { messages, openStore, threads, workspaces } from "../../src/store/index.js";
import { groundFloor } from "../../src/store/migrations/0001-ground-floor.js";
import { threadFiles } from "../../src/store/migrations/0002-thread-files.js";
import { runs } from "../../src/store/migrations/0003-runs.js";
import { agents } from "../../src/store/migrations/0004-agents.js";
import { artifacts } from "../../src/store/migrations/0005-artifacts.js";
import { programs } from "../../src/store/migrations/0006-programs.js";
import { decisions } from "../../src/store/migrations/0007-decisions.js";
import { manyThreads } from "../../src/store/migrations/0008-many-threads.js";
import { steering } from "../../src/store/migrations/0009-steering.js";
import { migrate } from "../../src/store/migrations/index.js";
import type { Migration } from "../../src/store/migrations/migration.js";
import { onEachStore } from "../support/stores.js";
import { writeOldStore } from "./support/old-store.js";
import { addWorkspace, placedRow, rawStep, threadRow, workspaceRow } from "./support/rows.js";
import { locationOf, openStage, runSql, type Stage } from "./support/stage.js";

const released = [
  groundFloor,
  threadFiles,
  runs,
  agents,
  artifacts,
  programs,
  decisions,
  manyThreads,
  steering,
];
const known = released.length;

const addsColumn: Migration = {
  version: known + 1,
  *up() {
    yield* rawStep("alter table workspace add column color text");
    yield* rawStep("create table palette (id text primary key)");
    yield* rawStep("update workspace set color = 'red'");
  },
};

const failsHalfWay: Migration = {
  version: known + 2,
  *up() {
    yield* rawStep("alter table workspace add column shape text");
    yield* rawStep("update workspace set name = 'spoilt'");
    yield* rawStep("delete from thread_folder");
    yield* rawStep("create table half (id text primary key)");
    throw new Error("in the middle");
  },
};

const breaksTheLaw: Migration = {
  version: known + 2,
  *up() {
    yield* rawStep("create table half (id text primary key)");
    yield* rawStep("insert into half (id) values ('a')");
    yield* rawStep("insert into half (id) values ('a')");
  },
};

const upTo = (version: number) => Array.from({ length: version }, (_, n) => n + 1);

onEachStore("migrations", (kind) => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await openStage(kind);
  });
  afterEach(() => stage?.end());

  const catalog =
    kind.name === "sqlite"
      ? "select name, sql from sqlite_master order by name"
      : `select table_name || '.' || column_name as name, data_type, is_nullable, column_default
          from information_schema.columns where table_schema = 'public'
        union all select indexname, indexdef, null, null from pg_indexes where schemaname = 'public' order by 1`;

  /** The schema and all that is in it, as text. */
  async function everything(): Promise<string> {
    const tables = await stage.sql(catalog);
    const rows = await stage.sql("select * from workspace order by id");
    const versions = await stage.sql("select * from schema_version order by version");
    return JSON.stringify({ tables, rows, versions });
  }

  const versions = async () =>
    (await stage.sql("select version from schema_version order by version")).map((row) => row.version);

  test("[STO60] a fresh store is migrated when it is opened, and what ran is recorded", async () => {
    expect(await versions()).toEqual(upTo(known));
    const [row] = await stage.sql("select applied_at from schema_version");
    expect(Math.abs(Number(row?.applied_at) - Date.now() / 1000)).toBeLessThan(60);
    await stage.store.check();
  });

  test("[STO61] opening again changes nothing", async () => {
    await stage.store.write({ key: "ws" }, () => addWorkspace("ws"));
    const before = await everything();
    stage = await stage.reopen();
    expect(await everything()).toBe(before);
    await migrate(stage.store);
    expect(await everything()).toBe(before);
  });

  test("[STO62] a store of a newer schema is refused and stays as it is", async () => {
    await stage.sql("insert into schema_version (version, applied_at) values (99, 7)");
    await stage.store.close();
    const digest = () =>
      kind.name === "sqlite"
        ? createHash("sha256").update(readFileSync(stage.location)).digest("hex")
        : everything();
    const before = await digest();
    for (let n = 0; n < 2; n++) {
      const error = await openStore(stage.location).catch((e) => e);
      expect({ kind: error.kind, data: error.data }).toEqual({
        kind: "store.newer_schema",
        data: { found: 99, known },
      });
      expect(error.message).toContain(`newer Heddle (schema 99; this one knows ${known})`);
    }
    expect(await digest()).toBe(before);
  });

  test("[STO63] a migration that fails half way leaves schema and data as they were", async () => {
    await stage.store.write({ key: "ws" }, () => addWorkspace("ws"));
    const before = await everything();
    for (const broken of [failsHalfWay, breaksTheLaw]) {
      await expect(migrate(stage.store, [...released, broken])).rejects.toThrow();
      expect(await everything()).toBe(before);
    }
    expect(await stage.store.read(() => workspaces.findWorkspace("ws"))).toEqual(workspaceRow("ws"));
  });

  test("[STO63] those before the one that fails are kept, and the next start goes on from there", async () => {
    await expect(migrate(stage.store, [...released, addsColumn, failsHalfWay])).rejects.toThrow(
      "in the middle",
    );
    expect(await versions()).toEqual(upTo(known + 1));
    const mended: Migration = {
      version: known + 2,
      *up() {
        yield* rawStep("create table half (id text)");
      },
    };
    await migrate(stage.store, [...released, addsColumn, mended]);
    expect(await versions()).toEqual(upTo(known + 2));
  });

  test("[STO64] data survives an upgrade", async () => {
    await stage.store.write({ key: "ws" }, () => addWorkspace("ws", { name: "kept" }));
    await migrate(stage.store, [...released, addsColumn]);
    const upgraded = { ...workspaceRow("ws", { name: "kept" }), color: "red" };
    expect(await stage.store.read(() => workspaces.findWorkspace("ws"))).toEqual(upgraded);
    expect(await stage.store.read(() => rawStep("select id from palette"))).toEqual([]);
    const refused = await stage.reopen().catch((e) => e);
    expect(refused.data).toEqual({ found: known + 1, known });
  });

  test("[STO65] a store from before threads had files becomes like a new one and keeps its rows", async () => {
    const place = await kind.empty();
    const location = locationOf(kind, place);
    await writeOldStore(kind.name, location, [groundFloor]);
    for (const statement of oldRows) await runSql(location, statement);
    const store = await openStore(location);
    try {
      expect(await runSql(location, catalog)).toEqual(await stage.sql(catalog));
      expect(await runSql(location, "select version from schema_version order by 1")).toEqual(
        upTo(known).map((version) => ({ version })),
      );
      const found = await store.read(() => threads.findThreads("thr", "living"));
      expect(found).toEqual([placedRow(threadRow("ws", "thr", { title: "kept" }), null, 3)]);
      expect(await store.read(() => workspaces.findWorkspace("ws"))).toEqual(workspaceRow("ws"));
      await store.write({ key: "ws" }, () => messages.saveMessages([indexed]));
      const search = { workspace_id: "ws", terms: ["hel"], limit: 1 };
      expect(await store.read(() => messages.searchMessages(search))).toMatchObject([{ message_id: "msg" }]);
    } finally {
      await store.close();
      await place.remove();
    }
  });
});

const oldRows = [
  "insert into workspace (id, name, home, seq, created_at, updated_at) values ('ws', 'ws', 0, 0, 1, 1)",
  `insert into thread (id, workspace_id, title, title_search, agent_id, status, message_count, created_at, updated_at)
    values ('thr', 'ws', 'kept', 'thr', 'demo', 'idle', 0, 1, 1)`,
  "insert into thread_placement (workspace_id, thread_id, rank) values ('ws', 'thr', 3)",
];

const indexed = {
  workspace_id: "ws",
  thread_id: "thr",
  message_id: "msg",
  line_offset: 0,
  at: 1,
  role: "user",
  words: ["hello"],
};
