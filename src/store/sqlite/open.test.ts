import { createHash } from "node:crypto";
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { fingerprint } from "../../../test/contract/support/files.js";
import { addWorkspace, docRow, rawStep } from "../../../test/contract/support/rows.js";
import { runSql } from "../../../test/contract/support/stage.js";
import { temporaryDirectory } from "../../../test/support/stores.js";
import { type HeddleError, sqliteDriver } from "../../base/index.js";
import { agentsDocs, openStore, workspaces } from "../index.js";

const EMPTY = createHash("sha256").digest("hex");

let directory: string;
let path: string;
beforeEach(() => {
  directory = temporaryDirectory();
  path = join(directory, "heddle.db");
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Makes a database that Heddle did not make. */
function foreignDatabase(...statements: string[]): void {
  const handle = sqliteDriver().open(path);
  for (const statement of statements) handle.exec(statement);
  handle.close();
}

/** The file of a store that was closed, with some pages of content, brought here from elsewhere. */
async function filledStore(): Promise<void> {
  const elsewhere = temporaryDirectory();
  const store = await openStore(join(elsewhere, "heddle.db"));
  await store.write({ key: "ws" }, function* () {
    yield* addWorkspace("ws");
    yield* agentsDocs.insertDoc(docRow("ws", "agd_large", { content: "text ".repeat(20_000) }));
  });
  await store.close();
  copyFileSync(join(elsewhere, "heddle.db"), path);
  rmSync(elsewhere, { recursive: true });
}

/** Opening must be refused with a cause, and must leave everything as it was. */
async function refusal(): Promise<HeddleError> {
  const before = fingerprint(directory);
  const error = await openStore(path).then(
    () => expect.unreachable("it was opened"),
    (e) => e,
  );
  const { "heddle.db-wal": wal, "heddle.db-shm": _, ...after } = fingerprint(directory);
  expect(after).toEqual(before);
  // What SQLite may put beside a store to read it. It holds nothing.
  expect([undefined, EMPTY]).toContain(wal);
  expect(error.message).toContain(path);
  return error;
}

describe("how it is opened", () => {
  test("[STO70] it writes ahead, flushes its log by itself and holds foreign keys", async () => {
    const store = await openStore(path);
    const pragmas = ["journal_mode", "synchronous", "foreign_keys", "busy_timeout"];
    const values = await store.read(function* () {
      const found: unknown[] = [];
      for (const pragma of pragmas)
        found.push(Object.values((yield* rawStep(`pragma ${pragma}`))[0] ?? {})[0]);
      return found;
    });
    expect(values).toEqual(["wal", 1, 1, 0]);
    expect([store.kind, store.name]).toEqual(["sqlite", path]);
    await store.close();
  });

  test("[STO71] the file is marked as Heddle's", async () => {
    await (await openStore(path)).close();
    expect(await runSql(path, "pragma application_id")).toEqual([{ application_id: 0x68646c31 }]);
    expect(readFileSync(path).subarray(68, 72).toString()).toBe("hdl1");
  });

  test("[STO71] a file that is there but empty becomes a store", async () => {
    writeFileSync(path, "");
    const store = await openStore(path);
    await store.check();
    await store.close();
  });
});

describe("how it is closed", () => {
  test("[STO76] a closed store is one file: a copy of it has everything", async () => {
    await filledStore();
    const store = await openStore(path);
    expect((await store.read(() => agentsDocs.findDoc("ws", "agd_large")))?.content.length).toBe(100_000);
    await store.close();
  });
});

describe("a database of another program", () => {
  const notes = "create table notes (id integer primary key, text)";
  const made: Record<string, string[]> = {
    "with tables": [notes, "insert into notes (text) values ('mine')"],
    "with tables, in WAL mode": ["pragma journal_mode = wal", notes],
    "with a mark of its own and no table": ["pragma application_id = 1196444487"],
    "with a mark of its own and tables": ["pragma application_id = 1196444487", notes],
  };

  test.each(Object.entries(made))("[STO72] %s is refused and left as it is", async (_, statements) => {
    foreignDatabase(...statements);
    const before = fingerprint(directory);
    const { kind, data } = await refusal();
    expect({ kind, data }).toEqual({ kind: "store.not_heddle", data: { store: path } });
    expect(fingerprint(directory)).toEqual(before);
  });
});

describe("a file that can't be a store", () => {
  const spoilt: Record<string, () => void | Promise<void>> = {
    "a text file": () => writeFileSync(path, "# Shopping\n\n- bread\n".repeat(100)),
    "a short text file": () => writeFileSync(path, "hi"),
    "random bytes": () => writeFileSync(path, Buffer.alloc(8192, 0xa7)),
    "a store cut in half": async () => {
      await filledStore();
      truncateSync(path, Math.floor(readFileSync(path).length / 2));
    },
    "a store cut within its first page": async () => {
      await filledStore();
      truncateSync(path, 2_000);
    },
    "a store cut within its header": async () => {
      await filledStore();
      truncateSync(path, 60);
    },
    "a store whose first page is overwritten after the header": async () => {
      await filledStore();
      const bytes = readFileSync(path);
      writeFileSync(path, bytes.fill(0xff, 100, 4096));
    },
  };

  test.each(Object.entries(spoilt))(
    "[STO73] %s is refused as corrupt and left as it is",
    async (_, spoil) => {
      await spoil();
      const { kind, message } = await refusal();
      expect(kind).toBe("store.corrupt");
      expect(message).toMatch(/damaged or not a database/);
    },
  );

  test("[STO73] a directory in its place, or no directory around it, is refused", async () => {
    mkdirSync(path);
    expect((await refusal()).kind).toBe("store.unavailable");
    rmSync(path, { recursive: true });
    path = join(directory, "none", "heddle.db");
    expect((await refusal()).kind).toBe("store.unavailable");
  });

  test("[STO74] a damaged page makes what stands on it fail as corrupt, and nothing else", async () => {
    await filledStore();
    const bytes = readFileSync(path);
    const [content] = await runSql(
      path,
      "select rootpage from sqlite_master where name = 'thread_agents_doc'",
    );
    const at = (Number(content?.rootpage) - 1) * 4096;
    writeFileSync(path, bytes.fill(0xff, at, at + 4096));
    const store = await openStore(path);
    const damaged = () => store.read(() => agentsDocs.findDoc("ws", "agd_large"));
    for (let n = 0; n < 2; n++) await expect(damaged()).rejects.toMatchObject({ kind: "store.corrupt" });
    expect((await store.read(() => workspaces.findWorkspace("ws")))?.name).toBe("ws");
    await store.write({ key: "ws" }, () => addWorkspace("ws_2"));
    await store.close();
  });

  test("[STO74] bytes behind the end of a store do no harm", async () => {
    await filledStore();
    appendFileSync(path, "rubbish");
    const store = await openStore(path);
    expect((await store.read(() => agentsDocs.findDoc("ws", "agd_large")))?.content.length).toBe(100_000);
    await store.close();
  });
});

describe("a disk that is full", () => {
  test("[STO75] the writer that finds no room learns it, the others are written, and with room it goes on", async () => {
    const store = await openStore(path);
    await store.write({ key: "ws" }, () => addWorkspace("ws"));
    // SQLite gives the same answer when a file may not grow as when a disk has no room.
    const [pages] = await store.read(() => rawStep("pragma page_count"));
    await store.read(() => rawStep(`pragma max_page_count = ${Number(pages?.page_count) + 8}`));
    const large = { content: "x".repeat(200_000) };
    const outcomes = await Promise.allSettled([
      store.write({ key: "ws" }, () => addWorkspace("ws_before")),
      store.write({ key: "ws" }, () => agentsDocs.insertDoc(docRow("ws", "agd_large", large))),
      store.write({ key: "ws" }, () => addWorkspace("ws_after")),
    ]);
    expect(outcomes.map((each) => (each.status === "rejected" ? each.reason.kind : "written"))).toEqual([
      "written",
      "store.full",
      "written",
    ]);
    expect(await store.read(() => agentsDocs.findDoc("ws", "agd_large"))).toBeUndefined();
    await store.read(() => rawStep("pragma max_page_count = 1000000"));
    await store.write({ key: "ws" }, () => agentsDocs.insertDoc(docRow("ws", "agd_large", large)));
    const found = await store.read(() => workspaces.listWorkspaces(9));
    expect(found.map((row) => row.id)).toEqual(["ws", "ws_after", "ws_before"]);
    await store.close();
  });
});
