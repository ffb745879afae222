import { setTimeout as wait } from "node:timers/promises";
import { holdStore } from "../support/hold-store.js";
import { type Answer, LoadClient, type Tamper } from "./client.js";
import type { World } from "./world.js";

/** Requests of one connection that a gateway has under way at once. */
const IN_FLIGHT = 1_000;
const PAST_IT = 20;
const TRIES = 50;
const RETRY_MS = 100;

/** What a client got that asked for more than it may at once. */
export interface Overload {
  readonly asked: number;
  readonly carriedOut: number;
  /** Codes and kinds of the refusals. */
  readonly refusedWith: Map<string, number>;
  readonly retryable: number;
  /** Refused ones that were sent again and carried out then. */
  readonly retried: number;
}

/** Asks for more than may be under way while nothing can be written, and asks again for what was refused. */
export async function overload(world: World, workspace_id: string, tamper?: Tamper): Promise<Overload> {
  const client = await LoadClient.open(world.door, tamper);
  const ask = (number: number) =>
    client.call("thread/agents_doc/save", { workspace_id, content: `Overload ${number}` });
  const release = await holdStore(world.place);
  const asked = IN_FLIGHT + PAST_IT;
  let refused = 0;
  const answers = Array.from({ length: asked }, async (_, number) => {
    const answer = await ask(number);
    if (answer.error) refused++;
    return answer;
  });
  // What is refused is answered at once; the others wait for the store.
  for (let look = 0; refused < PAST_IT && look < TRIES; look++) await wait(RETRY_MS);
  await release();
  const all = await Promise.all(answers);
  const refusals = all.flatMap(({ error }) => (error ? [error] : []));
  const retried = await Promise.all(refusals.map((error, number) => retry(error, () => ask(number))));
  client.close();
  return {
    asked,
    carriedOut: asked - refusals.length,
    refusedWith: counted(refusals.map(({ code, data }) => `${code} ${data.kind}`)),
    retryable: refusals.filter(({ data }) => data.retry_after_ms !== undefined).length,
    retried: retried.filter((worked) => worked).length,
  };
}

/** As the refusal says: after a moment. */
async function retry(error: NonNullable<Answer["error"]>, ask: () => Promise<Answer>): Promise<boolean> {
  for (let time = 0; time < TRIES; time++) {
    await wait(error.data.retry_after_ms ?? RETRY_MS);
    if (!(await ask()).error) return true;
  }
  return false;
}

function counted(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
