import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sizeOf, sizeOfText } from "./tokens.js";

describe("sizes", () => {
  test("[TLD120] characters are code points; outside ASCII each is about a token", () => {
    expect(sizeOfText("")).toEqual({ chars: 0, tokens: 0 });
    expect(sizeOfText("abcdefg")).toEqual({ chars: 7, tokens: 2 });
    expect(sizeOfText("\u{1F9F5}\u00e9\u4e2d")).toEqual({ chars: 3, tokens: 3 });
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
        expect(sizeOfText(text).chars).toBe([...text].length);
        expect(sizeOfText(text).tokens).toBeGreaterThanOrEqual([...text].length / 3.5);
      }),
    );
  });

  test("[TLD121] a message has a little of its own; images and calls weigh too, and more text never weighs less", () => {
    const empty = sizeOf([{ role: "user", content: "" }]).tokens;
    expect(empty).toBeGreaterThan(0);
    const image = { type: "image" as const, data: "QUI=", mimeType: "image/png" };
    expect(sizeOf([{ role: "user", content: [image] }]).tokens).toBe(empty + 1_500);
    const tool_calls = [{ id: "c", name: "files_read", arguments: '{"path":"a"}' }];
    expect(sizeOf([{ role: "assistant", content: "", tool_calls }])).toMatchObject({ chars: 22 });
    expect(sizeOf([{ role: "assistant", content: [{ type: "thinking", text: "abc" }] }]).chars).toBe(3);
    fc.assert(
      fc.property(fc.string(), fc.string(), (one, more) => {
        const size = (content: string) => sizeOf([{ role: "user", content }]).tokens;
        expect(size(one + more)).toBeGreaterThanOrEqual(size(one));
      }),
    );
    expect(sizeOf([])).toEqual({ chars: 0, tokens: 0 });
  });
});
