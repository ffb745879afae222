import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { rawStep } from "../../../test/contract/support/rows.js";
import { temporaryDirectory } from "../../../test/support/stores.js";
import { openStore, type Store, type Unit } from "../index.js";

const child = fileURLToPath(
  new URL("../../../test/contract/children/write-until-killed.ts", import.meta.url),
);
const KILLS = Number(process.env.HEDDLE_TEST_KILLS ?? 12);
const KILLS_PER_STORE = 12;

let directory: string;
beforeAll(() => {
  directory = temporaryDirectory();
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Lets a process write, kills it at a random moment, and gives what it said was written. */
async function writeAndKill(path: string, round: number): Promise<string[]> {
  const writer = spawn(process.execPath, ["--import", "tsx", child, path, `r${round}`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  writer.stdout.on("data", (data) => {
    said += data;
  });
  // Some are killed while they start and migrate, most in mid-write.
  if (round % 4 > 0) await once(writer.stdout, "data");
  await new Promise((next) => setTimeout(next, Math.random() * (round % 4 > 0 ? 60 : 900)));
  await killed(writer);
  return said.split("\n").filter((line) => line !== "");
}

async function killed(writer: ChildProcess): Promise<void> {
  const closed = once(writer, "close");
  writer.kill("SIGKILL");
  await closed;
}

function* idsOf(table: string, column: string, prefix: string): Unit<string[]> {
  const rows = yield* rawStep(`select ${column} as id from ${table} order by ${column}`);
  return rows.map((row) => String(row.id).slice(prefix.length)).sort();
}

/** Everything that was acknowledged is there, and every unit is there whole. */
async function verify(store: Store, acknowledged: string[]): Promise<number> {
  return store.read(function* () {
    expect(yield* rawStep("pragma integrity_check")).toEqual([{ integrity_check: "ok" }]);
    const written = yield* idsOf("thread_folder", "id", "fld_");
    expect(yield* idsOf("thread_agents_doc", "id", "agd_")).toEqual(written);
    expect(yield* idsOf("thread_agents_doc_revision", "doc_id", "agd_")).toEqual(written);
    const numbers = yield* rawStep("select seq, params from notification order by seq");
    const told = numbers.map((row) => JSON.parse(String(row.params)));
    const kept = new Set(told.map((note) => note.id));
    expect(told.map((note) => note.seq)).toEqual(numbers.map((row) => row.seq));
    const [workspace] = yield* rawStep("select seq from workspace");
    expect(workspace?.seq ?? 0).toBe(written.length);
    expect(numbers.map((row) => row.seq)).toEqual(
      numbers.map((_, i) => written.length - numbers.length + 1 + i),
    );
    expect([...kept].filter((id) => !written.includes(id))).toEqual([]);
    const there = new Set(written);
    expect(acknowledged.filter((id) => !there.has(id))).toEqual([]);
    return written.length;
  });
}

test(`[STO83] killed ${KILLS} times at random: every acknowledged unit is there, none in half`, async () => {
  let total = 0;
  for (let first = 0; first < KILLS; first += KILLS_PER_STORE) {
    const path = join(directory, `heddle-${first}.db`);
    const acknowledged: string[] = [];
    for (let round = first; round < first + KILLS_PER_STORE; round++) {
      acknowledged.push(...(await writeAndKill(path, round)));
      const store = await openStore(path);
      const written = await verify(store, acknowledged);
      await store.close();
      // At most the eight units that were under way each time were written without being told.
      expect(written - acknowledged.length).toBeLessThanOrEqual(8 * KILLS_PER_STORE);
    }
    total += acknowledged.length;
  }
  expect(total).toBeGreaterThan(KILLS);
}, 180_000);
