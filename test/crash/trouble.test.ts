import { expect, test } from "vitest";
import { temporaryDirectory } from "../support/stores.js";
import { canMount } from "./small-disk.js";
import { proveFailingFlush, proveFullDisk, proveHeldFlush } from "./trouble.js";

const given = () => ({ dir: temporaryDirectory(), seed: `trouble ${Date.now()}`, ms: 500 });
/** What changes neither a file nor the store. */
const READING = ["run/list"];

test.skipIf(!canMount)(
  "[CRS20] [mount] on a full disk everything is refused with a reason, read as ever, and goes on with room; killed there, nothing is lost",
  async () => {
    const { refusals } = await proveFullDisk(given());
    expect(refusals).toContain("store.full");
  },
  180_000,
);

test.each([
  ["of threads", ".agent", ["message/append", "thread/start", "thread/update", "thread/clear"]],
  [
    "of the store",
    "heddle.db",
    ["run/start", "thread/agents_doc/save", "thread/folder/create", "thread/move"],
  ],
])(
  "[CRS21] files %s that can't be flushed: nothing that needs them is acknowledged, and after a restart all goes on",
  async (_, under, never) => {
    const { acknowledged, refusals } = await proveFailingFlush({ ...given(), under });
    expect(acknowledged.filter((method) => never.includes(method))).toEqual([]);
    expect(refusals.length).toBeGreaterThan(0);
  },
  180_000,
);

test("[CRS22] nothing is acknowledged before it was flushed", async () => {
  const { acknowledged } = await proveHeldFlush(given());
  expect(acknowledged.filter((method) => !READING.includes(method))).toEqual([]);
}, 180_000);
