import { residentMegabytes } from "../../bench/support/resident.js";

export interface Sample {
  /** Seconds since the load began. */
  readonly at: number;
  readonly megabytes: number;
}

/** What memory did once everything was warm. */
export interface Growth {
  /** What it needed at least, early and late: garbage that waits to be collected comes and goes. */
  readonly early: number;
  readonly late: number;
  readonly megabytesPerMinute: number;
  /** The most that `late` may be. */
  readonly allowed: number;
}

/** A process that keeps nothing still breathes: its collector takes room when there is some. */
const BREATH_MB = 40;
const BREATH_SHARE = 0.2;

export class MemoryWatch {
  readonly samples: Sample[] = [];
  readonly #began = performance.now();
  readonly #timer: NodeJS.Timeout;

  constructor(pid: number, everyMs: number) {
    this.#timer = setInterval(() => {
      const at = (performance.now() - this.#began) / 1000;
      this.samples.push({ at, megabytes: residentMegabytes({ pid }) });
    }, everyMs);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  get seconds(): number {
    return (performance.now() - this.#began) / 1000;
  }
}

/** Compares the first quarter of what came after the warm-up with the last. */
export function growthOf(samples: readonly Sample[], warmSeconds: number): Growth {
  const warm = samples.filter(({ at }) => at >= warmSeconds);
  const quarter = Math.max(1, Math.floor(warm.length / 4));
  const early = floorOf(warm.slice(0, quarter));
  const late = floorOf(warm.slice(-quarter));
  const allowed = early.megabytes + Math.max(BREATH_MB, early.megabytes * BREATH_SHARE);
  const minutes = Math.max(late.at - early.at, 1) / 60;
  return {
    early: early.megabytes,
    late: late.megabytes,
    megabytesPerMinute: (late.megabytes - early.megabytes) / minutes,
    allowed,
  };
}

/** The lower quartile, in the middle of its time. */
function floorOf(samples: readonly Sample[]): Sample {
  const sorted = samples.toSorted((a, b) => a.megabytes - b.megabytes);
  const at = samples[Math.floor(samples.length / 2)]?.at ?? 0;
  return { at, megabytes: sorted[Math.floor(sorted.length / 4)]?.megabytes ?? 0 };
}
