import { type Bench, type Entry, inTurns, milliseconds, type Row, row } from "../harness.js";
import { Child, startGateway } from "../support/child.js";

/** From the command to the line that says it is ready, against a Node that does nothing. */
export const start: Entry = {
  name: "start",
  title: "start to ready",
  async run(bench: Bench): Promise<Row[]> {
    const existing = bench.directory();
    const series = await inTurns(bench.times(30, 8), {
      node: () => bench.part((part) => milliseconds(() => new Child(part, ["-e", "0"]).exited())),
      fresh: () => bench.part((part) => startIn(part, part.directory())),
      existing: () => bench.part((part) => startIn(part, existing)),
    });
    const against = { name: "node -e 0", samples: series.node };
    const target = { of: "ratio", atMost: 3 } as const;
    return [
      row({ name: "fresh data directory", unit: "ms", samples: series.fresh, against, target }),
      row({ name: "existing data directory", unit: "ms", samples: series.existing, against, target }),
    ];
  },
};

function startIn(part: Bench, dataDir: string): Promise<number> {
  return milliseconds(() => startGateway(part, dataDir));
}
