import { cpSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Chance } from "./chance.js";
import { Broken, type Checked, checkAtRest, checkFinally, checkRepaired, checkStarted } from "./checker.js";
import { Ledger } from "./ledger.js";
import { Listener } from "./listener.js";
import { SmallDisk } from "./small-disk.js";
import { State } from "./state.js";
import { prepare, type Watch, work } from "./workload.js";
import { World, type WorldGiven } from "./world.js";

/** What a disk may be blamed for. */
const DISK =
  /^(atsf\.(disk_full|disk_failed|git_failed)|store\.(full|unavailable|busy)|thread\.(files_missing|not_found))$/;

const FOLLOWED_MS = 1_500;
const LEAST_ANSWERS = 40;
const LONGEST_MS = 20_000;

export interface TroubleGiven {
  readonly dir: string;
  readonly seed: string;
  /** How long clients work in each part of it. */
  readonly ms?: number;
}

/** What happened while the disk misbehaved. */
export interface Told {
  readonly acknowledged: readonly string[];
  readonly refusals: readonly string[];
}

/** A disk fills up under work, twice: once it gets room again while the gateway runs, once the gateway is killed on it. */
export async function proveFullDisk({ dir, seed, ms = 1_000 }: TroubleGiven): Promise<Told> {
  const disk = await SmallDisk.make(dir, "24m");
  const stage = await Stage.open({ dir, through: disk.through, seenAt: disk.seenAt }, seed);
  try {
    await stage.work(ms);
    disk.fill();
    const told = await stage.work(ms, { trouble: DISK });
    await stage.canRead();
    disk.free();
    stage.ledger.mayFail = true;
    // What files say and the store does not is taken in within a second.
    await sleep(FOLLOWED_MS);
    await stage.check();
    await stage.work(ms);
    await stage.check();
    disk.fill();
    const killed = await stage.work(ms, { trouble: DISK }, "killed");
    disk.free();
    await stage.again();
    await stage.work(ms);
    await checkFinally(stage.checked);
    await checkRepaired(stage.checked);
    return { acknowledged: [...told.acknowledged, ...killed.acknowledged], refusals: told.refusals };
  } catch (error) {
    // The disk goes with its mount.
    cpSync(disk.seenAt, `${dir}.kept`, { recursive: true, filter: (path) => !path.endsWith("/filler") });
    throw error;
  } finally {
    await stage.world.close();
    await disk.close();
  }
}

/** Flushing fails for a while, of the files whose path has `under` in it. */
export async function proveFailingFlush(given: TroubleGiven & { under: string }): Promise<Told> {
  const { dir, seed, under, ms = 1_000 } = given;
  const stage = await Stage.open({ dir }, seed);
  try {
    await stage.work(ms);
    stage.world.control({ flush: "fail", under });
    const told = await stage.work(ms, { trouble: DISK });
    await stage.canRead();
    stage.ledger.mayFail = true;
    await stage.world.kill();
    stage.world.control({ flush: "ok" });
    await stage.again();
    await stage.work(ms);
    await checkFinally(stage.checked);
    return told;
  } finally {
    await stage.world.close();
  }
}

/** Flushing takes for ever, and then goes on: who was not told before is told then. */
export async function proveHeldFlush({ dir, seed, ms = 1_000 }: TroubleGiven): Promise<Told> {
  const stage = await Stage.open({ dir }, seed);
  try {
    await stage.work(ms);
    const acknowledged: string[] = [];
    stage.world.control({ flush: "hold" });
    // What is being flushed at this moment may end.
    await sleep(100);
    const working = work(stage.world, stage.ledger, {
      acknowledged: (method) => void acknowledged.push(method),
    });
    await sleep(ms);
    const meanwhile = [...acknowledged];
    stage.world.control({ flush: "ok" });
    await sleep(ms);
    await working.stop();
    if (acknowledged.length === meanwhile.length)
      throw new Broken(["stuck: nothing was acknowledged after the flush"]);
    await checkFinally(stage.checked);
    return { acknowledged: meanwhile, refusals: [] };
  } finally {
    await stage.world.close();
  }
}

/** A world in which clients work for a while, as often as it is asked for. */
class Stage {
  private constructor(
    readonly world: World,
    readonly ledger: Ledger,
    readonly listener: Listener,
  ) {}

  static async open(given: WorldGiven, seed: string): Promise<Stage> {
    const world = await World.make(given);
    const stage = new Stage(world, new Ledger(new Chance(seed), 3), new Listener());
    await prepare(world, stage.ledger);
    await stage.listener.follow(world);
    return stage;
  }

  get checked(): Checked {
    return { world: this.world, ledger: this.ledger, listener: this.listener };
  }

  async again(): Promise<void> {
    await this.world.start();
    await this.listener.follow(this.world);
    await checkStarted(this.checked);
  }

  /** Clients work for a time, and stop; or the gateway is killed under them. */
  async work(ms: number, watch: Watch = {}, end?: "killed"): Promise<Told> {
    const acknowledged: string[] = [];
    const before = new Map(this.ledger.refusals);
    const keep = (method: string) => void acknowledged.push(method);
    const working = work(this.world, this.ledger, { ...watch, acknowledged: keep });
    await this.#answered(ms);
    if (end) await this.world.kill();
    await working.stop();
    const refusals = [...this.ledger.refusals].filter(([kind, count]) => count > (before.get(kind) ?? 0));
    return { acknowledged, refusals: refusals.map(([kind]) => kind) };
  }

  /** For a time, and until some calls have their answer: a busy machine gives few of them in it. */
  async #answered(ms: number): Promise<void> {
    const { counts } = this.ledger;
    const [began, before] = [performance.now(), counts.acknowledged + counts.refused];
    const isEnough = () => counts.acknowledged + counts.refused - before >= LEAST_ANSWERS;
    do await sleep(ms);
    while (!isEnough() && performance.now() - began < LONGEST_MS);
  }

  check(): Promise<void> {
    return checkAtRest(this.checked);
  }

  /** What is there can be read, whatever the disk does. */
  async canRead(): Promise<void> {
    const line = await this.world.line();
    const state = await State.read(line, this.world.workspace_id);
    const read = await Promise.allSettled([...state.threads.keys()].map((id) => state.messages(id)));
    const failed = read.flatMap((one) => (one.status === "rejected" ? [String(one.reason)] : []));
    // One whose deletion the disk stopped half-way has its files in the bin until that is finished.
    const unread = failed.filter((reason) => !reason.includes("thread.files_missing"));
    if (unread.length > 0) throw new Broken(unread);
    line.close();
  }
}
