import { expect, test } from "vitest";
import { agentsDocs, threads, type Unit, workspaces } from "../../src/store/index.js";
import { foldTitle } from "../../src/tree/thread-index/fields.js";
import { onFreshStore, read, write } from "./support/fresh-store.js";
import { addThread, addWorkspace, docRow, revisionRow, threadRow, workspaceRow } from "./support/rows.js";

const padded = (n: number) => String(n).padStart(3, "0");

interface Walked {
  readonly workspace_id: string;
  readonly order: "created_at" | "updated_at";
  /** Called after each page: what happens meanwhile. */
  meanwhile?(page: number): Promise<unknown>;
}

/** Walks a list to its end, seven at a time, and gives the ids as they came. */
async function walkList({ workspace_id, order, meanwhile }: Walked): Promise<string[]> {
  const seen: string[] = [];
  let after: { at: number; id: string } | undefined;
  for (let page = 0; ; page++) {
    const rows = await read(() => threads.listThreads({ workspace_id, order, after, limit: 7 }));
    seen.push(...rows.map((row) => row.id));
    const last = rows.at(-1);
    if (rows.length < 7 || !last) return seen;
    after = { at: last[order], id: last.id };
    await meanwhile?.(page);
  }
}

/** A hundred threads, ten to each second: ties in time are the rule. */
function* hundred(ws: string): Unit<void> {
  yield* addWorkspace(ws);
  for (let n = 0; n < 100; n++) {
    const at = 1_000 + Math.floor(n / 10);
    yield* addThread(threadRow(ws, `thr_${padded(n)}`, { created_at: at, updated_at: at }));
  }
}

const newestFirst = Array.from({ length: 100 }, (_, n) => `thr_${padded(99 - n)}`);

onFreshStore("paging", () => {
  test("[STO30] a list comes newest first, each thread once, deleted ones not at all", async () => {
    await write(() => hundred("ws_quiet"));
    for (const order of ["created_at", "updated_at"] as const)
      expect(await walkList({ workspace_id: "ws_quiet", order })).toEqual(newestFirst);
    await write(() => threads.updateThread("ws_quiet", "thr_050", { deleted_at: 1 }));
    const left = newestFirst.filter((id) => id !== "thr_050");
    expect(await walkList({ workspace_id: "ws_quiet", order: "created_at" })).toEqual(left);
  });

  test("[STO31] by created: what exists throughout comes exactly once, whatever is added, changed or removed meanwhile", async () => {
    const workspace_id = "ws_created";
    await write(() => hundred(workspace_id));
    const seen = await walkList({
      workspace_id,
      order: "created_at",
      meanwhile: (page) =>
        Promise.all([
          // At the top, within a second that was passed already, and within one still to come.
          ...[2_000, 1_009, 1_000].map((created_at, i) =>
            write(() => addThread(threadRow(workspace_id, `thr_${page}_new${i}`, { created_at }))),
          ),
          write(() =>
            threads.updateThread(workspace_id, `thr_${padded(page * 3)}`, { updated_at: 5_000 + page }),
          ),
          write(() => threads.updateThread(workspace_id, `thr_${padded(99 - page)}`, { deleted_at: 1 })),
        ]),
    });
    expect(new Set(seen).size).toBe(seen.length);
    const deleted = new Set(Array.from({ length: 40 }, (_, page) => `thr_${padded(99 - page)}`));
    const throughout = newestFirst.filter((id) => !deleted.has(id));
    expect(seen.filter((id) => throughout.includes(id))).toEqual(throughout);
  });

  test("[STO32] by updated: what does not change meanwhile comes exactly once", async () => {
    const workspace_id = "ws_updated";
    await write(() => hundred(workspace_id));
    const changed = new Set<string>();
    const seen = await walkList({
      workspace_id,
      order: "updated_at",
      meanwhile: (page) => {
        const ids = [`thr_${padded(page * 2)}`, `thr_${padded(98 - page * 2)}`];
        for (const id of ids) changed.add(id);
        return Promise.all(
          ids.map((id, i) =>
            write(() => threads.updateThread(workspace_id, id, { updated_at: i ? 9_000 : 1 })),
          ),
        );
      },
    });
    const unchanged = newestFirst.filter((id) => !changed.has(id));
    expect(unchanged.length).toBeGreaterThan(50);
    expect(seen.filter((id) => unchanged.includes(id))).toEqual(unchanged);
  });

  test("[STO33] workspaces come oldest first, page by page, and revisions newest first", async () => {
    const ids = Array.from({ length: 9 }, (_, n) => `ws_page_${n}`);
    await write(function* () {
      for (const [n, id] of ids.entries())
        yield* workspaces.insertWorkspace(workspaceRow(id, { created_at: -100 + Math.floor(n / 4) }));
      for (const [doc, versions] of [
        ["agd_page_1", 3],
        ["agd_page_2", 2],
      ] as const) {
        const status = doc === "agd_page_1" ? "archived" : "active";
        yield* agentsDocs.insertDoc(docRow("ws_page_0", doc, { status }));
        for (let v = 1; v <= versions; v++) yield* agentsDocs.insertRevision(revisionRow(doc, v));
      }
    });
    const first = await read(() => workspaces.listWorkspaces(5));
    const last = first.at(-1);
    const second = await read(() => workspaces.listWorkspaces(4, last));
    expect([...first, ...second].map((row) => row.id)).toEqual(ids);
    const scope = { workspace_id: "ws_page_0", folder_id: null };
    const head = await read(() => agentsDocs.listRevisions({ ...scope, limit: 2 }));
    const rest = await read(() => agentsDocs.listRevisions({ ...scope, after: head[1], limit: 9 }));
    expect([...head, ...rest].map((row) => `${row.doc_id}/${row.version}`)).toEqual([
      "agd_page_2/2",
      "agd_page_2/1",
      "agd_page_1/3",
      "agd_page_1/2",
      "agd_page_1/1",
    ]);
  });
});

const titles = [
  "50% off",
  "500 off",
  "snake_case",
  "snakeXcase",
  "back\\slash",
  "backXslash",
  "ÄPFEL und Straße",
  "äpfel",
  "ΟΔΥΣΣΕΥΣ",
  "İstanbul",
  "ﬁnal ﬁgure",
  "Plain ASCII",
  "🧵 thread",
  "'quoted' \"twice\"",
];
const parts = [
  "%",
  "_",
  "\\",
  "0%",
  "e_c",
  "k\\s",
  "\\%",
  "äpf",
  "ÄPF",
  "STRASSE",
  "straße",
  "σευ",
  "i̇stan",
  "FIG",
  "ascii",
  "ASCII",
  "🧵",
  "'",
  '"',
  "%%",
  "__",
  "*",
  "[a-z]",
];

onFreshStore("search in titles", () => {
  test("[STO34] no character of a search is a wildcard, and case is folded the same on both stores", async () => {
    await write(function* () {
      yield* addWorkspace("ws_search");
      for (const [n, title] of titles.entries())
        yield* addThread(threadRow("ws_search", `thr_${n}`, { title, title_search: foldTitle(title) }));
    });
    const list = { workspace_id: "ws_search", order: "created_at", limit: 100 } as const;
    for (const part of parts) {
      const rows = await read(() => threads.listThreads({ ...list, title_part: foldTitle(part) }));
      const expected = titles.filter((title) => foldTitle(title).includes(foldTitle(part)));
      expect([part, ...rows.map((row) => row.title).sort()]).toEqual([part, ...expected.sort()]);
    }
  });

  test("[STO35] agent and folder narrow a list, alone and together", async () => {
    await write(function* () {
      yield* addWorkspace("ws_filter");
      for (const [n, agent_id] of ["a", "b", "a", "b"].entries())
        yield* addThread(
          threadRow("ws_filter", `thr_${n}`, { agent_id, title_search: n < 2 ? "low" : "high" }),
        );
    });
    const ids = async (filter: Partial<threads.ThreadListFilter>) => {
      const all = { workspace_id: "ws_filter", order: "updated_at", limit: 9, ...filter } as const;
      return (await read(() => threads.listThreads(all))).map((row) => row.id);
    };
    expect(await ids({ agent_id: "a" })).toEqual(["thr_2", "thr_0"]);
    expect(await ids({ agent_id: "a", title_part: "high" })).toEqual(["thr_2"]);
    expect(await ids({ folder_id: "fld_none" })).toEqual([]);
    expect(await ids({ workspace_id: "ws_none" })).toEqual([]);
  });
});
