import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Databases, startPostgres } from "./postgres.js";
import { prove, type Tally } from "./prove.js";
import { allOf, progressLine, summaryOf } from "./report.js";
import { canMount } from "./small-disk.js";
import { proveFailingFlush, proveFullDisk, proveHeldFlush, type Told } from "./trouble.js";

export type StoreChoice = "sqlite" | "postgres" | "both";

export interface CrashOptions {
  readonly kills: number;
  readonly seed: string;
  readonly store: StoreChoice;
  readonly minutes: number;
  readonly jobs: number;
  /** Only this one, from 1. */
  readonly world: number | undefined;
  readonly disk: boolean;
  /** Where PostgreSQL's programs are; undefined: there is none. */
  readonly postgresBin: string | undefined;
}

export interface Outcome {
  passed: number;
  failed: number;
}

const KILLS_PER_WORLD = 40;
const POSTGRES_EVERY = 4;

interface Planned {
  readonly number: number;
  readonly seed: string;
  readonly kills: number;
  readonly onPostgres: boolean;
  readonly clockJumps: boolean;
}

/** Worlds side by side, each killed so many times; then disks that fail. Says what it does while it does it. */
export async function runCrashTest(options: CrashOptions): Promise<Outcome> {
  const { seed, kills, jobs, postgresBin } = options;
  say(`Seed ${seed}: ${kills} kills in worlds of ${KILLS_PER_WORLD}, ${jobs} at a time.`);
  if (!postgresBin && options.store === "postgres")
    throw new Error("There is no PostgreSQL here, and it could not be installed: see .cache/services.json.");
  if (!postgresBin && options.store !== "sqlite")
    say("There is no PostgreSQL here: every world is on SQLite.");
  const databases = postgresBin && options.store !== "sqlite" ? await startPostgres(postgresBin) : undefined;
  const run = new CrashRun(options, databases);
  try {
    await run.worlds();
    if (options.disk && options.world === undefined) await run.disks();
  } finally {
    databases?.stop();
  }
  say(summaryOf([...run.tallies], run.seconds));
  return run.outcome;
}

class CrashRun {
  readonly outcome: Outcome = { passed: 0, failed: 0 };
  /** Of worlds that are under way, too. */
  readonly tallies = new Set<Tally>();
  readonly #began = performance.now();
  #lastLine = 0;

  constructor(
    readonly options: CrashOptions,
    readonly databases: Databases | undefined,
  ) {}

  get seconds(): number {
    return (performance.now() - this.#began) / 1000;
  }

  async worlds(): Promise<void> {
    const waiting = this.#plan();
    const take = async () => {
      for (let next = waiting.shift(); next && !this.#isOver(); next = waiting.shift())
        await this.#world(next);
    };
    await Promise.all(Array.from({ length: this.options.jobs }, take));
  }

  async disks(): Promise<void> {
    const { seed } = this.options;
    if (canMount) await this.#part("a disk that is full", (dir) => proveFullDisk({ dir, seed }));
    else say("left out: a disk that is full. This system lets no user mount a disk of its own.");
    for (const under of [".agent", "heddle.db"])
      await this.#part(`flushing fails below ${under}`, (dir) => proveFailingFlush({ dir, seed, under }));
    await this.#part("flushing is held up", (dir) => proveHeldFlush({ dir, seed }));
  }

  #plan(): Planned[] {
    const { kills, seed, world } = this.options;
    const count = Math.ceil(kills / KILLS_PER_WORLD);
    const all = Array.from({ length: count }, (_, at) => ({
      number: at + 1,
      seed: `${seed}/${at + 1}`,
      kills: Math.min(KILLS_PER_WORLD, kills - at * KILLS_PER_WORLD),
      onPostgres: this.#isOnPostgres(at + 1),
      clockJumps: at % 2 === 1,
    }));
    return world === undefined ? all : all.filter(({ number }) => number === world);
  }

  #isOnPostgres(number: number): boolean {
    if (!this.databases) return false;
    return this.options.store === "postgres" || number % POSTGRES_EVERY === 0;
  }

  #isOver(): boolean {
    return this.seconds > this.options.minutes * 60;
  }

  async #world({ number, seed, kills, onPostgres, clockJumps }: Planned): Promise<void> {
    const what = `world ${number} (${onPostgres ? "PostgreSQL" : "SQLite"}${clockJumps ? ", clock jumps" : ""})`;
    await this.#part(what, async (dir) => {
      const store = onPostgres ? await this.databases?.fresh() : undefined;
      const progress = (tally: Tally) => this.#progress(tally);
      const given = { dir, seed, kills, clockJumps, progress, enough: () => this.#isOver() };
      this.tallies.add(await prove({ ...given, ...(store && { store }) }));
      return undefined;
    });
  }

  /** One thing to be proven. What is left of one that fails is kept. */
  async #part(what: string, work: (dir: string) => Promise<Told | undefined>): Promise<void> {
    const dir = mkdtempSync(join(tmpdir(), "heddle-crash-"));
    try {
      const told = await work(dir);
      const refused = told && told.refusals.length > 0 ? `, refused with ${told.refusals.join(", ")}` : "";
      say(`ok   ${what}${refused}`);
      this.outcome.passed += 1;
      for (const path of [dir, `${dir}.log`]) rmSync(path, { recursive: true, force: true });
    } catch (error) {
      this.outcome.failed += 1;
      say(
        `FAIL ${what}, seed ${this.options.seed}. Everything is kept in ${dir}, what gateways said in ${dir}.log`,
      );
      say(String((error as Error).stack));
    }
  }

  /** At most every few seconds. */
  #progress(running: Tally): void {
    this.tallies.add(running);
    if (this.seconds - this.#lastLine < 10) return;
    this.#lastLine = this.seconds;
    say(progressLine(allOf([...this.tallies]), this.seconds));
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
