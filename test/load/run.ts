import { setTimeout as wait } from "node:timers/promises";
import { Chance } from "../crash/chance.js";
import { askAround, type Calls, type Seat } from "./calls.js";
import { LoadClient, type Tamper } from "./client.js";
import { type Growth, growthOf, MemoryWatch, type Sample } from "./memory.js";
import { type Overload, overload } from "./overload.js";
import { dropAndResume, type Slow, within } from "./slow.js";
import { keepBusy, type Turns } from "./turns.js";
import { ANSWER_CHARS, openWorld, type Place, type Room, type World } from "./world.js";

export interface LoadOptions {
  readonly place: Place;
  readonly clients: number;
  readonly threads: number;
  readonly seconds: number;
  readonly seed: string;
  /** Milliseconds from one turn of a thread to its next. */
  readonly turnEveryMs: number;
  readonly callEveryMs: number;
  readonly slowClients: number;
  /** Slow clients and overload come again after so long. */
  readonly troubleEveryMs: number;
  readonly plants?: Plants;
  /** Told how far it is. */
  readonly say: (line: string) => void;
}

/** Faults that the checks must find. */
export interface Plants {
  /** Of what one client hears. */
  readonly tamper?: Tamper;
  /** Of what a client hears that asks for too much. */
  readonly tamperOverload?: Tamper;
  /** Of the gateway. */
  readonly env?: NodeJS.ProcessEnv;
}

/** What a client should have heard, and what it did. */
export interface Heard {
  readonly number: number;
  readonly expected: number;
  readonly heard: number;
  /** Messages that were told, and those that were written. */
  readonly messages: number;
  readonly written: number;
  /** Characters of answers that it heard while they were said, and those that were said. */
  readonly liveChars: number;
  readonly spoken: number;
  readonly problems: readonly string[];
}

export interface Measured {
  readonly clients: readonly Heard[];
  readonly threads: readonly Turns[];
  readonly calls: Calls;
  readonly memory: readonly Sample[];
  readonly growth: Growth;
  readonly slow: readonly Slow[];
  readonly overloads: readonly Overload[];
  /** From the first turn to the last. */
  readonly seconds: number;
}

const CONNECT_AT_ONCE = 25;
const SAY_EVERY_MS = 10_000;
const HEARD_MS = 60_000;
const SAMPLE_SHARE = 1 / 80;
/** Collecting stops everything else for a moment. */
const LEAST_SAMPLE_MS = 400;
/** A question and its answer. */
const MESSAGES_PER_TURN = 2;
/** The client whose hearing is tampered with: not one that asks, so that nothing else fails. */
const TAMPERED = 50;

/** Connects the clients, keeps the threads busy, makes trouble on the side, and answers what came of it. */
export async function runLoad(options: LoadOptions): Promise<Measured> {
  const { place, threads, plants, say } = options;
  const every = Math.max(LEAST_SAMPLE_MS, options.seconds * 1000 * SAMPLE_SHARE);
  const world = await openWorld(place, threads, MemoryWatch.env(place.dataDir, every, plants?.env));
  const seats: Seat[] = [];
  try {
    await connect(world, options, seats);
    say(`${seats.length} clients connected, ${threads} threads in ${world.rooms.length} workspaces`);
    return await underLoad(world, seats, options);
  } finally {
    for (const { client } of seats) client.close();
    await world.end();
  }
}

/** Everybody follows a workspace, and listens to one of its threads while it speaks. */
async function connect({ door, rooms }: World, options: LoadOptions, seats: Seat[]): Promise<void> {
  const threads = rooms.flatMap((room) => room.threads.map((thread_id) => ({ room, thread_id })));
  const take = async (number: number): Promise<Seat> => {
    const { room, thread_id } = threads[number % threads.length] as (typeof threads)[number];
    const { workspace_id, seq } = room;
    const client = await LoadClient.open(door, number === TAMPERED ? options.plants?.tamper : undefined);
    await client.follow(workspace_id, seq);
    await client.result("subscribe", { workspace_id, thread_id });
    return { client, room, thread_id };
  };
  for (let from = 0; from < options.clients; from += CONNECT_AT_ONCE) {
    const count = Math.min(CONNECT_AT_ONCE, options.clients - from);
    seats.push(...(await Promise.all(Array.from({ length: count }, (_, index) => take(from + index)))));
  }
}

async function underLoad(world: World, seats: readonly Seat[], options: LoadOptions): Promise<Measured> {
  const { seconds, threads, turnEveryMs, callEveryMs, say } = options;
  const chance = new Chance(options.seed);
  let over = false;
  const stopped = () => over;
  const memory = new MemoryWatch(world.place.dataDir);
  const busy = seats.slice(0, threads).map((seat, number) => {
    const thread = { workspace_id: seat.room.workspace_id, thread_id: seat.thread_id };
    return keepBusy(seat.client, thread, {
      everyMs: turnEveryMs,
      chance: chance.branch(`${number}`),
      stopped,
    });
  });
  const asking = askAround(seats, { everyMs: callEveryMs, chance: chance.branch("calls"), stopped });
  const telling = setInterval(() => say(progress(memory, seats)), SAY_EVERY_MS);
  try {
    const trouble = await Trouble.open(world, options);
    // What trouble needs once, it needs again: all that is part of being warm.
    await trouble.make();
    const warm = memory.seconds;
    const until = performance.now() + seconds * 1000;
    while (performance.now() < until) {
      await wait(Math.min(options.troubleEveryMs, until - performance.now()));
      if (performance.now() < until) await trouble.make();
    }
    over = true;
    const taken = await Promise.all(busy);
    const calls = await asking;
    const lasted = memory.seconds;
    const clients = await account(world, seats, taken);
    const growth = growthOf(memory.samples, warm);
    const { slow, overloads } = trouble;
    return {
      clients,
      threads: taken,
      calls,
      memory: memory.samples,
      growth,
      slow,
      overloads,
      seconds: lasted,
    };
  } finally {
    over = true;
    clearInterval(telling);
  }
}

/** Clients that do not read, and one that asks for too much, in a workspace of their own. */
class Trouble {
  readonly slow: Slow[] = [];
  readonly overloads: Overload[] = [];

  static async open(world: World, options: LoadOptions): Promise<Trouble> {
    const maker = await LoadClient.open(world.door);
    const { workspace } = await maker.result<{ workspace: { id: string } }>("workspace/create", {
      name: "Trouble",
    });
    maker.close();
    return new Trouble(world, options, workspace.id);
  }

  private constructor(
    readonly world: World,
    readonly options: LoadOptions,
    readonly workspace_id: string,
  ) {}

  async make(): Promise<void> {
    const { slowClients, plants, say } = this.options;
    const slow = await dropAndResume(this.world.door, this.workspace_id, slowClients);
    this.slow.push(slow);
    const refused = await overload(this.world, this.workspace_id, plants?.tamperOverload);
    this.overloads.push(refused);
    const codes = [...refused.refusedWith].map(([how, count]) => `${count} x ${how}`).join(", ");
    say(`${slow.resumed} of ${slow.clients} slow clients dropped and resumed; past the limit: ${codes}`);
  }
}

function progress(memory: MemoryWatch, seats: readonly Seat[]): string {
  const heard = seats.reduce((sum, { client }) => sum + client.heard, 0);
  const { megabytes = 0, resident = 0 } = memory.samples.at(-1) ?? {};
  return `${Math.round(memory.seconds)} s  ${heard} notifications heard, ${Math.round(megabytes)} MB held, ${Math.round(resident)} MB resident`;
}

/** Waits until everybody has heard the last of what was told, as long as it may take, and counts. */
async function account(world: World, seats: readonly Seat[], turns: readonly Turns[]): Promise<Heard[]> {
  const asker = await LoadClient.open(world.door);
  const latest = new Map<string, number>();
  for (const { workspace_id } of world.rooms) {
    const { seq } = await asker.result<{ seq: number }>("subscribe", { workspace_id });
    latest.set(workspace_id, seq);
  }
  asker.close();
  const lastOf = ({ room }: Seat) => latest.get(room.workspace_id) ?? 0;
  await within(HEARD_MS, () => seats.every((seat) => seat.client.last >= lastOf(seat)));
  const takenIn = (room: Room) =>
    turns
      .filter(({ thread_id }) => room.threads.includes(thread_id))
      .reduce((sum, { taken }) => sum + taken, 0);
  const spoken = new Map(turns.map(({ thread_id, taken }) => [thread_id, taken * ANSWER_CHARS]));
  return seats.map((seat, number) => ({
    number,
    expected: lastOf(seat) - seat.room.seq,
    heard: seat.client.heard,
    messages: seat.client.counts["message/appended"],
    written: takenIn(seat.room) * MESSAGES_PER_TURN,
    liveChars: seat.client.liveChars,
    spoken: spoken.get(seat.thread_id) ?? 0,
    problems: [
      ...seat.client.problems,
      ...(seat.client.closed ? [`it was closed with ${seat.client.closed.code}`] : []),
    ],
  }));
}
