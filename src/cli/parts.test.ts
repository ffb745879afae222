import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { temporaryDirectory } from "../../test/support/stores.js";
import { partsIn } from "./parts.js";

const MAIN = "main-1.js";
const GATEWAY = "gateway-1.js";

let directory: string;
beforeEach(() => {
  directory = temporaryDirectory();
  part(
    MAIN,
    `exports.loaded = [require("node:path").basename(__filename)];
     exports.gateway = () => require("./${GATEWAY}");
     exports.elsewhere = () => import("node:os");`,
  );
  part(
    GATEWAY,
    `const { loaded } = require("./${MAIN}"); loaded.push("gateway"); exports.answer = () => 42;`,
  );
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

interface Main {
  readonly loaded: readonly string[];
  readonly gateway: () => { answer: () => number };
  readonly elsewhere: () => Promise<{ EOL: string }>;
}

test("[CLI260] parts load each other once, and what Node has", async () => {
  const main = partsIn(directory).load(MAIN) as Main;
  expect(main.gateway().answer()).toBe(42);
  expect(main.gateway()).toBe(main.gateway());
  expect(main.loaded).toEqual([MAIN, "gateway"]);
  expect((await main.elsewhere()).EOL).toBe("\n");
});

test("[CLI261] what was compiled is kept by a process that ran a gateway, and left alone by the next", () => {
  start();
  expect(kept().map(({ name }) => name)).toEqual([GATEWAY, MAIN]);
  const before = kept();
  start();
  expect(kept()).toEqual(before);
});

test("[CLI261] a process that ran no gateway has compiled half of it, and keeps nothing", () => {
  const parts = partsIn(directory);
  parts.load(MAIN);
  parts.keep();
  expect(readdirSync(directory)).toEqual([GATEWAY, MAIN]);
});

test("[CLI262] kept code that was changed, cut or is none is compiled anew and replaced", () => {
  start();
  const good = readFileSync(pathOf(GATEWAY));
  const flipped = Buffer.from(good);
  flipped[good.length >> 1] = (flipped[good.length >> 1] as number) ^ 0xff;
  for (const damaged of [flipped, good.subarray(0, good.length >> 1), Buffer.alloc(0), Buffer.from("none")]) {
    writeFileSync(pathOf(GATEWAY), damaged);
    start();
    expect(readFileSync(pathOf(GATEWAY)).equals(damaged)).toBe(false);
  }
  const before = kept();
  start();
  expect(kept()).toEqual(before);
});

test("[CLI262] where nothing can be written beside the command, every start compiles", () => {
  writeFileSync(join(directory, "code"), "in the way");
  start();
  start();
  expect(readdirSync(directory)).toEqual(["code", GATEWAY, MAIN]);
});

test("[CLI262] a draft that cannot take its place is not left behind", () => {
  start();
  rmSync(pathOf(GATEWAY));
  mkdirSync(join(pathOf(GATEWAY), "in the way"), { recursive: true });
  start();
  expect(kept().map(({ name }) => name)).toEqual([GATEWAY, MAIN]);
});

/** A process from its start to its end. */
function start(): void {
  const parts = partsIn(directory);
  expect((parts.load(MAIN) as Main).gateway().answer()).toBe(42);
  parts.keep();
}

function part(name: string, source: string): void {
  writeFileSync(join(directory, name), source);
}

function pathOf(name: string): string {
  const [version] = readdirSync(join(directory, "code"));
  return join(directory, "code", version as string, name);
}

function kept() {
  const version = join(pathOf("."));
  return readdirSync(version).map((name) => ({ name, ino: statSync(join(version, name)).ino }));
}
