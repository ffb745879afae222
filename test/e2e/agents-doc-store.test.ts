import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { idMaker, systemClock } from "../../src/base/index.js";
import { followFolders, getDoc, Resolver, resolveForThread, saveDoc } from "../../src/instructions/index.js";
import { openStore, type Store, threads, type Unit } from "../../src/store/index.js";
import { createFolder, createWorkspace } from "../../src/tree/index.js";
import { threadRow } from "../contract/support/rows.js";
import {
  type Database,
  openDatabase,
  recent,
  type Scene,
  type Stage,
  stageOn,
} from "../support/agents-doc.js";
import { onEachStore, type StoreKind, type StorePlace, temporaryDirectory } from "../support/stores.js";

onEachStore("documents in the store", (kind) => {
  const stage = stageOn(kind);
  let database: Database;
  beforeAll(async () => {
    database = await openDatabase(stage.gateway().place);
  });
  afterAll(() => database?.close());
  schema(kind, () => database);
  rows(stage, () => database);
  uniqueness(stage, () => database);
  atomicity(kind, stage, () => database);
  projects(stage);
});

onEachStore("queries of a resolution", (kind) => {
  oneQuery(kind);
});

function schema(kind: StoreKind, database: () => Database): void {
  const columns = async (table: string): Promise<unknown[]> => {
    const sql =
      kind.name === "sqlite"
        ? `select name from pragma_table_info('${table}') order by name`
        : `select column_name as name from information_schema.columns where table_name = '${table}' order by name`;
    return (await database().all(sql)).map(({ name }) => name);
  };

  test("[DOC9] [DOC12] thread_agents_doc has its columns", async () => {
    expect(await columns("thread_agents_doc")).toEqual(
      expect.arrayContaining([
        "archived_at",
        "content",
        "content_sha256",
        "created_at",
        "created_by",
        "folder_id",
        "id",
        "status",
        "title",
        "updated_at",
        "updated_by",
        "version",
        "workspace_id",
      ]),
    );
  });

  test("[DOC9] [DOC20] thread_agents_doc_revision keeps content and reason of each version", async () => {
    expect(await columns("thread_agents_doc_revision")).toEqual(
      expect.arrayContaining([
        "content",
        "content_sha256",
        "doc_id",
        "reason",
        "saved_at",
        "saved_by",
        "version",
      ]),
    );
  });

  test.each(["uq_thread_agents_doc_root_active", "uq_thread_agents_doc_folder_active"])(
    "[DOC9] [DOC21] [DOC22] the constraint %s is there",
    async (name) => {
      const sql =
        kind.name === "sqlite"
          ? `select sql as definition from sqlite_master where type = 'index' and name = '${name}'`
          : `select indexdef as definition from pg_indexes where indexname = '${name}'`;
      const [index] = await database().all(sql);
      expect(index?.definition).toMatch(/^create unique index/i);
    },
  );
}

const docsOf = (database: Database, { workspace_id }: Scene, columns: string) =>
  database.all(
    `select ${columns} from thread_agents_doc where workspace_id = '${workspace_id}' order by id, version`,
  );

function rows({ scene: open }: Stage, database: () => Database): void {
  test("[DOC14] [DOC15] [DOC16] a row as it is kept", async () => {
    const scene = await open();
    const folder_id = await scene.folder("A");
    const root = await scene.save("\uFEFF# Root\r\n");
    const doc = await scene.save("", { folder_id });
    const kept = await docsOf(database(), scene, "id, folder_id, status, title, content, content_sha256");
    expect(kept.map((row) => ({ ...row }))).toEqual([
      {
        id: root.id,
        folder_id: null,
        status: "active",
        title: "AGENTS.md",
        content: "# Root\n",
        content_sha256: root.content_sha256,
      },
      {
        id: doc.id,
        folder_id,
        status: "draft",
        title: "AGENTS.md",
        content: "",
        content_sha256: doc.content_sha256,
      },
    ]);
  });

  test("[DOC13] [DOC18] [DOC23] an archived row stays, under its id, with the time of its archive", async () => {
    const scene = await open();
    const doc = await scene.save("one");
    const times = "version, status, created_at, updated_at, archived_at";
    expect((await docsOf(database(), scene, times))[0]).toMatchObject({ version: 1, archived_at: null });
    await scene.archive();
    await scene.save("two");
    const [old, living] = await docsOf(database(), scene, `id, ${times}`);
    expect({ ...old }).toEqual({
      id: doc.id,
      version: 2,
      status: "archived",
      created_at: doc.created_at,
      updated_at: recent,
      archived_at: recent,
    });
    expect(living).toMatchObject({ version: 1, status: "active", archived_at: null });
  });

  test("[DOC20] every version is kept with its content, the archive included", async () => {
    const scene = await open();
    const { id } = await scene.save("one");
    await scene.save("two", { save_reason: "manual" });
    await scene.archive();
    const kept = await database().all(
      `select version, content, reason from thread_agents_doc_revision where doc_id = '${id}' order by version`,
    );
    expect(kept.map((row) => ({ ...row }))).toEqual([
      { version: 1, content: "one", reason: "autosave" },
      { version: 2, content: "two", reason: "manual" },
      { version: 3, content: "two", reason: "archive" },
    ]);
  });
}

function uniqueness({ scene: open }: Stage, database: () => Database): void {
  /** A second row for a scope that has one, put in from outside. */
  const double = (id: string, status: string, as: string) =>
    database().all(
      `insert into thread_agents_doc (id, workspace_id, folder_id, status, title, content, content_sha256, char_count, version, created_at, updated_at)
       select '${as}', workspace_id, folder_id, '${status}', title, content, content_sha256, char_count, version, created_at, updated_at
       from thread_agents_doc where id = '${id}'`,
    );

  test.each([
    ["[DOC21] [DOC3] at the root", "root"],
    ["[DOC22] [DOC3] in a folder", "folder"],
  ])("%s there is one document that is not archived, and any number that are", async (_, where) => {
    const scene = await open();
    const folder_id = where === "folder" ? await scene.folder("A") : undefined;
    const doc = await scene.save("one", { folder_id });
    for (const status of ["active", "draft"]) {
      await expect(double(doc.id, status, `${doc.id}x`)).rejects.toThrow(/unique/i);
    }
    await double(doc.id, "archived", `${doc.id}y`);
    await double(doc.id, "archived", `${doc.id}z`);
    expect((await docsOf(database(), scene, "status")).map(({ status }) => status)).toEqual([
      "active",
      "archived",
      "archived",
    ]);
    expect((await scene.tree()).agents_docs.map(({ id }) => id)).toEqual([doc.id]);
    expect((await scene.save("two", { folder_id })).version).toBe(2);
  });
}

function atomicity(kind: StoreKind, { scene: open }: Stage, database: () => Database): void {
  test("[DOC43] a save whose revision can't be written leaves no document and no notification", async () => {
    const scene = await open();
    await scene.save("kept", { folder_id: await scene.folder("A") });
    await scene.news();
    const state = await scene.state();
    const name = "thread_agents_doc_revision";
    await database().all(`alter table ${name} rename to ${name}_away`);
    let error: Awaited<ReturnType<typeof scene.wire.error>>;
    try {
      error = await scene.wire.error("thread/agents_doc/save", {
        workspace_id: scene.workspace_id,
        content: "lost",
      });
    } finally {
      await database().all(`alter table ${name}_away rename to ${name}`);
    }
    expect([kind.name, error.code]).toEqual([kind.name, -32600]);
    expect(await scene.get()).toEqual({});
    expect(await scene.state()).toEqual(state);
    expect(await scene.news()).toEqual([]);
    expect((await scene.save("found")).version).toBe(1);
  });
}

function projects({ gateway }: Stage): void {
  test("[DOC2] a file AGENTS.md in the project is neither read nor written", async () => {
    const directory = temporaryDirectory();
    const file = join(directory, "AGENTS.md");
    writeFileSync(file, "# In the project\n");
    mkdirSync(join(directory, "Backend"));
    const wire = await gateway().wire();
    const { workspace } = await wire.result("workspace/create", { root_path: directory });
    const workspace_id = workspace.id;
    expect(await wire.result("thread/agents_doc/get", { workspace_id })).toEqual({});
    const { folder } = await wire.result("thread/folder/create", { workspace_id, name: "Backend" });
    await wire.result("thread/agents_doc/save", { workspace_id, content: "# In Heddle\n" });
    await wire.result("thread/agents_doc/save", { workspace_id, folder_id: folder.id, content: "# Below\n" });
    await wire.result("thread/agents_doc/archive", { workspace_id });
    expect(readFileSync(file, "utf8")).toBe("# In the project\n");
    expect(readdirSync(directory, { recursive: true }).sort()).toEqual(["AGENTS.md", "Backend"]);
  });
}

test("[DOC10] only the store's schema, migrations and one repository name the tables", () => {
  const naming = readdirSync("src", { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
    .filter((file) =>
      /(?<!pioneer\.)\bthread_agents_doc(_revision)?\b/.test(readFileSync(join("src", file), "utf8")),
    );
  expect(naming.sort()).toEqual([
    "store/migrations/0001-ground-floor.ts",
    "store/repositories/agents-docs.ts",
    "store/schema.ts",
  ]);
});

test("[DOC2] the instructions module does not touch the file system", () => {
  const sources = readdirSync("src/instructions").filter((file) => file.endsWith(".ts"));
  expect(sources.length).toBeGreaterThan(5);
  const touching = sources.filter((file) =>
    /node:fs|node:child_process|process\./.test(readFileSync(join("src/instructions", file), "utf8")),
  );
  expect(touching).toEqual([]);
});

/** The same store, counting the statements of each unit it runs. */
function counting(store: Store): Store & { counts: number[] } {
  const counts: number[] = [];
  function* counted<T>(unit: Unit<T>): Unit<T> {
    let statements = 0;
    let step = unit.next([]);
    while (!step.done) {
      if ("statement" in step.value) statements++;
      step = unit.next(yield step.value);
    }
    counts.push(statements);
    return step.value;
  }
  return { ...store, counts, read: (unit) => store.read(() => counted(unit())) };
}

function oneQuery(kind: StoreKind): void {
  let place: StorePlace;
  let store: ReturnType<typeof counting>;
  beforeAll(async () => {
    place = await kind.fresh();
    const location = kind.name === "sqlite" ? join(place.dataDir, "heddle.db") : place.store;
    store = counting(await openStore(location));
  });
  afterAll(async () => {
    await store?.close();
    await place?.remove();
  });

  test("[DOC77] resolving takes one query at any depth", async () => {
    const makeId = idMaker(systemClock);
    const base = { store, clock: systemClock, makeId };
    const deps = { ...base, follower: followFolders(base), resolver: new Resolver(store) };
    const { workspace } = await createWorkspace(deps, { name: "W", root_path: undefined }, {});
    const workspace_id = workspace.id;
    await saveDoc(deps, scoped(workspace_id, undefined), {});
    let folder_id: string | undefined;
    for (let depth = 0; depth <= 64; depth++) {
      if ([0, 1, 2, 64].includes(depth)) {
        const thread = threadRow(workspace_id, makeId("thr_"));
        const placement = { workspace_id, thread_id: thread.id, folder_id: folder_id ?? null, rank: 0 };
        await store.write({ key: workspace_id }, () => threads.insertThread(thread, placement));
        store.counts.length = 0;
        const { effective } = await resolveForThread(deps, { workspace_id, thread_id: thread.id });
        expect([depth, effective?.doc.content, store.counts]).toEqual([depth, "root", [1]]);
        // What is in effect in one query, and the scope's own document in another.
        await getDoc(deps, { workspace_id, folder_id });
        expect([depth, store.counts]).toEqual([depth, [1, 2]]);
      }
      if (depth === 64) break;
      const folder = { workspace_id, name: `${depth}`, parent_folder_id: folder_id, after_id: undefined };
      folder_id = (await createFolder(deps, folder, {})).folder.id;
    }
    deps.resolver.close();
  });
}

function scoped(workspace_id: string, folder_id: string | undefined) {
  return { workspace_id, folder_id, content: "root", expected_version: undefined, save_reason: undefined };
}
