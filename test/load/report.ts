import type { Verdict } from "./judge.js";
import type { Measured } from "./run.js";

const MEMORY_POINTS = 12;

/** What was done and what came of it, for a person. */
export function reportOf(measured: Measured, verdicts: readonly Verdict[]): string {
  const { clients, threads, calls, memory, seconds } = measured;
  const turns = threads.reduce((sum, { taken }) => sum + taken, 0);
  const expected = clients.map((client) => client.expected);
  const heard = clients.map((client) => client.heard);
  const all = (of: (thread: (typeof threads)[number]) => readonly number[]) => threads.flatMap(of);
  const step = Math.max(1, Math.floor(memory.length / MEMORY_POINTS));
  const points = memory.filter((_, index) => index % step === 0);
  const lines = [
    ["clients", String(clients.length)],
    [
      "busy threads",
      `${threads.length}, ${turns} turns in ${Math.round(seconds)} s (${(turns / seconds).toFixed(1)}/s)`,
    ],
    ["notifications of a client", `${range(expected)} expected, ${range(heard)} heard`],
    [
      "notifications in all",
      `${sumOf(expected)} expected, ${sumOf(heard)} heard (${Math.round(sumOf(heard) / seconds)}/s)`,
    ],
    ["calls", latencies(calls.times)],
    ["run/start", latencies(all(({ accepted }) => accepted))],
    ["first words", latencies(all(({ firstWords }) => firstWords))],
    ["whole turn", latencies(all(({ whole }) => whole))],
    ["memory held (resident)", points.map(pointOf).join(", ")],
  ];
  const width = Math.max(...lines.map(([name]) => (name as string).length));
  const table = lines.map(([name, value]) => `${(name as string).padEnd(width)}  ${value}`);
  const judged = verdicts.map(({ what, met, detail }) => `${met ? "ok  " : "FAIL"}  ${what}: ${detail}`);
  return `\n${[...table, "", ...judged].join("\n")}\n`;
}

function pointOf({ at, megabytes, resident }: Measured["memory"][number]): string {
  return `${Math.round(at)} s ${Math.round(megabytes)} (${Math.round(resident)})`;
}

function latencies(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1);
  return `p50 ${at(0.5)}, p95 ${at(0.95)}, p99 ${at(0.99)}, most ${at(1)} ms of ${sorted.length}`;
}

function range(values: readonly number[]): string {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return least === most ? String(least) : `${least} to ${most}`;
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
