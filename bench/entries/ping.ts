import { type Bench, type Entry, inTurns, type Row, row, typicalMilliseconds } from "../harness.js";
import { Caller } from "../support/caller.js";
import { startBareServer, startGateway } from "../support/child.js";

const CALLS = 50;

/**
 * The cheapest call there is, against an echo of as many bytes by a bare WebSocket server. How fast two processes talk
 * depends on where the system puts them, for as long as they live: so both servers are started anew several times.
 */
export const ping: Entry = {
  name: "ping",
  title: "a cheap call over the WebSocket, each server in a process of its own",
  async run(bench: Bench): Promise<Row[]> {
    const bare: number[] = [];
    const called: number[] = [];
    for (let pair = bench.times(8, 4); pair > 0; pair--) {
      const series = await bench.part(measurePair);
      bare.push(...series.bare);
      called.push(...series.ping);
    }
    const against = { name: "bare ws echo", samples: bare };
    return [
      row({ name: "ping, p50", unit: "ms", samples: called, against, target: { of: "ratio", atMost: 2 } }),
    ];
  },
};

async function measurePair(bench: Bench): Promise<Record<"bare" | "ping", number[]>> {
  const { url, token } = await startGateway(bench, bench.directory());
  const gateway = await Caller.open(bench, url, token);
  const bare = await Caller.open(bench, await startBareServer(bench));
  const payload = await gateway.call("ping", {});
  const samplers = {
    bare: typicalMilliseconds(CALLS, () => bare.exchange(payload)),
    ping: typicalMilliseconds(CALLS, () => gateway.call("ping", {})),
  };
  return inTurns(bench.times(100, 60), samplers, 10);
}
