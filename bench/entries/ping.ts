import { type Bench, type Entry, inTurns, type Row, row, typicalMilliseconds } from "../harness.js";
import { Caller } from "../support/caller.js";
import { startBareServer, startGateway } from "../support/child.js";

const CALLS = 300;

/** The cheapest call there is, against an echo of as many bytes by a bare WebSocket server. Both run in a process of their own. */
export const ping: Entry = {
  name: "ping",
  title: "a cheap call over the WebSocket",
  async run(bench: Bench): Promise<Row[]> {
    const { url, token } = await startGateway(bench, bench.directory());
    const gateway = await Caller.open(bench, url, token);
    const bare = await Caller.open(bench, await startBareServer(bench));
    const payload = await gateway.call("ping", {});
    const series = await inTurns(bench.times(40, 15), {
      bare: typicalMilliseconds(CALLS, () => bare.exchange(payload)),
      ping: typicalMilliseconds(CALLS, () => gateway.call("ping", {})),
    });
    const against = { name: "bare ws echo", samples: series.bare };
    return [
      row({
        name: "ping, p50",
        unit: "ms",
        samples: series.ping,
        against,
        target: { of: "ratio", atMost: 2 },
      }),
    ];
  },
};
