import fc from "fast-check";
import { expect, test } from "vitest";
import { countChars, isStorableText } from "./plain.js";

const anyText = fc.string({ unit: fc.nat({ max: 0xffff }).map((code) => String.fromCharCode(code)) });

test("[TXT1] lengths count code points", () => {
  fc.assert(fc.property(anyText, (text) => countChars(text) === [...text].length));
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => countChars(text) === [...text].length));
  expect(countChars("😀".repeat(65_536))).toBe(65_536);
  expect(countChars("\ud83d")).toBe(1);
  expect(countChars("\ude00\ud83d")).toBe(2);
});

test("[TXT2] NUL and lone surrogates are not storable, all else is", () => {
  for (const text of ["\0", "a\0", "\ud800", "\udc00", "a\ud800b", "\ude00\ud83d"])
    expect(isStorableText(text)).toBe(false);
  fc.assert(
    fc.property(anyText, (text) => {
      const survives = Buffer.from(text, "utf8").toString("utf8") === text && !text.includes("\0");
      return isStorableText(text) === survives;
    }),
  );
});
