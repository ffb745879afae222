import { describe, expect, test } from "vitest";
import { Lru } from "./index.js";

describe("the map that forgets", () => {
  test("[BAS10] it forgets what was used longest ago; reading and writing are uses", () => {
    const lru = new Lru<string, number>(3);
    for (const [key, value] of [
      ["a", 1],
      ["b", 2],
      ["c", 3],
    ] as const)
      lru.set(key, value);
    expect(lru.get("a")).toBe(1);
    lru.set("b", 20);
    lru.set("d", 4);
    expect(["a", "b", "c", "d"].map((key) => lru.get(key))).toEqual([1, 20, undefined, 4]);
  });

  test("[BAS11] weights are summed: many light entries or few heavy ones, and one too heavy is not kept", () => {
    const lru = new Lru<string, string>(10);
    lru.set("light", "l", 1);
    lru.set("heavy", "h", 9);
    expect([lru.get("light"), lru.get("heavy")]).toEqual(["l", "h"]);
    lru.set("heavier", "i", 10);
    expect([lru.get("light"), lru.get("heavy"), lru.get("heavier")]).toEqual([undefined, undefined, "i"]);
    lru.set("too heavy", "t", 11);
    expect([lru.get("heavier"), lru.get("too heavy")]).toEqual([undefined, undefined]);
    lru.set("again", "a", 10);
    expect(lru.get("again")).toBe("a");
  });

  test("[BAS11] an entry that is replaced counts once", () => {
    const lru = new Lru<string, number>(4);
    for (let n = 0; n < 10; n++) lru.set("same", n, 3);
    lru.set("other", 1, 1);
    expect([lru.get("same"), lru.get("other")]).toEqual([9, 1]);
  });

  test("[BAS12] what is forgotten, replaced, deleted or cleared is handed over, once", () => {
    const forgotten: string[] = [];
    const lru = new Lru<string, string>(2, (value) => forgotten.push(value));
    lru.set("a", "a1");
    lru.set("a", "a2");
    lru.set("b", "b1");
    lru.set("c", "c1");
    lru.delete("b");
    lru.delete("b");
    lru.clear();
    lru.clear();
    expect(forgotten).toEqual(["a1", "a2", "b1", "c1"]);
    expect(lru.get("c")).toBeUndefined();
  });
});
