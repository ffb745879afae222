import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { HeddleError } from "../base/index.js";
import { normalise } from "./normalise.js";

const pieces = fc.array(
  fc.constantFrom("a", " ", "\t", "\r", "\n", "\r\n", "\uFEFF", "é", "e\u0301", "😀", "\u2028", "\v"),
);

test("[TXT3] a leading BOM goes, line ends become LF, nothing else changes", () => {
  expect(normalise("\uFEFFa\r\nb\rc\n\r\n d \t\n").content).toBe("a\nb\nc\n\n d \t\n");
  expect(normalise("a\uFEFFb").content).toBe("a\uFEFFb");
  expect(normalise("e\u0301\u2028x").content).toBe("e\u0301\u2028x");
  fc.assert(
    fc.property(pieces, (list) => {
      const text = list.join("");
      const { content, content_sha256, char_count } = normalise(text);
      const slow = [
        ...text
          .replace(/^\uFEFF/, "")
          .split("\r\n")
          .join("\n")
          .split("\r")
          .join("\n"),
      ];
      expect([...content]).toEqual(slow);
      expect(char_count).toBe(slow.length);
      expect(content_sha256).toBe(createHash("sha256").update(content).digest("hex"));
      if (!content.startsWith("\uFEFF")) expect(normalise(content).content).toBe(content);
    }),
  );
});

test("[TXT4] a document without text is a draft", () => {
  for (const text of ["", " ", "\n\t\r\n", "\uFEFF", "\u00a0\u2003", "\u0085"])
    expect(normalise(text).status).toBe("draft");
  for (const text of ["a", " a ", "0", "\u200b", "a\uFEFF"]) expect(normalise(text).status).toBe("active");
});

test("[TXT1] the limit counts code points of the normalised text", () => {
  expect(normalise("😀".repeat(65_536)).char_count).toBe(65_536);
  expect(normalise("\r\n".repeat(65_536)).char_count).toBe(65_536);
  expect(normalise(`\uFEFF${"a".repeat(65_536)}`).char_count).toBe(65_536);
  const error = (() => {
    try {
      normalise("😀".repeat(65_537));
    } catch (thrown) {
      return thrown as HeddleError;
    }
    return undefined;
  })();
  expect(error).toBeInstanceOf(HeddleError);
  expect(error).toMatchObject({ kind: "agents_doc.too_long", data: { char_count: 65_537, limit: 65_536 } });
});
