import { setTimeout as sleep } from "node:timers/promises";
import { Chance } from "./chance.js";
import { checkAtRest, checkFinally, checkRepaired, checkStarted } from "./checker.js";
import { Ledger } from "./ledger.js";
import { Listener } from "./listener.js";
import { chooseMoment, type Moment, type Phase } from "./moments.js";
import { prepare, work } from "./workload.js";
import { World, type WorldGiven } from "./world.js";

export interface ProofGiven extends WorldGiven {
  readonly seed: string;
  readonly kills: number;
  readonly clients?: number;
  /** The clock is another at every start, and jumps while a gateway runs. */
  readonly clockJumps?: boolean;
  /** Ends early, in good order, when it answers true. */
  readonly enough?: () => boolean;
  readonly progress?: (tally: Tally) => void;
}

/** What was done to one world, and what was seen. */
export interface Tally {
  readonly kills: Map<Phase, number>;
  readonly startsMs: number[];
  ledger: Ledger;
  checks: number;
  heard: number;
}

const HOUR_MS = 3_600_000;
/** Less than half of the day after which blobs that nobody refers to may go. */
const MOST_SHIFT_MS = 11 * HOUR_MS;
const REST_SHARE = 0.15;
const LONGEST_LIFE_MS = 4_000;

/** Kills a gateway again and again under a random workload. Throws what a checker found, and leaves everything as it is. */
export async function prove(given: ProofGiven): Promise<Tally> {
  const chance = new Chance(given.seed);
  const ledger = new Ledger(chance, given.clients ?? 4);
  const tally: Tally = { kills: new Map(), startsMs: [], ledger, checks: 0, heard: 0 };
  const world = await World.make(given);
  const proof = new Proof(given, chance.branch("killer"), { world, ledger, listener: new Listener() }, tally);
  try {
    await prepare(world, ledger);
    await world.kill();
    for (let kill = 0; kill < given.kills && !given.enough?.(); ) {
      if (await proof.live(chooseMoment(proof.chance))) kill++;
      given.progress?.(tally);
    }
    await proof.end();
  } finally {
    await world.close();
  }
  return tally;
}

interface Parts {
  readonly world: World;
  readonly ledger: Ledger;
  readonly listener: Listener;
}

class Proof {
  constructor(
    readonly given: ProofGiven,
    readonly chance: Chance,
    readonly parts: Parts,
    readonly tally: Tally,
  ) {}

  /** One life of a gateway, from its start to its end. Answers whether it was killed: it may have stopped in time. */
  async live(moment: Moment): Promise<boolean> {
    const { world } = this.parts;
    this.#jump();
    if (moment.phase === "starting") {
      world.spawn();
      await sleep(moment.afterMs);
    } else {
      await this.#start();
      if (moment.phase === "recovering") await sleep(moment.afterMs);
      else await this.#work(moment);
    }
    if (!(await world.kill())) return false;
    this.tally.kills.set(moment.phase, (this.tally.kills.get(moment.phase) ?? 0) + 1);
    return true;
  }

  async end(): Promise<void> {
    await this.#start();
    await checkAtRest(this.parts);
    await checkFinally(this.parts);
    await checkRepaired(this.parts);
    this.tally.checks += 2;
    this.tally.heard = this.parts.listener.heard;
  }

  async #start(): Promise<void> {
    const { world, listener } = this.parts;
    const began = performance.now();
    await world.start();
    this.tally.startsMs.push(performance.now() - began);
    await listener.follow(world);
  }

  async #work(moment: Exclude<Moment, { phase: "starting" | "recovering" }>): Promise<void> {
    const { world, ledger } = this.parts;
    await (this.chance.yes(REST_SHARE) ? checkAtRest(this.parts) : checkStarted(this.parts));
    this.tally.checks += 1;
    let left = "count" in moment ? moment.count : Number.POSITIVE_INFINITY;
    let reached = () => {};
    const hit = new Promise<void>((done) => {
      reached = done;
    });
    const count = () => {
      left -= 1;
      if (left === 0) {
        world.gateway?.kill().catch(() => {});
        reached();
      }
    };
    work(world, ledger, moment.phase === "sent" ? { sent: count } : { acknowledged: count });
    if (this.given.clockJumps) setTimeout(() => this.#jump(), this.chance.between(0, 800)).unref();
    const working = moment.phase === "working" ? moment.afterMs : LONGEST_LIFE_MS;
    const stopping = moment.phase === "stopping" ? this.chance.between(100, 800) : working;
    await Promise.race([hit, sleep(stopping)]);
    if (moment.phase !== "stopping") return;
    world.gateway?.askToStop();
    await sleep(moment.afterMs);
  }

  #jump(): void {
    if (!this.given.clockJumps) return;
    this.parts.world.control({ shift_ms: Math.round(this.chance.between(-MOST_SHIFT_MS, MOST_SHIFT_MS)) });
  }
}
