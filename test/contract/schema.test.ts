import { expect, test } from "vitest";
import {
  agentsDocs,
  artifactItems,
  artifacts,
  folders,
  messages,
  threadFiles,
  threads,
  trust,
  type Unit,
  workspaces,
} from "../../src/store/index.js";
import { onFreshStore, read, stage, write } from "./support/fresh-store.js";
import {
  addThread,
  addWorkspace,
  docRow,
  folderRow,
  placedRow,
  rawStep,
  revisionRow,
  threadRow,
  workspaceRow,
} from "./support/rows.js";

const refused = (unit: () => Unit<unknown>) => expect(write(unit)).rejects.toThrow(/unique|constraint/i);

/** An index as the catalog tells of it, in one spelling for both databases. */
async function catalogIndex(name: string): Promise<string> {
  const [row] = await stage().sql(
    stage().kind === "sqlite"
      ? `select sql as definition from sqlite_master where type = 'index' and name = '${name}'`
      : `select indexdef as definition from pg_indexes where schemaname = 'public' and indexname = '${name}'`,
  );
  return String(row?.definition)
    .toLowerCase()
    .replace(/::text|public\.|using btree|["()]/g, " ")
    .replace(/\s+/g, " ")
    .replaceAll(" ,", ",")
    .trim();
}

onFreshStore("constraints", () => {
  test("[STO10] the indexes of uniqueness stand in the catalog under their names, with their predicates", async () => {
    expect(await catalogIndex("uq_thread_agents_doc_root_active")).toBe(
      "create unique index uq_thread_agents_doc_root_active on thread_agents_doc workspace_id where folder_id is null and status <> 'archived'",
    );
    expect(await catalogIndex("uq_thread_agents_doc_folder_active")).toBe(
      "create unique index uq_thread_agents_doc_folder_active on thread_agents_doc workspace_id, folder_id where folder_id is not null and status <> 'archived'",
    );
  });

  test("[STO10] a scope has one document that is not archived, and any number that are", async () => {
    await write(function* () {
      yield* addWorkspace("ws_docs");
      yield* addWorkspace("ws_docs_2");
      yield* folders.insertFolder(folderRow("ws_docs", "fld_docs"));
      yield* folders.insertFolder(folderRow("ws_docs", "fld_docs_2"));
    });
    for (const folder_id of [null, "fld_docs"]) {
      const id = (n: number) => `agd_${folder_id}_${n}`;
      await write(() => agentsDocs.insertDoc(docRow("ws_docs", id(1), { folder_id })));
      for (const status of ["active", "draft"] as const)
        await refused(() => agentsDocs.insertDoc(docRow("ws_docs", id(2), { folder_id, status })));
      await write(() => agentsDocs.updateDoc(id(1), { status: "archived", archived_at: 2 }));
      await write(() => agentsDocs.insertDoc(docRow("ws_docs", id(2), { folder_id, status: "draft" })));
      await refused(() => agentsDocs.updateDoc(id(1), { status: "active" }));
      await write(() => agentsDocs.insertDoc(docRow("ws_docs", id(3), { folder_id, status: "archived" })));
      expect((await read(() => agentsDocs.findExplicitDoc("ws_docs", folder_id)))?.id).toBe(id(2));
    }
    // Other scopes are not in the way.
    await write(() => agentsDocs.insertDoc(docRow("ws_docs", "agd_o1", { folder_id: "fld_docs_2" })));
    await write(() => agentsDocs.insertDoc(docRow("ws_docs_2", "agd_o2")));
  });

  test("[STO11] one Home, one workspace per directory, one revision per version, three statuses", async () => {
    const path = { root_path: "/project" };
    await write(() => addWorkspace("ws_home", { home: 1, ...path }));
    await refused(() => addWorkspace("ws_home_2", { home: 1 }));
    await refused(() => addWorkspace("ws_same_path", path));
    await write(() => addWorkspace("ws_deleted_path", { ...path, deleted_at: 5 }));
    await write(() => agentsDocs.insertDoc(docRow("ws_home", "agd_rev")));
    await write(() => agentsDocs.insertRevision(revisionRow("agd_rev", 1)));
    await refused(() => agentsDocs.insertRevision(revisionRow("agd_rev", 1)));
    await refused(() => agentsDocs.updateDoc("agd_rev", { status: "lost" as "draft" }));
  });

  test("[STO12] nothing can point at what is not there", async () => {
    await write(() => addWorkspace("ws_fk"));
    await write(() => folders.insertFolder(folderRow("ws_fk", "fld_fk")));
    await write(() => addThread(threadRow("ws_fk", "thr_fk"), "fld_fk"));
    const orphans: (() => Unit<unknown>)[] = [
      () => folders.insertFolder(folderRow("ws_none", "fld_o")),
      () => folders.insertFolder(folderRow("ws_fk", "fld_o", { parent_folder_id: "fld_none" })),
      () => addThread(threadRow("ws_none", "thr_o")),
      () => addThread(threadRow("ws_fk", "thr_o"), "fld_none"),
      () => threads.savePlacement({ workspace_id: "ws_fk", thread_id: "thr_none", folder_id: null, rank: 0 }),
      () => agentsDocs.insertDoc(docRow("ws_none", "agd_o")),
      () => agentsDocs.insertRevision(revisionRow("agd_none", 1)),
      () => folders.deleteFolder("fld_fk"),
    ];
    for (const orphan of orphans) await expect(write(orphan)).rejects.toThrow(/foreign key/i);
  });
});

/** Every table that holds something of a workspace, and how its rows name it. */
const owned = {
  workspace: "id",
  thread_folder: "workspace_id",
  thread: "workspace_id",
  thread_placement: "workspace_id",
  thread_agents_doc: "workspace_id",
  notification: "workspace_id",
  trust: "workspace_id",
  message: "workspace_id",
  artifact: "workspace_id",
  artifact_item: "workspace_id",
  artifact_call: "workspace_id",
};

function* furnish(id: string): Unit<void> {
  yield* addWorkspace(id);
  const [outer, inner] = [`fld_${id}_outer`, `fld_${id}_inner`];
  yield* folders.insertFolder(folderRow(id, outer));
  yield* folders.insertFolder(folderRow(id, inner, { parent_folder_id: outer }));
  for (const [n, folder_id] of [null, outer, inner].entries()) {
    yield* addThread(threadRow(id, `thr_${n}`), folder_id);
    yield* agentsDocs.insertDoc(docRow(id, `agd_${id}_${n}`, { folder_id }));
    yield* agentsDocs.insertRevision(revisionRow(`agd_${id}_${n}`, 1));
    const where = { workspace_id: id, thread_id: `thr_${n}`, line_offset: 0 };
    yield* messages.saveMessages([{ ...where, message_id: "msg", at: 1, role: "user", words: ["word"] }]);
  }
  yield* trust.saveTrust({ workspace_id: id, kind: "mcp", content_sha256: "0".repeat(64), trusted_at: 1 });
  const artifact = {
    workspace_id: id,
    tags: "[]",
    search: "",
    created_at: 1,
    updated_at: 1,
    deleted_at: null,
  };
  const list = { id: `lst_${id}`, kind: "list" as const, name: "n", version: 1, body: "" };
  yield* artifacts.insertArtifact({ ...artifact, ...list });
  const item = {
    id: `itm_${id}`,
    list_id: `lst_${id}`,
    position: 1,
    title: "t",
    notes: null,
    url: null,
    done: 0,
  };
  yield* artifactItems.insertItem({ ...artifact, ...item, tag_search: "" });
  yield* artifacts.insertCall({ workspace_id: id, call_key: "k", answer: "{}", made_at: 1 });
  yield* rawStep(
    `insert into notification (workspace_id, seq, method, params, created_at) values ('${id}', 1, 'm', '{}', 1)`,
  );
}

async function rowCounts(id: string): Promise<number[]> {
  const queries = Object.entries(owned).map(
    ([table, column]) => `select count(*) as n from ${table} where ${column} = '${id}'`,
  );
  queries.push(`select count(*) as n from thread_agents_doc_revision where doc_id like 'agd_${id}_%'`);
  const counts: number[] = [];
  for (const query of queries) counts.push(Number((await stage().sql(query))[0]?.n));
  return counts;
}

onFreshStore("purging", () => {
  test("[STO13] purging removes everything of the workspaces deleted before a time, and nothing of others", async () => {
    for (const id of ["ws_gone", "ws_recent", "ws_alive"]) await write(() => furnish(id));
    await write(() => workspaces.updateWorkspace("ws_gone", { deleted_at: 99 }));
    await write(() => workspaces.updateWorkspace("ws_recent", { deleted_at: 100 }));
    const all = [1, 2, 3, 3, 3, 1, 1, 3, 1, 1, 1, 3];
    expect(await rowCounts("ws_gone")).toEqual(all);
    await write(() => workspaces.purgeWorkspaces(100));
    expect(await rowCounts("ws_gone")).toEqual(all.map(() => 0));
    expect(await rowCounts("ws_recent")).toEqual(all);
    expect(await rowCounts("ws_alive")).toEqual(all);
  });

  test("[STO13] purging removes threads deleted before a time with their placements, and no others", async () => {
    await write(() => furnish("ws_threads"));
    await write(() => threads.updateThread("ws_threads", "thr_1", { deleted_at: 99 }));
    await write(() => threads.updateThread("ws_threads", "thr_2", { deleted_at: 100 }));
    await write(() => threads.purgeThreads(100));
    const left = await stage().sql(
      "select thread_id from thread_placement where workspace_id = 'ws_threads' order by thread_id",
    );
    expect(left.map((row) => row.thread_id)).toEqual(["thr_0", "thr_2"]);
    expect(await rowCounts("ws_threads")).toEqual([1, 2, 2, 2, 3, 1, 1, 2, 1, 1, 1, 3]);
  });
});

const texts: Record<string, string> = {
  emoji: "👩‍👩‍👧‍👦 🏳️‍🌈 e\u0301 é",
  "right to left": "שלום \u202eעולם\u202c مرحبا",
  "65,536 characters beyond the BMP": "\u{1F9F5}".repeat(65_536),
  quotes: `'"\`''""\\' ; drop table workspace; --`,
  backslashes: "\\ \\\\ \\n \\u0000 \\x00 E'\\047'",
  wildcards: "%_%% _ \\% \\_ *?[a-z]",
  "all control characters but NUL": Array.from({ length: 31 }, (_, i) => String.fromCharCode(i + 1)).join(""),
  "line ends and blanks": " \r\n\t\n \u2028\u2029\u00a0\ufeff ",
  "the last code points": "\ud7ff\ue000\ufffd\ufffe\uffff\u{10ffff}",
  "placeholders of drivers": "$1 ? :name @p $x {{y}}",
  nothing: "",
};

onFreshStore("values", () => {
  test.each(Object.entries(texts))("[STO14] text comes back as it was: %s", async (name, text) => {
    const id = `ws_text_${Object.keys(texts).indexOf(name)}`;
    const thread = threadRow(id, "thr", {
      title: text,
      title_search: text,
      attributes: text,
      config: text,
      file_root: text,
      setup: text,
    });
    const doc = docRow(id, `agd_${id}`, { content: text, created_by: text });
    await write(function* () {
      yield* addWorkspace(id, { name: text });
      yield* addThread(thread);
      yield* agentsDocs.insertDoc(doc);
      yield* agentsDocs.insertRevision(revisionRow(doc.id, 1, { content: text }));
    });
    expect(await read(() => workspaces.findWorkspace(id))).toEqual(workspaceRow(id, { name: text }));
    expect(await read(() => threads.findPlacedThreads(id, ["thr"]))).toEqual([placedRow(thread, null, 0)]);
    expect(await read(() => threadFiles.findIndexed(id, "thr"))).toEqual({
      ...thread,
      folder_id: null,
      rank: 0,
    });
    expect(await read(() => agentsDocs.findDoc(id, doc.id))).toEqual(doc);
    const walk = await read(() => agentsDocs.walkToRoot(id, { folder_id: null }));
    expect(walk?.nearest?.doc).toEqual(doc);
    expect((await read(() => agentsDocs.findRevision(doc.id, 1)))?.content).toBe(text);
  });

  test("[STO15] whole numbers come back as numbers, up to 2^53 - 1 either way, and no value as null", async () => {
    const [most, least] = [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER];
    const row = workspaceRow("ws_int", { seq: most, created_at: least, updated_at: -1, deleted_at: null });
    const folder = folderRow("ws_int", "fld_int", { rank: least });
    const thread = threadRow("ws_int", "thr_int", { message_count: 2 ** 31 - 1, pinned_at: most });
    await write(function* () {
      yield* workspaces.insertWorkspace(row);
      yield* folders.insertFolder(folder);
      yield* addThread(thread, "fld_int", most);
    });
    expect(await read(() => workspaces.findWorkspace("ws_int"))).toEqual(row);
    expect(await read(() => folders.findFolder("ws_int", "fld_int"))).toEqual(folder);
    expect(await read(() => threads.listTreeThreads("ws_int", 1))).toEqual({
      rows: [placedRow(thread, "fld_int", most)],
      truncated: false,
    });
    expect(await read(() => folders.folderHeight("fld_int"))).toBe(1);
  });

  test("[STO15] what neither store can bind is refused before it reaches the driver", async () => {
    await write(() => addWorkspace("ws_bind"));
    for (const value of [true, Number.NaN, Number.POSITIVE_INFINITY, undefined, {}, Symbol("s")]) {
      const folder = folderRow("ws_bind", "fld_bind", { rank: value as number });
      await expect(write(() => folders.insertFolder(folder))).rejects.toThrow();
    }
    expect(await read(() => folders.listFolders("ws_bind"))).toEqual([]);
  });
});
