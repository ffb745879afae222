import type { Tally } from "./prove.js";

/** Several worlds taken together. */
export function allOf(tallies: readonly Tally[]) {
  const sum = (of: (tally: Tally) => number) => tallies.reduce((all, tally) => all + of(tally), 0);
  const counts = (of: (tally: Tally) => Iterable<readonly [string, number]>) => {
    const all = new Map<string, number>();
    for (const tally of tallies)
      for (const [key, count] of of(tally)) all.set(key, (all.get(key) ?? 0) + count);
    return [...all].sort(([, a], [, b]) => b - a);
  };
  return {
    kills: counts(({ kills }) => kills),
    killed: sum(({ kills }) => [...kills.values()].reduce((all, count) => all + count, 0)),
    sent: sum(({ ledger }) => ledger.counts.sent),
    acknowledged: sum(({ ledger }) => ledger.counts.acknowledged),
    refused: sum(({ ledger }) => ledger.counts.refused),
    unknown: sum(({ ledger }) => ledger.counts.unknown),
    proven: sum(({ ledger }) => ledger.proven.size),
    heard: sum(({ heard }) => heard),
    checks: sum(({ checks }) => checks),
    byMethod: counts(({ ledger }) => ledger.byMethod),
    startsMs: tallies.flatMap(({ startsMs }) => startsMs).sort((a, b) => a - b),
  };
}

type All = ReturnType<typeof allOf>;

export function progressLine({ killed, acknowledged, unknown, checks }: All, seconds: number): string {
  return `${clock(seconds)}  ${killed} kills, ${acknowledged} acknowledged, ${unknown} unknown, ${checks} checks`;
}

export function summaryOf(tallies: readonly Tally[], seconds: number): string {
  const all = allOf(tallies);
  const list = (counts: readonly (readonly [string, number])[]) =>
    counts.map(([name, count]) => `${name} ${count}`).join(", ");
  const at = (share: number) => Math.round(all.startsMs[Math.floor(all.startsMs.length * share)] ?? 0);
  return [
    `${all.killed} kills in ${clock(seconds)}: ${list(all.kills)}`,
    `${all.sent} calls: ${all.acknowledged} acknowledged, ${all.refused} refused, ${all.unknown} unknown because the connection died`,
    `acknowledged: ${list(all.byMethod)}`,
    `${all.checks} checks, ${all.proven} runs proven by replay, ${all.heard} notifications without a gap`,
    `from start to ready: median ${at(0.5)} ms, 95 % within ${at(0.95)} ms, longest ${at(0.999)} ms`,
  ].join("\n");
}

function clock(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
}
