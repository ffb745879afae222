import { describe, expect, test } from "vitest";
import {
  mergedByThemselves,
  mergedText,
  type Region,
  regionsOf,
  undecided,
} from "../../web/features/agents-doc/merge.js";

const lines = (text: string) => text.split(" ").join("\n");
const side = (regions: readonly Region[], which: "base" | "mine" | "theirs") =>
  regions.flatMap((region) => region[which]).join("\n");

describe("merging", () => {
  const base = lines("a b c d e f g");

  test("[PED39] what only one side changed is merged, wherever it is", () => {
    const regions = regionsOf(base, lines("A b c d e f g"), lines("a b c d e f g h"));
    expect(undecided(regions, {})).toBe(0);
    expect(mergedText(regions, {})).toBe(lines("A b c d e f g h"));
    expect(mergedByThemselves(regions)).toBe(2);
  });

  test("[PED39] the same change on both sides is taken once", () => {
    const regions = regionsOf(base, lines("a b X d e f g"), lines("a b X d e f G"));
    expect(undecided(regions, {})).toBe(0);
    expect(mergedText(regions, {})).toBe(lines("a b X d e f G"));
  });

  test("[PED39] an overlap takes mine, theirs, both, or what was written", () => {
    const regions = regionsOf(base, lines("a b M d e f g"), lines("a b T1 T2 d e f g"));
    const overlap = regions.find(({ kind }) => kind === "overlap") as Region;
    expect(undecided(regions, {})).toBe(1);
    const taking = (choice: Parameters<typeof undecided>[1][string]) =>
      mergedText(regions, { [overlap.key]: choice });
    expect(taking("mine")).toBe(lines("a b M d e f g"));
    expect(taking("theirs")).toBe(lines("a b T1 T2 d e f g"));
    expect(taking("both")).toBe(lines("a b M T1 T2 d e f g"));
    expect(taking({ text: "x\ny" })).toBe(lines("a b x y d e f g"));
    expect(taking({ text: "" })).toBe(lines("a b d e f g"));
  });

  test("[PED39] deleted on one side and changed on the other overlaps; deleted on one side only is gone", () => {
    expect(undecided(regionsOf(base, lines("a b d e f g"), lines("a b C d e f g")), {})).toBe(1);
    expect(mergedText(regionsOf(base, lines("a b d e f g"), lines("a b c d e f G")), {})).toBe(
      lines("a b d e f G"),
    );
  });

  test("[PED39] a choice keeps its key when the other side changes elsewhere, and loses it when it changes there", () => {
    const mine = lines("a b M d e f g");
    const key = (theirs: string) => regionsOf(base, mine, theirs).find(({ kind }) => kind === "overlap")?.key;
    const first = key(lines("a b T d e f g"));
    expect(key(lines("a b T d e f G"))).toBe(first);
    expect(key(lines("a b U d e f g"))).not.toBe(first);
  });

  test("[PED39] the regions hold every line of all three texts, for any texts", () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 1103515245 + 12345) % 2147483648;
      return Math.floor((seed / 2147483648) * below);
    };
    const some = () => Array.from({ length: random(9) }, () => "abcd"[random(4)]).join("\n");
    for (let round = 0; round < 2_000; round++) {
      const [b, m, t] = [some(), some(), some()];
      const regions = regionsOf(b, m, t);
      expect([side(regions, "base"), side(regions, "mine"), side(regions, "theirs")]).toEqual([b, m, t]);
      expect(mergedText(regionsOf(b, m, b), {})).toBe(m);
      expect(mergedText(regionsOf(b, b, t), {})).toBe(t);
      expect(new Set(regions.map(({ key }) => key)).size).toBe(regions.length);
    }
  });
});
