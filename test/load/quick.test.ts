import { afterEach, expect, test } from "vitest";
import { type StorePlace, sqliteStore } from "../support/stores.js";
import { judge } from "./judge.js";
import { growthOf } from "./memory.js";
import { leakingEnv, losing, withCode } from "./plants.js";
import { type Measured, type Plants, runLoad } from "./run.js";

let place: StorePlace | undefined;
afterEach(async () => {
  await place?.remove();
  place = undefined;
});

const QUICK = {
  clients: 100,
  threads: 10,
  seconds: 3,
  seed: "quick",
  turnEveryMs: 1_000,
  callEveryMs: 100,
  slowClients: 1,
  troubleEveryMs: 60_000,
  say: () => {},
};

async function load(at: StorePlace, plants: Plants = {}): Promise<Measured> {
  place = at;
  return runLoad({ ...QUICK, place: at, plants });
}

const failed = (measured: Measured) =>
  judge(measured)
    .filter(({ met }) => !met)
    .map(({ what }) => what);

test("[LOD1] [LOD2] [LOD3] [LOD4] [LOD5] [LOD6] a gateway under load holds all that is promised, with fewer clients and for seconds", async () => {
  const measured = await load(await sqliteStore.fresh());
  expect(judge(measured).filter(({ met }) => !met)).toEqual([]);
  expect(measured.clients).toHaveLength(QUICK.clients);
  expect(measured.threads).toHaveLength(QUICK.threads);
}, 120_000);

test("[LOD10] [LOD11] [LOD12] a lost notification, memory that grows and another code are found, and nothing else", async () => {
  const measured = await load(await sqliteStore.fresh(), {
    tamper: losing(20),
    tamperOverload: withCode(-32603),
    env: leakingEnv,
  });
  expect(failed(measured)).toEqual([
    "no notification was lost, doubled or out of order",
    "memory does not grow",
    "what is past the limit gets a retryable -32001",
  ]);
  const lost = judge(measured).find(({ what }) => what.startsWith("no notification"));
  expect(lost?.detail).toMatch(/^client 50: .*, after \d+ came \d+/);
  expect(lost?.detail).not.toContain("client 51");
}, 120_000);

test("[LOD11] memory that comes and goes is no growth, and one that creeps is", () => {
  const during = (of: (minute: number) => number) =>
    Array.from({ length: 200 }, (_, index) => ({ at: index * 3, megabytes: of(index / 20) }));
  const breathing = growthOf(
    during((minute) => 180 + 30 * Math.sin(minute * 9)),
    60,
  );
  expect(breathing.late).toBeLessThan(breathing.allowed);
  const creeping = growthOf(
    during((minute) => 180 + 30 * Math.sin(minute * 9) + minute * 12),
    60,
  );
  expect(creeping.late).toBeGreaterThan(creeping.allowed);
});
