import { type Bench, type Entry, inTurns, type Row, row, typicalMilliseconds } from "../harness.js";
import { Caller } from "../support/caller.js";
import { startBareServer, startGateway } from "../support/child.js";

const CALLS = 50;

/**
 * The cheapest call there is, against an echo of as many bytes by a bare WebSocket server. How fast two processes talk
 * depends on where the system puts them, for as long as they live, and a third one that waits disturbs them: so each
 * server is measured alone, in turns, and started anew each time.
 */
export const ping: Entry = {
  name: "ping",
  title: "a cheap call over the WebSocket, each server alone in a process of its own",
  async run(bench: Bench): Promise<Row[]> {
    const bare: number[] = [];
    const called: number[] = [];
    const payload = await bench.part(answerToPing);
    for (let pair = bench.times(12, 6); pair > 0; pair--) {
      bare.push(...(await bench.part((part) => measureBare(part, payload))));
      called.push(...(await bench.part(measurePing)));
    }
    const against = { name: "bare ws echo", samples: bare };
    return [
      row({ name: "ping, p50", unit: "ms", samples: called, against, target: { of: "ratio", atMost: 2 } }),
    ];
  },
};

async function answerToPing(bench: Bench): Promise<string> {
  const { url, token } = await startGateway(bench, bench.directory());
  return (await Caller.open(bench, url, token)).call("ping", {});
}

async function measureBare(bench: Bench, payload: string): Promise<number[]> {
  const bare = await Caller.open(bench, await startBareServer(bench));
  return measure(bench, () => bare.exchange(payload));
}

async function measurePing(bench: Bench): Promise<number[]> {
  const { url, token } = await startGateway(bench, bench.directory());
  const gateway = await Caller.open(bench, url, token);
  return measure(bench, () => gateway.call("ping", {}));
}

async function measure(bench: Bench, work: () => unknown): Promise<number[]> {
  const { samples } = await inTurns(bench.times(60, 30), { samples: typicalMilliseconds(CALLS, work) }, 20);
  return samples;
}
