import { expect, onTestFinished, test } from "vitest";
import { onEachStore, temporaryDirectory } from "../support/stores.js";
import { prove } from "./prove.js";

/** `npm run test:crash` takes a thousand. Each costs the start of a gateway. */
const KILLS = Number(process.env.HEDDLE_TEST_KILLS ?? 5);

onEachStore("a gateway that is killed again and again", (kind) => {
  test(`[CRS1] [CRS2] [CRS3] [CRS4] [CRS5] [CRS6] [CRS7] [CRS8] [CRS9] ${KILLS} kills under a random workload and a clock that jumps: nothing is lost, doubled, stuck or left`, async () => {
    const { store, remove } = await kind.fresh();
    onTestFinished(remove);
    const seed = process.env.HEDDLE_TEST_SEED ?? `${kind.name} ${Date.now()}`;
    const given = { seed, kills: KILLS, dir: temporaryDirectory(), store, clients: 3, clockJumps: true };
    const { ledger, heard } = await prove(given).catch((error) => {
      throw new Error(`With the seed "${seed}" in ${given.dir}:\n${error.message}`, { cause: error });
    });
    expect(ledger.counts.acknowledged).toBeGreaterThan(KILLS);
    expect(ledger.proven.size).toBeGreaterThan(0);
    expect(heard).toBeGreaterThan(ledger.counts.acknowledged / 2);
  }, 300_000);
});
