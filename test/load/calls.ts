import { setTimeout as wait } from "node:timers/promises";
import type { Chance } from "../crash/chance.js";
import type { LoadClient } from "./client.js";
import type { Room } from "./world.js";

/** What clients ask beside their turns, and how often each compared with the others. */
const CALLS = [
  ["ping", 4],
  ["thread/list", 4],
  ["thread/get", 3],
  ["thread/messages", 3],
  ["thread/agents_doc/resolve_for_thread", 3],
  ["run/list", 2],
  ["thread/tree", 1],
  ["thread/agents_doc/save", 1],
] as const;

export interface Calls {
  readonly times: number[];
  readonly failures: string[];
}

export interface Seat {
  readonly client: LoadClient;
  readonly room: Room;
  /** The thread that it listens to. */
  readonly thread_id: string;
}

/** Clients chosen at random ask something now and then. */
export async function askAround(
  seats: readonly Seat[],
  { everyMs, chance, stopped }: { everyMs: number; chance: Chance; stopped: () => boolean },
): Promise<Calls> {
  const calls: Calls = { times: [], failures: [] };
  const open = new Set<Promise<void>>();
  while (!stopped()) {
    await wait(everyMs * (0.5 + chance.next()));
    const asked = askOne(seats[chance.whole(seats.length)] as Seat, chance, calls).finally(() =>
      open.delete(asked),
    );
    open.add(asked);
  }
  await Promise.all(open);
  return calls;
}

async function askOne({ client, room }: Seat, chance: Chance, calls: Calls): Promise<void> {
  const method = chance.weighed(CALLS);
  const { workspace_id } = room;
  const thread_id = chance.pick(room.threads);
  const params = {
    ping: {},
    "thread/list": { workspace_id, limit: 50 },
    "thread/get": { workspace_id, thread_id },
    "thread/messages": { workspace_id, thread_id, limit: 20 },
    "thread/agents_doc/resolve_for_thread": { workspace_id, thread_id },
    "run/list": { workspace_id, thread_id, limit: 20 },
    "thread/tree": { workspace_id },
    "thread/agents_doc/save": { workspace_id, content: `Be brief. ${chance.whole(1_000)}` },
  }[method];
  const started = performance.now();
  const { error } = await client.call(method, params).catch((failed) => ({ error: failed as Error }));
  calls.times.push(performance.now() - started);
  if (error) calls.failures.push(`${method}: ${error.message}`);
}
