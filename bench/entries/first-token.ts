import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type Bench, type Entry, inTurns, type Row, row, type Sampler } from "../harness.js";
import { median } from "../statistics.js";
import { Caller } from "../support/caller.js";
import { writeProject, writeThread } from "../support/thread-files.js";
import {
  AGENT,
  ANSWER,
  DirectCaller,
  QUESTION,
  startAsking,
  startFakeModel,
  TurnTaker,
} from "../support/turns.js";
import { textOf } from "../support/words.js";

/** Turns of one sample. */
const TURNS = 5;
/** Messages a thread has before its turns: one turn goes before those that count. */
const SHORT = 6;
const LONG = 1_000;
const WARM_UPS = 2;
/** Threads whose turns only go before the others. */
const USED = 10;

/**
 * What the gateway adds until the first words of an answer: it flushes the question, the run and what the model is told
 * before it asks. Against a direct call with as many messages of the same length.
 */
export const firstToken: Entry = {
  name: "first-token",
  title: `added time to the first token over a direct call, messages of ${QUESTION} characters`,
  async run(bench: Bench): Promise<Row[]> {
    const rounds = bench.times(40, 8);
    const way = await openWay(bench, rounds);
    const series = await inTurns(
      rounds,
      {
        flush: rawFlush(bench),
        direct10: direct(way, 10),
        at10: () => way.atTen(),
        direct1000: direct(way, LONG),
        at1000: () => way.atThousand(),
      },
      WARM_UPS,
    );
    const added = {
      at10: series.at10.map((time, round) => time - (series.direct10[round] ?? 0)),
      at1000: series.at1000.map((time, round) => time - (series.direct1000[round] ?? 0)),
    };
    const most = { of: "value", atMost: 2 } as const;
    const flush = { name: "write, fdatasync", samples: series.flush };
    return [
      row({
        name: "whole, message 10",
        ...ms,
        samples: series.at10,
        against: of("direct call", series.direct10),
      }),
      row({
        name: "whole, message 1,000",
        ...ms,
        samples: series.at1000,
        against: of("direct call", series.direct1000),
      }),
      row({ name: "added, message 10", ...ms, samples: added.at10, against: flush, target: most }),
      row({ name: "added, message 1,000", ...ms, samples: added.at1000, against: flush }),
      row({
        name: "flat? added, message 1,000",
        ...ms,
        samples: added.at1000,
        against: of("message 10", added.at10),
        target: { of: "ratio", atMost: 1.3 },
      }),
    ];
  },
};

const ms = { unit: "ms" } as const;

function of(name: string, samples: readonly number[]) {
  return { name, samples };
}

interface Way {
  readonly model: DirectCaller;
  atTen(): Promise<number>;
  atThousand(): Promise<number>;
}

/** A thread for each sample at message 10, and one for all those near message 1,000. */
async function openWay(bench: Bench, rounds: number): Promise<Way> {
  const root = bench.directory();
  writeProject(root);
  const text = (index: number) => textOf(QUESTION, index);
  const samples = rounds + WARM_UPS;
  const short = Array.from({ length: samples }, (_, number) =>
    writeThread(root, { number, messages: SHORT, text, agent: AGENT }),
  );
  // Half of the turns come before message 1,000 and half after it.
  const messages = LONG - samples * TURNS;
  const long = writeThread(root, { number: samples, messages, text, agent: AGENT });
  const used = Array.from({ length: USED }, (_, number) =>
    writeThread(root, { number: samples + 1 + number, messages: SHORT, text, agent: AGENT }),
  );
  const model = await startFakeModel(bench);
  const gateway = await startAsking(bench, bench.directory(), model);
  const caller = await Caller.open(bench, gateway.url, gateway.token);
  const { workspace } = await caller.ask("workspace/create", { root_path: root });
  // Answers when all of them are known.
  await caller.call("thread/list", { workspace_id: workspace.id });
  const taker = await TurnTaker.open(bench, gateway);
  for (const thread_id of [...short, long, ...used]) await taker.follow(workspace.id, thread_id);
  const turn = (thread_id: string) => taker.take(workspace.id, thread_id, textOf(QUESTION, next++));
  const typical = async (thread_id: string) => {
    const times: number[] = [];
    for (let taken = 0; taken < TURNS; taken++) times.push((await turn(thread_id)).firstWords);
    return median(times);
  };
  // Code that has run a few times only is slow: a gateway that has been up for a while is what people have.
  for (let taken = 0; taken < bench.times(300, 100); taken++) await turn(used[taken % used.length] as string);
  return {
    model: new DirectCaller(bench, model),
    async atTen() {
      const thread_id = short.pop() as string;
      await turn(thread_id);
      return typical(thread_id);
    },
    atThousand: () => typical(long),
  };
}

let next = 0;

function direct({ model }: Way, count: number): Sampler {
  const messages = Array.from({ length: count }, (_, index) => ({
    role: index % 2 === 0 ? "user" : "assistant",
    content: textOf(index % 2 === 0 ? QUESTION : ANSWER, index),
  }));
  return async () => {
    const times: number[] = [];
    for (let taken = 0; taken < TURNS; taken++) times.push(await model.ask(messages));
    return median(times);
  };
}

function rawFlush(bench: Bench): Sampler {
  const file = openSync(join(bench.directory(), "raw"), "a");
  bench.onEnd(() => closeSync(file));
  const bytes = Buffer.alloc(QUESTION, "x");
  return () => {
    const times: number[] = [];
    for (let taken = 0; taken < TURNS; taken++) {
      const started = performance.now();
      writeSync(file, bytes);
      fdatasyncSync(file);
      times.push(performance.now() - started);
    }
    return median(times);
  };
}
