import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openStore, workspaces } from "../../src/store/index.js";
import { groundFloor } from "../../src/store/migrations/0001-ground-floor.js";
import { migrate } from "../../src/store/migrations/index.js";
import type { Migration } from "../../src/store/migrations/migration.js";
import { onEachStore } from "../support/stores.js";
import { addWorkspace, rawStep, workspaceRow } from "./support/rows.js";
import { openStage, type Stage } from "./support/stage.js";

const addsColumn: Migration = {
  version: 2,
  *up() {
    yield* rawStep("alter table workspace add column color text");
    yield* rawStep("create table palette (id text primary key)");
    yield* rawStep("update workspace set color = 'red'");
  },
};

const failsHalfWay: Migration = {
  version: 3,
  *up() {
    yield* rawStep("alter table workspace add column shape text");
    yield* rawStep("update workspace set name = 'spoilt'");
    yield* rawStep("delete from thread_folder");
    yield* rawStep("create table half (id text primary key)");
    throw new Error("in the middle");
  },
};

const breaksTheLaw: Migration = {
  version: 3,
  *up() {
    yield* rawStep("create table half (id text primary key)");
    yield* rawStep("insert into half (id) values ('a')");
    yield* rawStep("insert into half (id) values ('a')");
  },
};

onEachStore("migrations", (kind) => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await openStage(kind);
  });
  afterEach(() => stage?.end());

  /** The schema and all that is in it, as text. */
  async function everything(): Promise<string> {
    const tables = await stage.sql(
      kind.name === "sqlite"
        ? "select name, sql from sqlite_master order by name"
        : "select table_name || '.' || column_name as name, data_type from information_schema.columns where table_schema = 'public' order by 1",
    );
    const rows = await stage.sql("select * from workspace order by id");
    const versions = await stage.sql("select * from schema_version order by version");
    return JSON.stringify({ tables, rows, versions });
  }

  const versions = async () =>
    (await stage.sql("select version from schema_version order by version")).map((row) => row.version);

  test("[STO60] a fresh store is migrated when it is opened, and what ran is recorded", async () => {
    expect(await versions()).toEqual([1]);
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
        data: { found: 99, known: 1 },
      });
      expect(error.message).toMatch(/newer Heddle \(schema 99; this one knows 1\)/);
    }
    expect(await digest()).toBe(before);
  });

  test("[STO63] a migration that fails half way leaves schema and data as they were", async () => {
    await stage.store.write({ key: "ws" }, () => addWorkspace("ws"));
    const before = await everything();
    for (const broken of [failsHalfWay, breaksTheLaw]) {
      await expect(migrate(stage.store, [groundFloor, broken])).rejects.toThrow();
      expect(await everything()).toBe(before);
    }
    expect(await stage.store.read(() => workspaces.findWorkspace("ws"))).toEqual(workspaceRow("ws"));
  });

  test("[STO63] those before the one that fails are kept, and the next start goes on from there", async () => {
    await expect(migrate(stage.store, [groundFloor, addsColumn, failsHalfWay])).rejects.toThrow(
      "in the middle",
    );
    expect(await versions()).toEqual([1, 2]);
    const mended: Migration = {
      version: 3,
      *up() {
        yield* rawStep("create table half (id text)");
      },
    };
    await migrate(stage.store, [groundFloor, addsColumn, mended]);
    expect(await versions()).toEqual([1, 2, 3]);
  });

  test("[STO64] data survives an upgrade", async () => {
    await stage.store.write({ key: "ws" }, () => addWorkspace("ws", { name: "kept" }));
    await migrate(stage.store, [groundFloor, addsColumn]);
    const upgraded = { ...workspaceRow("ws", { name: "kept" }), color: "red" };
    expect(await stage.store.read(() => workspaces.findWorkspace("ws"))).toEqual(upgraded);
    expect(await stage.store.read(() => rawStep("select id from palette"))).toEqual([]);
    const refused = await stage.reopen().catch((e) => e);
    expect(refused.data).toEqual({ found: 2, known: 1 });
  });
});
