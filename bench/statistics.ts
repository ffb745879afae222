/** The middle of some samples and how far they spread: half of them lie between the quartiles. */
export interface Spread {
  readonly median: number;
  readonly q1: number;
  readonly q3: number;
  readonly samples: number;
}

export function spread(samples: readonly number[]): Spread {
  const sorted = samples.toSorted((a, b) => a - b);
  return {
    median: quantile(sorted, 0.5),
    q1: quantile(sorted, 0.25),
    q3: quantile(sorted, 0.75),
    samples: sorted.length,
  };
}

/**
 * The ratio of two series that were taken in turns, pair by pair: a disturbance that lasts longer than a round hits both
 * sides of its pairs and cancels out.
 */
export function ratioSpread(measured: readonly number[], baseline: readonly number[]): Spread {
  return spread(measured.map((value, round) => value / at(baseline, round)));
}

export function median(samples: readonly number[]): number {
  return spread(samples).median;
}

/** The most, or the least, a row's ratio or its value itself may be. */
export type Target = { readonly of: "ratio" | "value" } & (
  | { readonly atMost: number }
  | { readonly atLeast: number }
);

export interface Verdict {
  readonly met: boolean;
  /** `ok`, or `MISS by` how much of the target. */
  readonly text: string;
}

/** Judges the median: a spread that touches the target is no miss. */
export function verdict(target: Target, reached: number): Verdict {
  const [met, limit] =
    "atMost" in target
      ? [reached <= target.atMost, target.atMost]
      : [reached >= target.atLeast, target.atLeast];
  if (met) return { met, text: "ok" };
  const over = Math.abs(reached / limit - 1) * 100;
  return { met: false, text: `MISS by ${over < 1 ? over.toFixed(1) : Math.round(over)} %` };
}

function quantile(sorted: readonly number[], share: number): number {
  const place = (sorted.length - 1) * share;
  const below = Math.floor(place);
  const above = Math.ceil(place);
  return at(sorted, below) + (at(sorted, above) - at(sorted, below)) * (place - below);
}

function at(values: readonly number[], index: number): number {
  const value = values[index];
  if (value === undefined) throw new RangeError(`there is no sample ${index} of ${values.length}`);
  return value;
}
