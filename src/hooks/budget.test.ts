import fc from "fast-check";
import { expect, test } from "vitest";
import { codePoints, fitted } from "./budget.js";
import { CallFailure } from "./errors.js";

const wrapper = { open: "<doc>\n", close: "\n</doc>" };

test("[HKR13] a section over its budget is cut, and says by how much", () => {
  expect(fitted("a".repeat(100), 100)).toEqual({ content: "a".repeat(100), truncation: "none" });
  const { content, truncation } = fitted("a".repeat(101), 100);
  expect({ content, truncation }).toEqual({
    content: `${"a".repeat(77)}\n[… 24 characters cut]`,
    truncation: "hook",
  });
});

test("[HKR13] the wrapper counts and stays whole, and the cut is at the end of a line where one is near", () => {
  const lines = "one line of text\n".repeat(100);
  const { content } = fitted(lines, 200, wrapper);
  expect(content).toMatch(/^<doc>\n(one line of text\n)+\[… \d+ characters cut\]\n<\/doc>$/);
  expect(codePoints(content)).toBeLessThanOrEqual(200);
  const far = fitted(`first\n${"x".repeat(5_000)}`, 2_000).content;
  expect(codePoints(far)).toBeGreaterThan(1_900);
  expect(() => fitted("x".repeat(100), 64, { open: "o".repeat(60), close: "" })).toThrow(CallFailure);
});

test("[HKR13] whatever the text, the budget holds and no character is cut in two", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "é", "\n", "🧵", "👩‍👩‍👧", "漢"), maxLength: 400 });
  fc.assert(
    fc.property(text, fc.integer({ min: 64, max: 300 }), (given, budget) => {
      const { content, truncation, cut = "" } = fitted(given, budget, wrapper);
      const inner = content.slice(wrapper.open.length, -wrapper.close.length);
      expect(codePoints(content)).toBeLessThanOrEqual(budget);
      expect(content.isWellFormed()).toBe(true);
      const [, kept, missing] = /^(.*)\n\[… (\d+) characters cut\]$/s.exec(inner) ?? ["", given, "0"];
      expect(truncation).toBe(missing === "0" ? "none" : "hook");
      expect(given.startsWith(kept as string)).toBe(true);
      expect([...given].length).toBe([...(kept as string)].length + Number(missing));
      expect(kept + cut).toBe(given);
    }),
  );
});
