import type { CSSProperties } from "react";
import type { Run } from "../../../src/protocol/index.js";
import { count } from "../../ui/format.js";
import { useRoving } from "./roving.js";

/** As many as have room to be hit. */
const MOST_BARS = 40;

interface TokenChartProps {
  /** Oldest first. */
  readonly runs: readonly Run[];
  readonly shown: Run | undefined;
  readonly small?: boolean;
  choose(run: Run): void;
}

/** Tokens of each run, as the provider counted them. */
export function TokenChart({ runs, shown, small = false, choose }: TokenChartProps) {
  const begun = runs.filter(({ status }) => status !== "queued");
  const bars = windowOf(begun, shown);
  const roving = useRoving(
    bars.map(({ id }) => id),
    "horizontal",
  );
  const most = Math.max(1, ...bars.map(tokensOf));
  const least = Math.min(...bars.map(tokensOf));
  if (bars.length === 0) return null;
  const range = `Tokens of runs ${bars[0]?.number} to ${bars.at(-1)?.number}, from ${count(least)} to ${count(most)}`;
  return (
    <div
      className={`chart${small ? " low" : ""}`}
      role="group"
      aria-label={range}
      onKeyDown={roving.onKeyDown}
    >
      {bars.map((run) => (
        <button
          key={run.id}
          type="button"
          data-row
          className={run.id === shown?.id ? "on" : ""}
          aria-current={run.id === shown?.id ? "true" : undefined}
          aria-label={barWords(run)}
          title={barWords(run)}
          style={{ "--v": Math.max(3, (100 * tokensOf(run)) / most) } as CSSProperties}
          tabIndex={roving.tabIndexOf(run.id)}
          onFocus={() => roving.onFocus(run.id)}
          onClick={() => choose(run)}
        />
      ))}
    </div>
  );
}

/** The newest, or those around the one that is shown. */
function windowOf(runs: readonly Run[], shown: Run | undefined): readonly Run[] {
  const at = shown ? runs.findIndex(({ id }) => id === shown.id) : -1;
  const end = at === -1 || at >= runs.length - MOST_BARS ? runs.length : at + MOST_BARS / 2;
  return runs.slice(Math.max(0, end - MOST_BARS), Math.max(end, MOST_BARS));
}

function tokensOf({ usage }: Run): number {
  return usage ? usage.input + usage.output : 0;
}

function barWords({ number, usage }: Run): string {
  return usage
    ? `Run ${number}, ${count(usage.input)} in, ${count(usage.output)} out`
    : `Run ${number}, no figures`;
}

/** `41,870 in, 9,204 out` */
export function usageWords(runs: readonly Run[]): string {
  const known = runs.flatMap(({ usage }) => (usage ? [usage] : []));
  const sum = (key: "input" | "output") => known.reduce((all, usage) => all + usage[key], 0);
  return `${count(sum("input"))} in, ${count(sum("output"))} out`;
}

/** Not every provider counts: then there is nothing to draw. */
export function hasFigures(runs: readonly Run[]): boolean {
  return runs.some(({ usage }) => usage !== undefined);
}

/** The foot of the tab Context. */
export function TokenFoot(props: TokenChartProps) {
  if (!hasFigures(props.runs)) return null;
  return (
    <div className="ip chart-foot">
      <div className="row-x">
        <span className="h4">Tokens per run</span>
        <span className="grow" />
        <span className="small ink-3 num">{usageWords(props.runs)}</span>
      </div>
      <TokenChart {...props} />
    </div>
  );
}
