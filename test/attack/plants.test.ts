import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, inject, test } from "vitest";
import { ended } from "../support/cli.js";
import { kinds } from "./plants/kinds.js";
import { unplantable, withHole } from "./plants/planting.js";
import { plants } from "./plants/plants.js";

test("[ATK1] every kind has planted holes, one of them quick, and each guard stands in the sources once", () => {
  for (const kind of Object.keys(kinds)) {
    const own = plants.filter((plant) => plant.kind === kind);
    expect({ kind, quick: own.filter(({ quick }) => quick).length }).toEqual({ kind, quick: 1 });
    for (const { attack, caught } of own) {
      const text = readFileSync(attack, "utf8");
      for (const name of caught) expect(text, attack).toContain(/^\[\w+\]/.exec(name)?.[0]);
    }
  }
  expect(unplantable(plants)).toEqual([]);
});

test("[ATK1] a guard that was renamed, or stands there twice, is told by file and text", () => {
  const hole = { file: "src/x.ts", guard: "if (isForeign(host))", hole: "if (false)" };
  expect(withHole("a; if (isForeign(host)) b;", hole)).toBe("a; if (false) b;");
  expect(() => withHole("a; if (isStrange(host)) b;", hole)).toThrow(
    /src\/x\.ts: its guard is not there any more[\s\S]*isForeign/,
  );
  expect(() => withHole(`${hole.guard} ${hole.guard}`, hole)).toThrow(/is there 2 times/);
});

test("[ATK2] the attacks find a planted hole of each kind", async () => {
  const { output, code } = await attackSuite("--plants", "--quick");
  const caught = output.match(/^caught .*/gm) ?? [];
  expect({ code, caught: caught.length, output }).toMatchObject({
    code: 0,
    caught: plants.filter(({ quick, inBrowser }) => quick && (!inBrowser || inject("chromium") !== ""))
      .length,
  });
}, 600_000);

test("[ATK3] where nothing is planted, nothing is caught, and that fails", async () => {
  const { output, code } = await attackSuite("--plants", "--quick", "--blank", "rebinding");
  expect({ code, output }).toMatchObject({ code: 1 });
  expect(output).toMatch(/^ESCAPED {2}any name that leads here is answered: \[ATK15\] .* did not find it$/m);
  expect(output).toMatch(/^0 passed, 1 failed$/m);
}, 600_000);

/** As `npm run test:attack` runs it, without what this run has set for itself. */
async function attackSuite(...args: string[]): Promise<{ output: string; code: number | null }> {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(VITEST|NODE_ENV$|TEST$|DEV$|PROD$|SSR$|MODE$|BASE_URL$)/.test(name),
    ),
  );
  const child = spawn(process.execPath, ["--import", "tsx", "scripts/test-attack.ts", ...args], { env });
  const { stdout, stderr, code } = await ended(child);
  return { output: stdout + stderr, code };
}
