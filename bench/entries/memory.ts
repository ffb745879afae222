import { setTimeout as wait } from "node:timers/promises";
import { type Bench, type Entry, type Row, row } from "../harness.js";
import { Child, startGateway } from "../support/child.js";
import { residentMegabytes } from "../support/resident.js";

const IDLE_MS = 3_000;

/** What an idle gateway holds, beside a Node that idles without doing anything. */
export const memory: Entry = {
  name: "memory",
  title: `resident memory, idle, ${IDLE_MS / 1000} s after the start`,
  async run(bench: Bench): Promise<Row[]> {
    const gateways: Child[] = [];
    const bare: Child[] = [];
    for (let count = bench.times(5, 3); count > 0; count--) {
      gateways.push((await startGateway(bench, bench.directory())).child);
      bare.push(new Child(bench, ["-e", "setInterval(() => {}, 1e6)"]));
    }
    await wait(IDLE_MS);
    const against = { name: "idle node", samples: bare.map(residentMegabytes) };
    const samples = gateways.map(residentMegabytes);
    return [row({ name: "gateway", unit: "MB", samples, against, target: { of: "value", atMost: 90 } })];
  },
};
