import { setTimeout as wait } from "node:timers/promises";
import { type Door, LoadClient } from "./client.js";

const TEXT = "A document that is long enough to fill what is kept for a client. ".repeat(980);
/** More than a gateway keeps for a client, together with what the system does. */
const MOST_SAVES = 600;
const CLOSED_MS = 30_000;
const RESUMED_MS = 30_000;

/** What became of clients that stopped reading. */
export interface Slow {
  readonly clients: number;
  /** How often each code and reason closed one. */
  readonly closedWith: Map<string, number>;
  resumed: number;
  readonly problems: string[];
}

/** Clients of a workspace of their own stop reading while much happens there, are dropped, come back and resume. */
export async function dropAndResume(door: Door, workspace_id: string, clients: number): Promise<Slow> {
  const writer = await LoadClient.open(door);
  const slow = await Promise.all(Array.from({ length: clients }, () => LoadClient.open(door)));
  const found: Slow = { clients, closedWith: new Map(), resumed: 0, problems: [] };
  try {
    const { seq } = await writer.result<{ seq: number }>("subscribe", { workspace_id });
    for (const client of slow) {
      await client.follow(workspace_id, seq);
      client.socket.pause();
    }
    await saveUntilDropped(door, writer, workspace_id, clients);
    await Promise.all(slow.map((client) => comeBack(door, client, workspace_id, found)));
  } finally {
    for (const client of [writer, ...slow]) client.close();
  }
  return found;
}

/** The gateway counts those it dropped: who does not read does not hear of it either. */
async function saveUntilDropped(
  door: Door,
  writer: LoadClient,
  workspace_id: string,
  clients: number,
): Promise<void> {
  const before = await droppedSoFar(door);
  for (let save = 0; save < MOST_SAVES; save++) {
    await writer.result("thread/agents_doc/save", { workspace_id, content: `${save} ${TEXT}` });
    if (save % 5 === 4 && (await droppedSoFar(door)) >= before + clients) return;
  }
}

async function droppedSoFar({ url, token }: Door): Promise<number> {
  const answer = await fetch(`${url}/metrics`, { headers: { Authorization: `Bearer ${token}` } });
  return Number(/^heddle_slow_connections_total (\d+)$/m.exec(await answer.text())?.[1]);
}

async function comeBack(door: Door, client: LoadClient, workspace_id: string, found: Slow): Promise<void> {
  client.socket.resume();
  if (!(await within(CLOSED_MS, () => client.closed !== undefined))) {
    found.problems.push("a client that read nothing was not dropped");
    return;
  }
  const { code, reason } = client.closed as { code: number; reason: string };
  const how = `${code} ${reason}`;
  found.closedWith.set(how, (found.closedWith.get(how) ?? 0) + 1);
  const again = await LoadClient.open(door);
  const { seq, resync } = await again.follow(workspace_id, client.last);
  const whole = await within(RESUMED_MS, () => again.last >= seq);
  const gaps = [...client.problems, ...again.problems];
  if (resync) found.problems.push("a client that was dropped was told to read all again");
  else if (!whole) found.problems.push(`a client that resumed heard up to ${again.last} of ${seq}`);
  else if (gaps.length > 0) found.problems.push(`a client that resumed: ${gaps[0]}`);
  else found.resumed++;
  again.close();
}

/** Whether something holds before the time is up. */
export async function within(ms: number, holds: () => boolean): Promise<boolean> {
  const until = performance.now() + ms;
  while (!holds()) {
    if (performance.now() > until) return false;
    await wait(20);
  }
  return true;
}
