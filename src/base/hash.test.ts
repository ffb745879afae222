import { expect, test } from "vitest";
import { canonicalJson } from "./hash.js";

test("[BAS36] equal values give equal JSON, in whatever order they were built", () => {
  expect(canonicalJson({ b: [{ d: 1, c: "ü" }], a: null, 10: 1, 9: 2 })).toBe(
    '{"9":2,"10":1,"a":null,"b":[{"c":"ü","d":1}]}',
  );
  expect(canonicalJson({ a: 1, b: undefined })).toBe('{"a":1}');
  expect(canonicalJson(JSON.parse('{"__proto__":{"z":1,"y":2},"a":1}'))).toBe(
    '{"__proto__":{"y":2,"z":1},"a":1}',
  );
});
