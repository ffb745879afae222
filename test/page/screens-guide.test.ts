import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const GUIDE = "docs/guide/page.md";
const IMAGES = "docs/guide/images";

test("[PSC5] the guide shows every picture there is, and each that it shows is there", () => {
  const text = readFileSync(GUIDE, "utf8");
  const shown = [...text.matchAll(/!\[([^\]]+)\]\(images\/([^)]+)\)/g)].map(([, words, name]) => ({
    words,
    name,
  }));
  const there = readdirSync(IMAGES).sort();
  expect(shown.map(({ name }) => name).sort()).toEqual(there);
  for (const { words } of shown) expect(words?.length).toBeGreaterThan(15);
  for (const name of there) {
    const bytes = readFileSync(`${IMAGES}/${name}`);
    expect(bytes.subarray(1, 4).toString(), name).toBe("PNG");
    expect(bytes.length, name).toBeGreaterThan(10_000);
  }
});
