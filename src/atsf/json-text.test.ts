import { expect, test } from "vitest";
import { changeJson } from "./json-text.js";

const change = (text: string, path: (string | number)[], value: unknown) =>
  changeJson(text, [{ path, value }]);

test("[ATSF5] what is added is laid out as its neighbours are, and every other byte stays", () => {
  const cases: [string, (string | number)[], unknown, string][] = [
    ['{"a":1}', ["b"], 2, '{"a":1,"b":2}'],
    ["{}", ["a"], { b: [] }, '{"a":{"b":[]}}'],
    ["{ }", ["a", "b"], 1, '{"a":{"b":1}}'],
    ['{\n  "a": 1\n}\n', ["b"], { c: 1 }, '{\n  "a": 1,\n  "b": {\n    "c": 1\n  }\n}\n'],
    ['{\r\n\t"a": {}\r\n}', ["a", "b"], 1, '{\r\n\t"a": {\r\n\t\t"b": 1\r\n\t}\r\n}'],
    ['{\n    "a": {"x":1}\n}', ["a", "y"], 2, '{\n    "a": {"x":1,"y":2}\n}'],
    ['{"a":{\n  "x" : 1 }}', ["a", "x"], 2, '{"a":{\n  "x" : 2 }}'],
    ['{"a":"text"}', ["a", "b"], 1, '{"a":{"b":1}}'],
    ['{"a":[1,2]}', ["a", 1], 3, '{"a":[1,3]}'],
    ['{"a":[1,2]}', ["a", 2], 3, '{"a":[1,2,3]}'],
    ['{"a":[]}', ["a", 0, "b"], 1, '{"a":[{"b":1}]}'],
    ['{"__proto__":1}', ["__proto__"], 2, '{"__proto__":2}'],
  ];
  for (const [text, path, value, expected] of cases) expect(change(text, path, value)).toBe(expected);
});

test("[ATSF5] what is removed takes its comma with it, and what is not there needs no removing", () => {
  const text = '{"a": 1, "b": {"c": 1} ,"d":[1, 2]}';
  const cases: [(string | number)[], string][] = [
    [["a"], '{"b": {"c": 1} ,"d":[1, 2]}'],
    [["b"], '{"a": 1, "d":[1, 2]}'],
    [["d"], '{"a": 1, "b": {"c": 1}}'],
    [["b", "c"], '{"a": 1, "b": {} ,"d":[1, 2]}'],
    [["d", 0], '{"a": 1, "b": {"c": 1} ,"d":[2]}'],
    [["x"], text],
    [["a", "x"], text],
    [["d", 7], text],
  ];
  for (const [path, expected] of cases) expect(change(text, path, undefined), path.join(".")).toBe(expected);
});

test("[ATSF5] of two members with one name the last is changed: it is the one that readers see", () => {
  const text = change('{"title":"first","title":"last"}', ["title"], "new");
  expect(text).toBe('{"title":"first","title":"new"}');
  expect(JSON.parse(text).title).toBe("new");
});

test("[ATSF5] several changes are made one after the other", () => {
  const text = '{"n":12345678901234567890,"a":1}';
  const changes = [
    { path: ["b"], value: 1 },
    { path: ["b"], value: { c: 2 } },
    { path: ["b", "d"], value: 3 },
    { path: ["a"], value: undefined },
  ];
  expect(changeJson(text, changes)).toBe('{"n":12345678901234567890,"b":{"c":2,"d":3}}');
});
