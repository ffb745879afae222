import fc from "fast-check";
import { expect, test } from "vitest";
import { isTerm, searchTerms, wordsOf } from "./words.js";

test.each([
  ["plain words, each once", "The cat, the CAT; the-cat!", ["the", "cat"]],
  ["digits and letters together", "sha256 v2.0 3rd", ["sha256", "v2", "0", "3rd"]],
  ["underscores part words", "snake_case __init__", ["snake", "case", "init"]],
  ["one spelling of letters and marks", "Cafe\u0301 CAFÉ ﬁne Ⅳ ²", ["café", "fine", "iv", "2"]],
  ["marks that are no part of a letter", "q\u0307x क्षि शक्ति", ["q\u0307x", "क्षि", "शक्ति"]],
  ["emoji are no words and hold to none", "❤️hello👍🏽bye 1️⃣ 👩‍👩‍👧‍👦", ["hello", "bye", "1\u20E3"]],
  [
    "nothing invisible stays",
    "co\u00ADop\u200Der\u2060ate\uFE0F a\u200Bb \uFEFFc",
    ["cooperate", "a", "b", "c"],
  ],
  ["one small sigma, dotted capital I", "ΟΔΥΣΣΕΥΣ ὈΔΥΣ İstanbul", ["οδυσσευσ", "ὀδυσ", "i\u0307stanbul"]],
  ["Hangul and right to left", "안녕 세계 שָׁלוֹם عالم", ["안녕", "세계", "שָׁלוֹם".normalize("NFKC"), "عالم"]],
  ["nothing", " \t\n…!?*\"'`\0\uD800-", []],
])("[SRCH1] words are runs of letters, marks and digits in one spelling: %s", (_, text, words) => {
  expect(wordsOf(text)).toEqual(words);
});

test("[SRCH1] a word is cut at 64 characters, and still found by all of it", () => {
  const long = "𝒙é".repeat(50);
  expect(wordsOf(long)).toEqual(["xé".repeat(32)]);
  expect(searchTerms(long)).toEqual(wordsOf(long));
  expect(wordsOf("𐐨".repeat(65))).toEqual(["𐐨".repeat(64)]);
});

test("[SRCH1] plain text has the words that it has beside other letters", () => {
  const plain = fc.string({ unit: fc.constantFrom(..."abzABZ09 _-.\t\n"), maxLength: 150 });
  fc.assert(
    fc.property(plain, (text) => {
      expect([...wordsOf(text), "é"]).toEqual(wordsOf(`${text} é`));
    }),
    { numRuns: 1000 },
  );
});

test.each([
  ["three of Han", "東京都", ["東京", "京都", "都"], ["東京", "京都"]],
  ["one", "猫", ["猫"], ["猫"]],
  ["kana with its long mark", "コーヒー", ["コー", "ーヒ", "ヒー", "ー"], ["コー", "ーヒ", "ヒー"]],
  ["half the width", "ｶﾞ", ["ガ"], ["ガ"]],
  ["a repetition", "ああああ", ["ああ", "あ"], ["ああ"]],
  ["beyond the first plane", "𠮷野家", ["𠮷野", "野家", "家"], ["𠮷野", "野家"]],
  ["Thai with marks", "น้ำ", ["น้", "\u0E49\u0E4D", "\u0E4Dา", "า"], ["น้", "\u0E49\u0E4D", "\u0E4Dา"]],
  ["with other letters beside it", "Web検索api2", ["web", "検索", "索", "api2"], ["web", "検索", "api2"]],
])("[SRCH2] a run without spaces becomes overlapping pairs: %s", (_, text, words, terms) => {
  expect(wordsOf(text)).toEqual(words);
  expect(searchTerms(text)).toEqual(terms);
});

test.each([
  ["getUserName", ["getusername", "get", "user", "name"]],
  ["HTTPServer", ["httpserver", "http", "server"]],
  ["parseJSON5Value", ["parsejson5value", "parse", "json5", "value"]],
  ["XMLHttpRequest", ["xmlhttprequest", "xml", "http", "request"]],
  ["ÉtatCivil", ["étatcivil", "état", "civil"]],
  ["Word WORD iO", ["word", "io", "i", "o"]],
])("[SRCH3] %s is found by its parts as well, and a query is not taken apart", (text, words) => {
  expect(wordsOf(text)).toEqual(words);
  expect(searchTerms(text)).toEqual([...new Set(text.split(" ").map((word) => word.toLowerCase()))]);
});

test("[SRCH4] whatever the text, its words are terms, and every word of a text finds that text", () => {
  const text = fc.string({
    unit: fc.oneof(
      fc.constantFrom(..."aBÉςİ日ーก็ \u0301\u200D❤️"),
      fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
    ),
  });
  fc.assert(
    fc.property(text, (value) => {
      const words = wordsOf(value);
      expect(words.filter((word) => !isTerm(word))).toEqual([]);
      expect(new Set(words).size).toBe(words.length);
      for (const term of searchTerms(value)) expect(words.some((word) => word.startsWith(term))).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});

test("[SRCH9] of a message beyond all measure the first words count, half a mebibyte of them", () => {
  const text = Array.from({ length: 200_000 }, (_, n) => `word${String(n).padStart(6, "0")}`).join(" ");
  const words = wordsOf(text);
  expect(words.join("").length).toBeLessThanOrEqual(512 * 1024);
  expect(words).toEqual(text.split(" ").slice(0, words.length));
  expect(words.length).toBe(Math.floor((512 * 1024) / 10));
});
