import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

export interface Sample {
  /** Seconds since the load began. */
  readonly at: number;
  /** What is left after a collection. */
  readonly megabytes: number;
  /** What the system gives the process: also what was given back and is not taken away yet. */
  readonly resident: number;
}

/** What memory did once everything was warm. */
export interface Growth {
  /** What was held at least, early and late: what is on its way to clients comes and goes. */
  readonly early: number;
  readonly late: number;
  readonly megabytesPerMinute: number;
  /** The most that `late` may be. */
  readonly allowed: number;
}

const BREATH_MB = 20;
const BREATH_SHARE = 0.2;

/** What the gateway held over time, by its own account. */
export class MemoryWatch {
  readonly #began = Date.now();
  readonly #file: string;

  /** The environment of a gateway that is watched. */
  static env(dataDir: string, everyMs: number, more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
    const load = `--import ${pathToFileURL("test/load/collect.mjs").href}`;
    return {
      ...more,
      NODE_OPTIONS: `${load} ${more.NODE_OPTIONS ?? ""}`.trim(),
      HEDDLE_LOAD_MEMORY: fileIn(dataDir),
      HEDDLE_LOAD_EVERY_MS: String(Math.round(everyMs)),
    };
  }

  constructor(dataDir: string) {
    this.#file = fileIn(dataDir);
  }

  get samples(): Sample[] {
    if (!existsSync(this.#file)) return [];
    const lines = readFileSync(this.#file, "utf8").split("\n").slice(0, -1);
    return lines.map((line) => {
      const { time, held, resident } = JSON.parse(line) as { time: number; held: number; resident: number };
      return { at: (time - this.#began) / 1000, megabytes: held / 1e6, resident: resident / 1e6 };
    });
  }

  get seconds(): number {
    return (Date.now() - this.#began) / 1000;
  }
}

function fileIn(dataDir: string): string {
  return join(dataDir, "memory.jsonl");
}

/** Compares the first quarter of what came after the warm-up with the last. */
export function growthOf(samples: readonly Omit<Sample, "resident">[], warmSeconds: number): Growth {
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
function floorOf(samples: readonly Omit<Sample, "resident">[]): Omit<Sample, "resident"> {
  const sorted = samples.toSorted((a, b) => a.megabytes - b.megabytes);
  const at = samples[Math.floor(samples.length / 2)]?.at ?? 0;
  return { at, megabytes: sorted[Math.floor(sorted.length / 4)]?.megabytes ?? 0 };
}
