import { setTimeout as wait } from "node:timers/promises";
import type { Chance } from "../crash/chance.js";
import type { LoadClient } from "./client.js";

const QUESTION = "What is to be done about this, and why? ".repeat(13).slice(0, 512);
const ENDED = /"status":"(completed|failed|cancelled|interrupted)"/;
const TURN_MS = 60_000;
/** Then a thread begins anew. What a thread says to its model is held while it is at work: without an end, it would be memory that grows. */
const TURNS_KEPT = 20;

/** What became of the turns of one thread. */
export interface Turns {
  readonly thread_id: string;
  readonly client: LoadClient;
  taken: number;
  readonly firstWords: number[];
  readonly whole: number[];
  /** Answers to `run/start`. */
  readonly accepted: number[];
  readonly failures: string[];
}

export interface Pace {
  /** Milliseconds from one turn of a thread to its next, on average. */
  readonly everyMs: number;
  readonly chance: Chance;
  readonly stopped: () => boolean;
}

/** Keeps one thread busy: the next question follows the answer after a while. */
export async function keepBusy(
  client: LoadClient,
  thread: { workspace_id: string; thread_id: string },
  { everyMs, chance, stopped }: Pace,
): Promise<Turns> {
  const turns: Turns = {
    thread_id: thread.thread_id,
    client,
    taken: 0,
    firstWords: [],
    whole: [],
    accepted: [],
    failures: [],
  };
  // Not all at the same moment, and not in step with each other later on.
  await wait(everyMs * chance.next());
  while (!stopped()) {
    await takeTurn(turns, thread).catch((error) => turns.failures.push(String(error)));
    if (turns.taken % TURNS_KEPT === 0)
      await client.result("thread/clear", thread).catch((error) => turns.failures.push(String(error)));
    if (turns.failures.length > 0) break;
    await wait(everyMs * (0.5 + chance.next()));
  }
  return turns;
}

async function takeTurn(turns: Turns, thread: { workspace_id: string; thread_id: string }): Promise<void> {
  const { client } = turns;
  const started = performance.now();
  let firstWords: number | undefined;
  client.onWords = () => {
    firstWords ??= performance.now() - started;
  };
  const ended = untilEnded(client, thread.thread_id);
  const accepted = client.result("run/start", { ...thread, content: QUESTION }).then(() => {
    turns.accepted.push(performance.now() - started);
  });
  const [status] = await Promise.all([ended, accepted]);
  if (status !== "completed") throw new Error(`a run ended as ${status}`);
  turns.whole.push(performance.now() - started);
  if (firstWords === undefined) throw new Error("a run ended before its first words were heard");
  turns.firstWords.push(firstWords);
  turns.taken++;
}

function untilEnded(client: LoadClient, thread_id: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`a turn took more than ${TURN_MS / 1000} s`)), TURN_MS);
    client.onRun = (text) => {
      const status = text.includes(thread_id) ? ENDED.exec(text)?.[1] : undefined;
      if (status === undefined) return;
      clearTimeout(late);
      client.onRun = undefined;
      resolve(status);
    };
  });
}
