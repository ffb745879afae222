import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  median,
  ratioSpread,
  type Spread,
  spread,
  type Target,
  type Verdict,
  verdict,
} from "./statistics.js";

export type Unit = "us" | "ms" | "KB" | "MB" | "/s";

/** One line of the report: a measured series, beside a baseline taken in turns with it where there is one. */
export interface Row {
  readonly name: string;
  readonly unit: Unit;
  readonly value: Spread;
  readonly baseline?: { readonly name: string; readonly value: Spread };
  readonly ratio?: Spread;
  readonly target?: Target;
  readonly verdict?: Verdict;
}

export interface Entry {
  readonly name: string;
  readonly title: string;
  run(bench: Bench): Promise<Row[]>;
}

/** What an entry works with. Whatever it leaves behind is removed when it ends, however it ends. */
export class Bench {
  readonly quick: boolean;
  /** What could not be measured here, and why: it is told with the rows. */
  readonly leftOut: string[] = [];
  readonly #endings: (() => unknown)[] = [];

  constructor(options: { quick: boolean }) {
    this.quick = options.quick;
  }

  /** How often something is repeated. */
  times(full: number, quick: number): number {
    return this.quick ? quick : full;
  }

  onEnd(ending: () => unknown): void {
    this.#endings.push(ending);
  }

  /** Runs a part of the entry that leaves nothing behind for the next. */
  async part<T>(work: (part: Bench) => Promise<T>): Promise<T> {
    const part = new Bench(this);
    // Should the entry be interrupted meanwhile, its end is the part's end too.
    this.onEnd(() => part.end());
    try {
      return await work(part);
    } finally {
      await part.end();
    }
  }

  directory(): string {
    const path = mkdtempSync(join(tmpdir(), "heddle-bench-"));
    this.onEnd(() => rmSync(path, { recursive: true, force: true }));
    return path;
  }

  /** Undoes in reverse order: processes end before their directories go. One that fails does not keep the others. */
  async end(): Promise<void> {
    const failures: unknown[] = [];
    for (let ending = this.#endings.pop(); ending; ending = this.#endings.pop()) {
      try {
        await ending();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}

/** Takes one sample, in the unit of its row; or several things at once, of which rows are made later. */
export type Sampler<S = number> = () => S | Promise<S>;

const WARM_UPS = 2;

/** Takes samples in turns, A B A B, so that whatever else the machine does meets them all alike. */
export async function inTurns<K extends string, S = number>(
  rounds: number,
  samplers: Readonly<Record<K, Sampler<S>>>,
  warmUps = WARM_UPS,
): Promise<Record<K, S[]>> {
  const names = Object.keys(samplers) as K[];
  const series = Object.fromEntries(names.map((name) => [name, [] as S[]])) as Record<K, S[]>;
  for (let round = -warmUps; round < rounds; round++) {
    for (const name of names) {
      const sample = await samplers[name]();
      if (round >= 0) series[name].push(sample);
    }
  }
  return series;
}

export interface RowPlan {
  readonly name: string;
  readonly unit: Unit;
  readonly samples: readonly number[];
  readonly against?: { readonly name: string; readonly samples: readonly number[] };
  readonly target?: Target;
}

export function row({ name, unit, samples, against, target }: RowPlan): Row {
  const value = spread(samples);
  const ratio = against && ratioSpread(samples, against.samples);
  const reached = target?.of === "ratio" ? ratio : value;
  if (!reached) throw new Error(`${name}: a target of the ratio needs a baseline`);
  return {
    name,
    unit,
    value,
    ...(against && { baseline: { name: against.name, value: spread(against.samples) } }),
    ...(ratio && { ratio }),
    ...(target && { target, verdict: verdict(target, reached.median) }),
  };
}

/** Microseconds a call takes on average over so many calls: for what is too short to be timed alone. */
export function microsecondsEach(calls: number, work: () => unknown): Sampler {
  return async () => {
    const started = performance.now();
    for (let call = 0; call < calls; call++) {
      const result = work();
      if (result instanceof Promise) await result;
    }
    return ((performance.now() - started) * 1000) / calls;
  };
}

/** Milliseconds half of so many calls stay below. */
export function typicalMilliseconds(calls: number, work: () => unknown): Sampler {
  return async () => {
    const times: number[] = [];
    for (let call = 0; call < calls; call++) times.push(await milliseconds(work));
    return median(times);
  };
}

export async function milliseconds(work: () => unknown): Promise<number> {
  const started = performance.now();
  const result = work();
  if (result instanceof Promise) await result;
  return performance.now() - started;
}
