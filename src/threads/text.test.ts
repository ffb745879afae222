import fc from "fast-check";
import { expect, test } from "vitest";
import { beginningOf } from "./text.js";

test("[TXT6] the beginning of a text is that many of its code points, and never half a character", () => {
  const texts = fc.string({ unit: "binary", maxLength: 40 });
  fc.assert(
    fc.property(texts, fc.nat(30), (text, count) => {
      expect(beginningOf(text, count)).toBe([...text].slice(0, count).join(""));
    }),
  );
});
