import { Bench, type Entry, inTurns, milliseconds, type Row, row } from "../harness.js";
import { Child, startGateway } from "../support/child.js";

/** From the command to the line that says it is ready, against a Node that does nothing. */
export const start: Entry = {
  name: "start",
  title: "start to ready",
  async run(bench: Bench): Promise<Row[]> {
    const existing = bench.directory();
    const series = await inTurns(bench.times(20, 8), {
      node: () => within((scope) => milliseconds(() => new Child(scope, ["-e", "0"]).exited())),
      fresh: () => within((scope) => startIn(scope, scope.directory())),
      existing: () => within((scope) => startIn(scope, existing)),
    });
    const against = { name: "node -e 0", samples: series.node };
    const target = { of: "ratio", atMost: 3 } as const;
    return [
      row({ name: "fresh data directory", unit: "ms", samples: series.fresh, against, target }),
      row({ name: "existing data directory", unit: "ms", samples: series.existing, against, target }),
    ];
  },
};

function startIn(scope: Bench, dataDir: string): Promise<number> {
  return milliseconds(() => startGateway(scope, dataDir));
}

/** One start and all that must end again before the next. */
async function within(sample: (scope: Bench) => Promise<number>): Promise<number> {
  const scope = new Bench({ quick: true });
  try {
    return await sample(scope);
  } finally {
    await scope.end();
  }
}
