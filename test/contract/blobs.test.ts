import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { blobs, history, journal, type Unit } from "../../src/store/index.js";
import { onFreshStore, read, stage, write } from "./support/fresh-store.js";
import { addWorkspace, counting, rawStep } from "./support/rows.js";

const HOUR = 3_600;
const DAY = 24 * HOUR;
/** When blobs were put that may go. */
const LONG_AGO = 1_000_000;
/** The first second at which they may. */
const NOW = LONG_AGO + DAY + HOUR + 1;

type Step = Unit<unknown> extends Generator<infer S, unknown, unknown[]> ? S : never;
type Statement = Extract<Step, { statement: unknown }>;

const hashOf = (content: Uint8Array) => createHash("sha256").update(content).digest("hex");

function blobOf(content: string | Uint8Array): blobs.NewBlob {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  return { hash: hashOf(bytes), content: bytes };
}

const put = (content: string | Uint8Array, at = LONG_AGO) => write(() => blobs.putBlob(blobOf(content), at));

async function contentOf(content: string | Uint8Array): Promise<Buffer | undefined> {
  const found = await read(() => blobs.findBlob(blobOf(content).hash));
  return found && Buffer.from(found.content);
}

const putAt = async (content: string) =>
  Number((await stage().sql(`select put_at from blob where hash = '${blobOf(content).hash}'`))[0]?.put_at);

const isThere = async (content: string) => (await contentOf(content)) !== undefined;

/** Whatever is unused, batch by batch. */
async function unused(now = NOW, limit = 2): Promise<blobs.UnusedBlob[]> {
  const found: blobs.UnusedBlob[] = [];
  for (;;) {
    const batch = await read(() => blobs.listUnused(now, found.at(-1), limit));
    found.push(...batch);
    if (batch.length < limit) return found;
  }
}

const collect = (ids: readonly number[], now = NOW) => write(() => blobs.collectBlobs(ids, now));

const told = (workspace_id: string, thread_id: string, blob_id: number) =>
  write(() =>
    history.appendHistory({
      workspace_id,
      thread_id,
      epoch: 1,
      pos: blob_id,
      blob_id,
      list_hash: "",
      role: "user",
      chars: 1,
      tokens: 1,
      message_id: "m",
    }),
  );

onFreshStore("blobs", () => {
  test("[BLB1] bytes come back as they were put", async () => {
    const every = Uint8Array.from({ length: 256 }, (_, n) => n);
    const contents = [
      new Uint8Array(),
      Buffer.from("\0"),
      every,
      // A view into a larger buffer is only its own part.
      new Uint8Array(every.buffer, 3, 7),
      Buffer.from("❤️ 𐐀 é"),
      Buffer.alloc(16 * 1024 * 1024, "x"),
    ];
    for (const content of contents) {
      await put(content);
      const found = await contentOf(content);
      expect(found?.equals(Buffer.from(content)), `${content.length} bytes`).toBe(true);
    }
    const sizes = await stage().sql("select size from blob order by size");
    expect(sizes.map(({ size }) => Number(size))).toEqual(
      contents.map(({ length }) => length).sort((a, b) => a - b),
    );
  });

  test("[BLB1] many are found at once, and what is not there is left out", async () => {
    const texts = Array.from({ length: 1_203 }, (_, n) => `many ${n}`);
    await write(function* (): Unit<void> {
      for (const text of texts) yield* blobs.putBlob(blobOf(text), LONG_AGO);
    });
    const wanted = [...texts, texts[0] as string, "not there"].map((text) => blobOf(text).hash);
    const found = await read(() => blobs.findBlobs(wanted));
    expect(found.size).toBe(texts.length);
    for (const text of texts)
      expect(Buffer.from(found.get(blobOf(text).hash)?.content ?? []).toString()).toBe(text);
    expect(await contentOf("not there")).toBeUndefined();
    expect((await read(() => blobs.findBlobs([]))).size).toBe(0);
  });

  test("[BLB2] the same bytes are kept once, whoever puts them", async () => {
    const at = (n: number) => ({ key: `writer ${n}` });
    const puts = Array.from({ length: 40 }, (_, n) => {
      const put = n % 3 === 0 ? blobs.putNewBlob : blobs.putBlob;
      return stage().store.write(at(n), () => put(blobOf(`shared ${n % 2}`), LONG_AGO));
    });
    const ids = await Promise.all(puts);
    expect(new Set(ids).size).toBe(2);
    expect(ids.every((id, n) => id === ids[n % 2])).toBe(true);
    const hashes = ["shared 0", "shared 1"].map((text) => `'${blobOf(text).hash}'`).join();
    expect(await stage().sql(`select id from blob where hash in (${hashes})`)).toHaveLength(2);
  });

  test("[BLB3] within the hour a put is not written again; after it, it counts", async () => {
    const id = await put("again", LONG_AGO);
    const statements = async (at: number) => {
      const count = { statements: 0 };
      expect(await write(() => counting(blobs.putBlob(blobOf("again"), at), count))).toBe(id);
      return count.statements;
    };
    expect(await statements(LONG_AGO + HOUR)).toBe(1);
    expect(await putAt("again")).toBe(LONG_AGO);
    expect(await statements(LONG_AGO + HOUR + 1)).toBe(2);
    expect(await putAt("again")).toBe(LONG_AGO + HOUR + 1);
    // A clock that was set back takes nothing away.
    await put("again", 5);
    expect(await putAt("again")).toBe(LONG_AGO + HOUR + 1);
  });

  test("[BLB4] putting bytes again mends what was damaged", async () => {
    const id = await put("whole");
    const { hash } = blobOf("whole");
    const damaged = stage().kind === "sqlite" ? "x'00ff'" : "'\\x00ff'::bytea";
    await write(() => rawStep(`update blob set content = ${damaged}, size = 2 where hash = '${hash}'`));
    expect(await contentOf("whole")).toEqual(Buffer.from([0, 255]));
    expect(await put("whole", LONG_AGO + 1)).toBe(id);
    expect(String(await contentOf("whole"))).toBe("whole");
    expect(await stage().sql(`select size, put_at from blob where hash = '${hash}'`)).toEqual([
      { size: sized(5), put_at: sized(LONG_AGO + 1) },
    ]);
  });

  test("[BLB5] claiming counts as putting", async () => {
    const one = await put("claimed 1", LONG_AGO);
    const two = await put("claimed 2", NOW);
    const hashes = ["claimed 1", "claimed 2", "claimed 1", "nobody put this"].map(
      (each) => blobOf(each).hash,
    );
    const found = await write(() => blobs.claimBlobs(hashes, NOW));
    expect([...found]).toEqual([
      [hashes[0], one],
      [hashes[1], two],
    ]);
    expect(await putAt("claimed 1")).toBe(NOW);
  });
});

/** The driver of this connection answers large numbers as text. */
function sized(value: number): unknown {
  return stage().kind === "postgres" ? String(value) : value;
}

onFreshStore("blobs that nothing refers to", () => {
  test("[BLB6] they are listed once each, in batches, when they are old enough", async () => {
    await write(() => addWorkspace("ws_unused"));
    const ids: number[] = [];
    for (const [n, at] of [LONG_AGO, LONG_AGO - 5, LONG_AGO, LONG_AGO, LONG_AGO - 9].entries())
      ids.push(await put(`unused ${n}`, at));
    const used = await put("used by a journal");
    await write(() => blobs.useBlobs("ws_unused", "thr_1", [used]));
    const heard = await put("in a history");
    await told("ws_unused", "thr_1", heard);
    await put("just put", NOW);
    for (const limit of [1, 2, 3, 100]) {
      const found = await unused(NOW, limit);
      expect(found.map(({ id }) => id)).toEqual([ids[4], ids[1], ids[0], ids[2], ids[3]]);
      expect(found[0]).toEqual({ id: ids[4], hash: blobOf("unused 4").hash, put_at: LONG_AGO - 9 });
    }
    expect((await unused(NOW - 1)).map(({ put_at }) => put_at)).toEqual([LONG_AGO - 9, LONG_AGO - 5]);
    expect(await unused(LONG_AGO)).toEqual([]);
  });

  test("[BLB6] they are found by an index", async () => {
    if (stage().kind !== "sqlite") return;
    const first = blobs.listUnused(NOW, undefined, 10).next([]).value as Statement;
    const plan = (await read(function* (): Unit<unknown[]> {
      return yield {
        statement(sql) {
          const query = first.statement(sql);
          return { ...query, sql: `explain query plan ${query.sql}` };
        },
      };
    })) as { detail: string }[];
    const steps = plan.map(({ detail }) => detail);
    expect(steps[0]).toMatch(/^SEARCH b USING INDEX ix_blob_put_at/);
    expect(steps.join("\n")).not.toMatch(/SCAN|TEMP B-TREE/);
  });

  test("[BLB7] what was put, claimed or used since it was listed stays", async () => {
    const names = ["stays put", "stays claimed", "stays used", "stays told", "goes"];
    const ids: number[] = [];
    for (const name of names) ids.push(await put(name));
    await put("stays put", NOW);
    await write(() => blobs.claimBlobs([blobOf("stays claimed").hash], NOW));
    await write(() => blobs.useBlobs("ws_unused", "thr_1", [ids[2] as number]));
    await told("ws_unused", "thr_1", ids[3] as number);
    expect(await collect(ids)).toBe(1);
    expect(await Promise.all(names.map(isThere))).toEqual([true, true, true, true, false]);
    expect(await collect([])).toBe(0);
  });

  test("[BLB7] whoever puts or claims a blob at the moment it is collected has it afterwards", async () => {
    for (let round = 0; round < 30; round++) {
      const id = await put(`raced ${round}`);
      const { hash } = blobOf(`raced ${round}`);
      const write = stage().store.write;
      const [putAs, claimed] = await Promise.all([
        write({ key: "a" }, () => blobs.putBlob(blobOf(`raced ${round}`), NOW)),
        write({ key: "b" }, () => blobs.claimBlobs([hash], NOW)),
        write({ key: "c" }, () => blobs.collectBlobs([id], NOW)),
      ]);
      const found = await read(() => blobs.findBlob(hash));
      expect(found?.id, `round ${round}`).toBe(putAs);
      expect([undefined, putAs]).toContain(claimed.get(hash));
    }
  });

  test("[BLB7] a blob that goes between two statements of a put is put anew", async () => {
    if (stage().kind !== "postgres") return;
    const write = stage().store.write;
    const id = await put("overtaken");
    const slow = write({ key: "slow" }, () => pausing(blobs.putBlob(blobOf("overtaken"), NOW)));
    const claiming = write({ key: "claiming" }, () =>
      pausing(blobs.claimBlobs([blobOf("overtaken").hash], NOW)),
    );
    await write({ key: "collecting" }, () => blobs.collectBlobs([id], NOW));
    const made = await slow;
    expect((await read(() => blobs.findBlob(blobOf("overtaken").hash)))?.id).toBe(made);
    expect([undefined, made]).toContain((await claiming).get(blobOf("overtaken").hash));
  });

  test("[BLB8] what a journal uses stays with it", async () => {
    const shared = await put("used by two journals");
    const use = (thread_id: string) => write(() => blobs.useBlobs("ws_unused", thread_id, [shared, shared]));
    await use("thr_a");
    await use("thr_a");
    await use("thr_b");
    const gone = (thread_id: string) =>
      write(() => journal.removeJournal({ workspace_id: "ws_unused", thread_id }));
    await gone("thr_a");
    expect(await collect([shared])).toBe(0);
    await gone("thr_b");
    expect(await collect([shared])).toBe(1);
    expect(await isThere("used by two journals")).toBe(false);
  });
});

/** Waits on the server after the first statement, so that others can come in between. */
function* pausing<T>(unit: Unit<T>): Unit<T> {
  let step = unit.next([]);
  for (let n = 0; !step.done; n++) {
    const rows = yield step.value;
    if (n === 0) yield* rawStep("select pg_sleep(0.4)");
    step = unit.next(rows);
  }
  return step.value;
}
