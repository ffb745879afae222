import fc from "fast-check";
import { expect, test } from "vitest";
import { messages, searchTerms, threads, type Unit, wordsOf, workspaces } from "../../src/store/index.js";
import { onFreshStore, read, stage, write } from "./support/fresh-store.js";
import { addThread, addWorkspace, counting, threadRow } from "./support/rows.js";

interface Said {
  readonly text: string;
  readonly at?: number;
  readonly line_offset?: number;
}

/** A message of a text. What is not given is counted from its id: `msg_7` stands at byte 7 and was said at second 7. */
function message(workspace_id: string, thread_id: string, message_id: string, said: Said) {
  const n = Number(message_id.replace(/\D/g, "") || 0);
  const { text, at = n, line_offset = n } = said;
  return { workspace_id, thread_id, message_id, line_offset, at, role: "user", words: wordsOf(text) };
}

/** A workspace with one thread whose messages are these texts, the first one the oldest. */
function* addTexts(workspace_id: string, texts: readonly string[]): Unit<void> {
  yield* addWorkspace(workspace_id);
  yield* addThread(threadRow(workspace_id, "thr_1"));
  yield* messages.saveMessages(texts.map((text, n) => message(workspace_id, "thr_1", `msg_${n}`, { text })));
}

type Narrowed = Partial<messages.MessageSearch>;

/** The ids of the messages a query finds. */
async function find(workspace_id: string, asked: string, narrowed: Narrowed = {}): Promise<string[]> {
  const search = { workspace_id, terms: searchTerms(asked), limit: 100, ...narrowed };
  const rows = await read(() => messages.searchMessages(search));
  return rows.map((row) => row.message_id);
}

/** How much the database itself keeps for the search, looked at past the store. */
async function wordRows(): Promise<number> {
  const table = stage().kind === "sqlite" ? "message_words" : "message where words is not null";
  return Number((await stage().sql(`select count(*) as n from ${table}`))[0]?.n);
}

/** What a query should find, in plain words: each of its terms begins a word of the message. */
function findPlainly(texts: readonly string[], asked: string): string[] {
  const terms = searchTerms(asked);
  if (terms.length === 0) return [];
  const found = texts.flatMap((text, n) => {
    const words = wordsOf(text);
    return terms.every((term) => words.some((word) => word.startsWith(term))) ? [`msg_${n}`] : [];
  });
  return found.reverse();
}

const tricky = [
  "Plain words, and a full stop.",
  "getUserName() of user_names[2]",
  "sha256-0f1e2d3c4b5a6978.png",
  "❤️hello👍🏽 wor\u0301ld",
  "Cafe\u0301 crème ÉTÉ",
  "ΟΔΥΣΣΕΥΣ weiß STRASSE",
  "東京都の天気はどうですか",
  "สวัสดีครับ น้ำ",
  "안녕하세요 세계",
  "a AND b OR NOT c NEAR d",
  `'quoted' "twice" back\\slash col:umn pre* ^first {x} -minus`,
  "ᾳ ǅ ﬀ ª º ⁿ ₂ ㎏ ½",
  "\u0901\u0902 क्षत्रिय 𝒳𝒴 𐐀𐐁 𠮷野家",
  "one\u00a0two\u2028three\u3000four\u200bfive\x01six",
];

onFreshStore("search in messages", () => {
  test("[SRCH4] every term begins a word, whatever the words are made of", async () => {
    await write(() => addTexts("ws_tricky", tricky));
    const queries = [
      ...tricky,
      ...tricky.flatMap(wordsOf),
      ..."aéσß東の京น你*\"'\\:& ",
      "c d",
      "use nam",
      "ords",
    ];
    const answers = await read(function* () {
      const found: string[][] = [];
      for (const asked of queries) {
        const search = { workspace_id: "ws_tricky", terms: searchTerms(asked), limit: 100 };
        found.push((yield* messages.searchMessages(search)).map((row) => row.message_id));
      }
      return found;
    });
    const expected = queries.map((asked) => findPlainly(tricky, asked));
    expect(answers.map((ids, n) => [queries[n], ids])).toEqual(expected.map((ids, n) => [queries[n], ids]));
    expect(expected.slice(0, tricky.length).every((ids, n) => ids.includes(`msg_${n}`))).toBe(true);
  });

  test("[SRCH4] texts and queries of all kinds find what a plain comparison finds", async () => {
    const unit = fc.constantFrom(
      ..."aAbBé1_-. '\"*:&|!()\\\u0301\u200d❤東京都あーก็안ßΣİ",
      "AND ",
      "or ",
      "ab",
      "東京",
    );
    const text = fc.string({ unit, maxLength: 12 });
    let run = 0;
    const holds = fc.asyncProperty(
      fc.array(text, { minLength: 1, maxLength: 6 }),
      fc.array(fc.string({ unit, maxLength: 4 }), { minLength: 1, maxLength: 6 }),
      async (texts, queries) => {
        const ws = `ws_any_${run++}`;
        await write(() => addTexts(ws, texts));
        for (const asked of queries)
          expect([asked, await find(ws, asked)]).toEqual([asked, findPlainly(texts, asked)]);
      },
    );
    await fc.assert(holds, { numRuns: 100, seed: 20261203, endOnFailure: true });
  });

  test("[SRCH4] no term finds nothing, nor does what can't begin a word", async () => {
    await write(() => addTexts("ws_terms", ["alpha beta"]));
    expect(await find("ws_terms", "")).toEqual([]);
    for (const term of ["", " ", "Alpha", "alpha beta", 'a" OR "b', "a':* | 'b", "a\\", "\0", "\uD800", "*"])
      expect([term, await find("ws_terms", "", { terms: ["alpha", term] })]).toEqual([term, []]);
    expect(await find("ws_terms", "alpha")).toEqual(["msg_0"]);
  });

  test("[SRCH4] a query of a thousand terms is answered", async () => {
    const text = Array.from({ length: 1_000 }, (_, n) => `w${n}`).join(" ");
    await write(() => addTexts("ws_long", [text, text.replace("w999", "")]));
    expect(await find("ws_long", text)).toEqual(["msg_0"]);
  });

  test("[SRCH5] it comes newest first, page by page, each once, with where it stands", async () => {
    const ids = Array.from({ length: 25 }, (_, n) => `msg_${n}`);
    await write(function* () {
      yield* addTexts("ws_pages", []);
      // Later ones are saved first, and five share each second.
      const rows = ids.map((id, n) =>
        message("ws_pages", "thr_1", id, { text: "page", at: Math.floor(n / 5) }),
      );
      yield* messages.saveMessages(rows.slice(15));
      yield* messages.saveMessages(rows.slice(0, 15));
    });
    const seen: messages.FoundMessage[] = [];
    const search = { workspace_id: "ws_pages", terms: ["page"], limit: 4 };
    for (;;) {
      const page = await read(() => messages.searchMessages({ ...search, before: seen.at(-1) }));
      seen.push(...page);
      if (page.length < 4) break;
    }
    expect(seen.map((row) => row.at)).toEqual(Array.from({ length: 25 }, (_, n) => 4 - Math.floor(n / 5)));
    expect(seen.map((row) => row.message_id).sort()).toEqual([...ids].sort());
    const { id, ...rest } = seen.find((row) => row.message_id === "msg_7") as messages.FoundMessage;
    expect(rest).toEqual({
      thread_id: "thr_1",
      message_id: "msg_7",
      line_offset: 7,
      at: 1,
      role: "user",
      file_root: null,
    });
    expect(id).toBeTypeOf("number");
    const byId = await read(() => messages.findMessage("ws_pages", "thr_1", "msg_7"));
    expect({ ...byId, file_root: null }).toEqual({ id, ...rest });
    for (const [ws, thread, message_id] of [
      ["ws_none", "thr_1", "msg_7"],
      ["ws_pages", "thr_2", "msg_7"],
      ["ws_pages", "thr_1", "msg_25"],
      ["ws_pages", "thr_1", "msg_7\0"],
    ] as const)
      expect(await read(() => messages.findMessage(ws, thread, message_id))).toBeUndefined();
  });

  test("[SRCH6] only the living threads of the workspace are searched, and one of them on request", async () => {
    await write(function* () {
      for (const ws of ["ws_here", "ws_there"]) {
        yield* addTexts(ws, [`shared ${ws}`]);
        yield* addThread(threadRow(ws, "thr_2"));
        yield* messages.saveMessages([message(ws, "thr_2", "msg_5", { text: "shared" })]);
      }
    });
    expect(await find("ws_here", "shared")).toEqual(["msg_5", "msg_0"]);
    expect(await find("ws_here", "shared", { thread_id: "thr_2" })).toEqual(["msg_5"]);
    expect(await find("ws_here", "shared", { thread_id: "thr_none" })).toEqual([]);
    await write(() => threads.updateThread("ws_here", "thr_2", { deleted_at: 9 }));
    expect(await find("ws_here", "shared")).toEqual(["msg_0"]);
    expect(await find("ws_here", "shared", { thread_id: "thr_2" })).toEqual([]);
    expect(await find("ws_there", "shared")).toEqual(["msg_5", "msg_0"]);
    await write(() => threads.updateThread("ws_here", "thr_2", { deleted_at: null }));
    expect(await find("ws_here", "shared")).toEqual(["msg_5", "msg_0"]);
  });

  test("[SRCH7] a message that is there already is replaced, with its words, its time and its place", async () => {
    await write(() => addTexts("ws_again", ["old words", "other words"]));
    const before = await wordRows();
    const changed = { text: "new words", at: 50, line_offset: 900 };
    await write(() => messages.saveMessages([message("ws_again", "thr_1", "msg_0", changed)]));
    expect(await find("ws_again", "old")).toEqual([]);
    expect(await find("ws_again", "words")).toEqual(["msg_0", "msg_1"]);
    const [row] = await read(() =>
      messages.searchMessages({ workspace_id: "ws_again", terms: ["new"], limit: 1 }),
    );
    expect([row?.at, row?.line_offset]).toEqual([50, 900]);
    expect(await wordRows()).toBe(before);
  });

  test("[SRCH7] of messages with one id saved at once the last one counts", async () => {
    await write(() => addTexts("ws_twice", []));
    const texts = ["first", "second", ""];
    const rows = texts.map((text) => message("ws_twice", "thr_1", "msg_1", { text }));
    await write(() => messages.saveMessages(rows.slice(0, 2)));
    expect([await find("ws_twice", "first"), await find("ws_twice", "second")]).toEqual([[], ["msg_1"]]);
    await write(() => messages.saveMessages(rows));
    expect([await find("ws_twice", "first"), await find("ws_twice", "second")]).toEqual([[], []]);
  });

  test("[SRCH8] messages that are removed are not found, and leave nothing behind", async () => {
    const before = await wordRows();
    await write(function* () {
      yield* addTexts("ws_removed", ["fading one", "fading two"]);
      yield* addThread(threadRow("ws_removed", "thr_2"));
      yield* messages.saveMessages([message("ws_removed", "thr_2", "msg_0", { text: "fading three" })]);
    });
    await write(() => messages.removeMessages("ws_removed", "thr_1"));
    expect(await find("ws_removed", "fading")).toEqual(["msg_0"]);
    expect(await find("ws_removed", "fading", { thread_id: "thr_1" })).toEqual([]);
    expect(await wordRows()).toBe(before + 1);
    await write(() => messages.saveMessages([message("ws_removed", "thr_1", "msg_8", { text: "afresh" })]));
    expect(await find("ws_removed", "fading")).toEqual(["msg_0"]);
    expect(await find("ws_removed", "afresh")).toEqual(["msg_8"]);
  });

  test("[SRCH8] purging threads and workspaces takes their words with them", async () => {
    const before = await wordRows();
    await write(() => addTexts("ws_kept", ["purge me not"]));
    await write(function* () {
      yield* addTexts("ws_purged", ["purge me", "and me"]);
      yield* addTexts("ws_thread_purged", ["purge me too"]);
    });
    expect(await wordRows()).toBe(before + 4);
    await write(() => threads.updateThread("ws_thread_purged", "thr_1", { deleted_at: 5 }));
    await write(() => threads.purgeThreads(6));
    expect(await wordRows()).toBe(before + 3);
    await write(() => workspaces.updateWorkspace("ws_purged", { deleted_at: 5 }));
    await write(() => workspaces.purgeWorkspaces(6));
    expect(await wordRows()).toBe(before + 1);
    // New rows may get the numbers of those that are gone: nothing of theirs may answer for them.
    await write(() => addTexts("ws_after", ["something else", "entirely"]));
    expect(await find("ws_after", "me")).toEqual([]);
    expect(await find("ws_kept", "purge")).toEqual(["msg_0"]);
  });

  test("[SRCH9] five thousand messages go in with few statements, and the rare word among them is found", async () => {
    const rows = Array.from({ length: 5_000 }, (_, n) => {
      const text = `common word${n % 100} ${n === 1_234 ? "needle" : "hay"}${n} lorem ipsum dolor sit amet`;
      return message("ws_many", "thr_1", `msg_${n}`, { text });
    });
    const count = { statements: 0 };
    await write(() => addTexts("ws_many", []));
    await write(() => counting(messages.saveMessages(rows), count));
    expect(count.statements).toBeLessThanOrEqual(20);
    expect(await find("ws_many", "needle")).toEqual(["msg_1234"]);
    expect(await find("ws_many", "COMMON word99 needl")).toEqual([]);
    expect(await find("ws_many", "common word34 needl")).toEqual(["msg_1234"]);
    expect(await find("ws_many", "common", { limit: 3 })).toEqual(["msg_4999", "msg_4998", "msg_4997"]);
    await write(() => messages.saveMessages([]));
  });

  test("[SRCH9] messages beyond all measure go in, many of them at once", async () => {
    const word = (n: number) => `${String(n).padStart(8, "x")}é`;
    const texts = [0, 1, 2].map((n) =>
      Array.from({ length: 90_000 }, (_, k) => word(n * 90_000 + k)).join(" "),
    );
    await write(() => addTexts("ws_huge", texts));
    expect(await find("ws_huge", word(0))).toEqual(["msg_0"]);
    const last = wordsOf(texts[2] ?? "").at(-1) ?? "";
    expect(await find("ws_huge", last)).toEqual(["msg_2"]);
    expect(await find("ws_huge", word(3 * 90_000 - 1))).toEqual([]);
  });

  test("[SRCH10] an id that no database can hold keeps no other message from being found", async () => {
    await write(() => addTexts("ws_ids", []));
    const ids = ["nul\0", "half\uD800", "", "'; drop table message; --", '\u{1F9F5}\\u0000"', "ws\n\t"];
    const rows = ids.map((id, n) => ({ ...message("ws_ids", "thr_1", id, { text: "id" }), at: n }));
    await write(() => messages.saveMessages(rows));
    expect(await find("ws_ids", "id")).toEqual(ids.slice(2).reverse());
  });

  test("[SRCH10] a message of a thread that is not there is refused, with all that were saved with it", async () => {
    await write(() => addTexts("ws_orphan", []));
    const rows = ["thr_1", "thr_none"].map((thread) => message("ws_orphan", thread, "msg_1", { text: "x" }));
    await expect(write(() => messages.saveMessages(rows))).rejects.toThrow(/foreign key/i);
    expect(await find("ws_orphan", "x")).toEqual([]);
  });
});
