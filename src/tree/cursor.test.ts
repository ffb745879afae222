import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeCursor, encodeCursor } from "./cursor.js";

const id = fc.stringMatching(/^[A-Za-z0-9._-]{1,128}$/);

test("[TXT5] a cursor gives back its key", () => {
  fc.assert(
    fc.property(fc.maxSafeInteger(), id, (at, key) => {
      expect(decodeCursor(encodeCursor(at, key), ["number", "string"])).toEqual([at, key]);
      expect(decodeCursor(encodeCursor(key, at), ["string", "number"])).toEqual([key, at]);
    }),
  );
});

test("[TXT5] anything else is refused", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json().map((text) => Buffer.from(text).toString("base64url")),
      ),
      (text) => {
        expect(() => decodeCursor(text, ["number", "string"])).toThrow("not one that a list answered");
      },
    ),
  );
  expect(() => decodeCursor(encodeCursor("a", "b"), ["number", "string"])).toThrow();
  expect(() => decodeCursor(encodeCursor(1.5, "b"), ["number", "string"])).toThrow();
});
