import { expect, test } from "vitest";
import { type Glob, parseGlob } from "./glob.js";

function fits(glob: string, path: string): boolean {
  return (parseGlob(glob) as Glob)(path);
}

test("[FIL31] a glob names the files it says, and no others", () => {
  const cases: [glob: string, yes: string[], no: string[]][] = [
    ["*.ts", ["a.ts", "src/a.ts", ".ts"], ["a.tsx", "a.ts/b", "a.js"]],
    ["src/*.ts", ["src/a.ts"], ["a.ts", "src/b/a.ts", "x/src/a.ts"]],
    ["src/**/*.ts", ["src/a.ts", "src/b/c/a.ts"], ["a.ts", "srcs/a.ts", "src/a.js"]],
    ["**/a.ts", ["a.ts", "x/a.ts", "x/y/a.ts"], ["xa.ts", "x/ba.ts"]],
    ["src/**", ["src/a", "src/b/c"], ["src", "srcb/c"]],
    ["./src/a?.{ts,js}", ["src/ab.ts", "src/a🧵.js"], ["src/a.ts", "src/abc.ts"]],
    ["{a,b{c,d}}.txt", ["a.txt", "bc.txt", "bd.txt"], ["b.txt", "abc.txt"]],
    ["[a-c]x[!0-9]", ["ax_", "cxz"], ["dx_", "ax1", "ax"]],
    ["a[b", ["a[b"], ["ab"]],
    ["a}b{c", ["a}b{c"], ["abc"]],
    ["a.b+(c)|d$", ["a.b+(c)|d$"], ["aXb+(c)|d$"]],
    ["!a", ["!a"], ["b"]],
    ["a**b", ["ab", "axxb"], ["a/b"]],
  ];
  for (const [glob, yes, no] of cases) {
    for (const path of yes) expect(fits(glob, path), `${glob} names ${path}`).toBe(true);
    for (const path of no) expect(fits(glob, path), `${glob} does not name ${path}`).toBe(false);
  }
});

test("[FIL31] no glob takes for ever, and braces that make too many are refused", () => {
  const path = `${"a".repeat(200)}/`.repeat(20);
  const began = performance.now();
  for (const glob of ["*a".repeat(200), "**/a*".repeat(80), `x/${"*?".repeat(200)}`])
    expect(fits(glob, `${path}b`)).toBe(false);
  expect(performance.now() - began).toBeLessThan(5_000);
  for (const glob of ["{a,b}".repeat(60), `{${"a,".repeat(100)}}`, "{a,{b,{c,d}}}".repeat(30)]) {
    expect(parseGlob(glob)).toEqual({ problem: expect.stringContaining("more than 64 alternatives") });
  }
});
