import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { canonicalJson } from "../../src/base/index.js";
import { collectUnused } from "../../src/prompts/blobs/collect.js";
import { getBlob } from "../../src/prompts/blobs/get.js";
import { putBlob } from "../../src/prompts/blobs/put.js";
import { readBlob, readPrompt } from "../../src/prompts/blobs/read.js";
import { writeBlob } from "../../src/prompts/blobs/write.js";
import { syncTools } from "../../src/prompts/packs/sync-tools.js";
import { methods } from "../../src/protocol/index.js";
import { blobs, type Store, type Unit } from "../../src/store/index.js";
import { deleteThread } from "../../src/threads/index.js";
import { deleteWorkspace } from "../../src/tree/index.js";
import { counting, rawStep } from "../contract/support/rows.js";
import { type Bench, failure, message, onEachBench } from "./support.js";

const refOf = (content: string | Uint8Array) =>
  `sha256:${createHash("sha256").update(content).digest("hex")}`;
const put = (bench: Bench, params: object) => putBlob(bench.deps, methods["blob/put"].params.parse(params));
const read = <T>(bench: Bench, unit: () => Unit<T>) => bench.store.read(unit);
async function count(bench: Bench): Promise<number> {
  return Number((await read(bench, () => rawStep("select count(*) as n from blob")))[0]?.n);
}

onEachBench("putting and getting blobs", (bench) => {
  test("[BLB10] [BLB11] text becomes one message in canonical JSON", async () => {
    const asked: [object, string][] = [
      [{ text: "Be brief." }, '{"content":"Be brief.","role":"system"}'],
      [{ text: " é\n❤️ ", role: "developer" }, '{"content":" é\\n❤️ ","role":"developer"}'],
      [{ text: "x", role: null }, '{"content":"x","role":"system"}'],
    ];
    for (const [params, text] of asked) {
      const { ref, size } = await put(bench(), params);
      expect({ ref, size }).toEqual({ ref: refOf(text), size: Buffer.byteLength(text) });
      const got = await getBlob(bench().deps, { ref });
      expect(got).toEqual({
        ref,
        size,
        content_base64: Buffer.from(text).toString("base64"),
        messages: [JSON.parse(text)],
      });
    }
  });

  test("[BLB11] [BLB15] messages become canonical JSON with every key they came with", async () => {
    const messages = [
      { role: "system", content: "a", "x-note": { b: 1, a: [2, null] } },
      { content: [{ text: "b", type: "text", mine: true }], role: "user" },
      { role: "assistant", content: "", tool_calls: [{ id: "1", name: "n", arguments: "{}" }] },
      { role: "tool", content: "c", tool_call_id: "1" },
    ];
    const { ref } = await put(bench(), { messages });
    expect(ref).toBe(refOf(canonicalJson(messages)));
    const reordered = messages.map((each) => Object.fromEntries(Object.entries(each).reverse()));
    expect((await put(bench(), { messages: reordered })).ref).toBe(ref);
    expect((await getBlob(bench().deps, { ref })).messages).toEqual(messages);
    expect(await read(bench(), () => readPrompt(ref))).toEqual(messages);
  });

  test("[BLB11] [BLB15] other bytes stay as they are, and hold no messages", async () => {
    const bytes = Uint8Array.from({ length: 512 }, (_, n) => n % 256);
    for (const content of [bytes, Buffer.from("[]"), Buffer.from('{"role":"system"}'), Buffer.alloc(0)]) {
      const content_base64 = Buffer.from(content).toString("base64");
      const { ref, size } = await put(bench(), { content_base64 });
      expect({ ref, size }).toEqual({ ref: refOf(content), size: content.length });
      expect(await getBlob(bench().deps, { ref })).toEqual({ ref, size, content_base64 });
      expect(Buffer.from(await read(bench(), () => readBlob(ref)))).toEqual(Buffer.from(content));
    }
  });

  test("[BLB12] wrong messages are refused with their place, and nothing is kept", async () => {
    const refused: [object[], RegExp][] = [
      [[{}], /^message 1: role: /],
      [[message("a"), message("b", "robot")], /^message 2: role: .*"developer"/],
      [[{ role: "system", content: 5 }], /^message 1: content: expected string or array$/],
      [[{ role: "user", content: [{ type: "text" }] }], /^message 1: content\.0\.text: expected string/],
      [[{ role: "user", content: [{ type: "video" }] }], /^message 1: content\.0\.type: /],
      [[{ role: "system", content: [{ type: "image", data: "AAAA", mimeType: "image/png" }] }], /images are/],
      [[{ role: "tool", content: "x" }], /tool_call_id: a tool's message names the call/],
      [[{ role: "user", content: "x", tool_calls: [] }], /only the assistant calls tools/],
    ];
    for (const [messages, problem] of refused) {
      expect(await failure(put(bench(), { messages }))).toEqual({
        kind: "prompt.invalid",
        problem: expect.stringMatching(problem),
      });
    }
    expect(await count(bench())).toBe(0);
  });

  test("[BLB13] a blob has at most 16 MiB", async () => {
    const largest = Buffer.alloc(16 * 1024 * 1024, "a");
    const write = (content: Uint8Array | string) =>
      bench().store.write({ key: "x" }, () => writeBlob(content, 1));
    expect((await write(largest)).ref).toBe(refOf(largest));
    const size = 16 * 1024 * 1024 + 1;
    expect(await failure(write("a".repeat(size)))).toEqual({ kind: "blob.too_large", size, limit: size - 1 });
    const content_base64 = Buffer.alloc(size).toString("base64");
    expect((await failure(put(bench(), { content_base64 }))).kind).toBe("blob.too_large");
    expect(await count(bench())).toBe(1);
  });

  test("[BLB14] bytes that are not what their ref says are not given out", async () => {
    const { ref } = await put(bench(), { text: "whole" });
    const damaged = bench().kind === "sqlite" ? "x'41'" : "'\\x41'::bytea";
    await bench().store.write({ key: "x" }, () => rawStep(`update blob set content = ${damaged}`));
    const readings = [
      () => getBlob(bench().deps, { ref }),
      () => read(bench(), () => readBlob(ref)),
      () => read(bench(), () => readPrompt(ref)),
    ];
    for (const reading of readings) expect(await failure(reading())).toEqual({ kind: "blob.corrupt", ref });
    await put(bench(), { text: "whole" });
    expect((await getBlob(bench().deps, { ref })).messages).toEqual([message("whole")]);
    const missing = refOf("nobody put this");
    expect(await failure(getBlob(bench().deps, { ref: missing }))).toEqual({
      kind: "blob.not_found",
      ref: missing,
    });
  });

  test("[BLB16] only messages can be a prompt", async () => {
    const deep = `{"role":"system","content":"x","y":${"[".repeat(500_000)}${"]".repeat(500_000)}}`;
    const wrong: [string | Uint8Array, RegExp][] = [
      ["", /it is empty/],
      [" \n", /it is empty/],
      ["Be brief.", /it is not JSON: /],
      ['{\n "role": "system",\n "content": "x" "y" }', /it is not JSON: line 3, column 17: /],
      ['{"role": oops}', /it is not JSON: Unexpected token/],
      [new Uint8Array([0xff, 0xfe]), /it is not UTF-8/],
      ["[]", /it holds no message/],
      ["null", /expected object/],
      ['{"messages":[{"role":"system","content":"x"}]}', /role: /],
      ['[{"role":"system","content":"x"},7]', /message 2: expected object/],
      [deep, /nested more than 64 levels deep/],
    ];
    for (const [content, problem] of wrong) {
      const content_base64 = Buffer.from(content).toString("base64");
      const { ref } = await put(bench(), { content_base64 });
      expect(await failure(read(bench(), () => readPrompt(ref)))).toEqual({
        kind: "prompt.invalid",
        ref,
        problem: expect.stringMatching(problem),
      });
      expect(await getBlob(bench().deps, { ref })).not.toHaveProperty("messages");
    }
    const marked = `\uFEFF${JSON.stringify(message("with a mark"))}`;
    const { ref } = await put(bench(), { content_base64: Buffer.from(marked).toString("base64") });
    expect(await read(bench(), () => readPrompt(ref))).toEqual([message("with a mark")]);
  });
});

const DAY_MS = 24 * 3600 * 1000;
/** What was put more than this ago and is not used may go. */
const ENOUGH_MS = DAY_MS + 3600 * 1000 + 1000;

onEachBench("collecting blobs", (bench) => {
  const isThere = async (ref: string) =>
    (await read(bench(), () => blobs.findBlob(ref.slice("sha256:".length)))) !== undefined;

  test("[BLB20] what nothing refers to goes a day after it was last put", async () => {
    const refs: string[] = [];
    for (let n = 0; n < 450; n++) refs.push((await put(bench(), { text: `unused ${n}` })).ref);
    bench().clock.advance(DAY_MS);
    expect(await collectUnused(bench().deps)).toBe(0);
    await put(bench(), { text: "unused 7" });
    bench().clock.advance(ENOUGH_MS - DAY_MS);
    expect(await collectUnused(bench().deps)).toBe(449);
    expect(await count(bench())).toBe(1);
    expect(await isThere(refs[7] as string)).toBe(true);
    expect(await collectUnused(bench().deps)).toBe(0);
    bench().clock.advance(ENOUGH_MS);
    expect(await collectUnused(bench().deps)).toBe(1);
  });

  test("[BLB21] what settings, snapshots and lists of tools name stays", async () => {
    const room = await bench().workspace();
    const refs = Object.fromEntries(
      await Promise.all(
        ["thread", "deleted", "hidden", "nobody"].map(async (text) => [
          text,
          (await put(bench(), { text })).ref,
        ]),
      ),
    );
    await room.thread({ default_prompt_refs: [refs.thread] });
    const deleted = await room.thread({ default_prompt_refs: [refs.deleted] });
    await deleteThread(bench().deps, { workspace_id: room.id, thread_id: deleted.id }, {});
    const hidden = await bench().workspace();
    await hidden.thread({ default_prompt_refs: [refs.hidden] });
    room.write({
      "prompts/packs/default.json": message("one"),
      "agent.workspace.json": { schema_version: 1 },
    });
    await room.sync();
    await room.apply();
    room.write({ "prompts/packs/default.json": message("two") });
    const synced = await room.sync();
    bench().tools = () => [{ name: "bash" }];
    const tools = await syncTools(bench().deps, { workspace_id: room.id });
    await deleteWorkspace(bench().deps, { workspace_id: hidden.id }, {});
    bench().clock.advance(ENOUGH_MS);
    expect(await collectUnused(bench().deps)).toBe(1);
    const kept = [
      refs.thread,
      refs.deleted,
      refs.hidden,
      tools.ref,
      synced.active?.prompt_pack_ref,
      synced.active?.index_ref,
      synced.pending?.prompt_pack_ref,
    ];
    for (const ref of kept) expect(await isThere(ref as string), ref).toBe(true);
    expect(await isThere(refs.nobody as string)).toBe(false);
  });

  test("[BLB22] what is put, used or named while it is collected is there afterwards", async () => {
    const room = await bench().workspace();
    const threads = await Promise.all(Array.from({ length: 4 }, () => room.thread()));
    for (let round = 0; round < 8; round++) {
      const text = (what: string) => `${what} ${round}`;
      const [putAgain, used, named] = await Promise.all(
        ["put", "used", "named"].map(async (what) => (await put(bench(), { text: text(what) })).ref),
      );
      bench().clock.advance(ENOUGH_MS);
      const use = () =>
        bench().store.write({ key: room.id }, function* () {
          const at = bench().clock.now() / 1000;
          const ids = yield* blobs.claimBlobs([(used as string).slice(7)], at);
          yield* blobs.useBlobs(room.id, "thr", ids.values());
          return ids.size === 1;
        });
      const thread_id = threads[round % threads.length]?.id as string;
      const [, claimed, settled] = await Promise.all([
        put(bench(), { text: text("put") }),
        use(),
        room
          .configure(thread_id, { default_prompt_refs: [named] })
          .then(async () => isThere(named as string)),
        collectUnused(bench().deps),
        // A workspace that is made meanwhile has no turn of its own yet.
        bench().workspace(),
      ]);
      expect(await isThere(putAgain as string)).toBe(true);
      expect(await isThere(used as string), `round ${round}`).toBe(claimed);
      // Named before it was collected: it stays. Named after: whoever runs is told that it is gone.
      expect(await isThere(named as string)).toBe(settled);
    }
  });

  test.each(["a workspace that was there", "a workspace that was made since"])(
    "[BLB22] named in %s after the collector looked and before it collects, a blob stays",
    async (where) => {
      const room = await bench().workspace();
      const { ref } = await put(bench(), { text: "named late" });
      bench().clock.advance(ENOUGH_MS);
      const { write } = bench().store;
      const name = async () => {
        const place = where.endsWith("there") ? room : await bench().workspace();
        await place.thread({ default_prompt_refs: [ref] });
      };
      let named: Promise<void> | undefined;
      const store: Store = {
        ...bench().store,
        async write(options, unit) {
          named ??= name();
          await named;
          return write(options, unit);
        },
      };
      expect(await collectUnused({ store, clock: bench().clock })).toBe(0);
      expect(await isThere(ref)).toBe(true);
    },
  );

  test.each(["a workspace that was there", "a workspace that was made since"])(
    "[BLB22] named in %s while its batch is collected, a blob is gone before that or stays",
    async (where) => {
      // SQLite runs one unit after the other: only here can something come in between.
      if (bench().kind !== "postgres") return;
      const room = await bench().workspace();
      const thread = await room.thread();
      const { ref } = await put(bench(), { text: "named meanwhile" });
      bench().clock.advance(ENOUGH_MS);
      const { write } = bench().store;
      let made: Promise<() => Promise<void>> | undefined;
      let named: Promise<boolean> | undefined;
      const make = async () => {
        const there = where.endsWith("there");
        const place = there ? room : await bench().workspace();
        const { id } = there ? thread : await place.thread();
        return () => place.configure(id, { default_prompt_refs: [ref] });
      };
      const store: Store = {
        ...bench().store,
        async write(options, unit) {
          made ??= make();
          const name = await made;
          const begin = () => {
            named ??= name().then(() => isThere(ref));
          };
          return write(options, () => pausing(unit(), begin));
        },
      };
      await collectUnused({ store, clock: bench().clock });
      const asNamed = await named;
      expect(asNamed).toBeDefined();
      expect(await isThere(ref)).toBe(asNamed);
    },
  );

  test("[BLB23] settings are read again only where something happened", async () => {
    const rooms = [await bench().workspace(), await bench().workspace(), await bench().workspace()];
    for (let n = 0; n < 500; n++) await put(bench(), { text: `many ${n}` });
    bench().clock.advance(ENOUGH_MS);
    const statements: number[] = [];
    const { read: reading, write: writing } = bench().store;
    const counted =
      (run: (unit: () => Unit<unknown>) => Promise<unknown>) => async (unit: () => Unit<unknown>) => {
        const counter = { statements: 0 };
        const value = await run(() => counting(unit(), counter));
        statements.push(counter.statements);
        return value;
      };
    const store = {
      ...bench().store,
      read: counted(reading) as typeof reading,
      write: ((options, unit) => counted((given) => writing(options, given))(unit)) as typeof writing,
    };
    expect(await collectUnused({ store, clock: bench().clock })).toBe(500);
    // Once the runs under way and all settings; then for each batch the list, and one unit: workspaces, packs, tools, the removal.
    expect(statements).toEqual([1, 1 + rooms.length, 1, 4, 1, 4, 1, 4]);
  });
});

/** Starts something before the last statement of a batch and waits on the server, so that it could come in between. */
function* pausing<T>(unit: Unit<T>, begin: () => void): Unit<T> {
  let step = unit.next([]);
  for (let n = 1; !step.done; n++) {
    if (n === 4) {
      begin();
      yield* rawStep("select pg_sleep(0.5)");
    }
    step = unit.next(yield step.value);
  }
  return step.value;
}
