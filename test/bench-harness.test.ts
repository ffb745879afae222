import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Bench, inTurns, row } from "../bench/harness.js";
import { comparable, newest, type Recorded, record, regressions } from "../bench/history.js";
import { type EntryReport, misses, table } from "../bench/report.js";
import { ratioSpread, spread, verdict } from "../bench/statistics.js";
import { Caller } from "../bench/support/caller.js";
import { startGateway } from "../bench/support/child.js";
import { Seed } from "../bench/support/seed.js";
import { writeProject, writeThread } from "../bench/support/thread-files.js";
import {
  AGENT,
  ANSWER,
  DirectCaller,
  startAsking,
  startFakeModel,
  TurnTaker,
} from "../bench/support/turns.js";
import { textOf } from "../bench/support/words.js";
import { openProject, validate } from "../src/atsf/index.js";
import { temporaryDirectory } from "./support/stores.js";

test("[BENCH1] a series is told by its median and quartiles, interpolated between samples", () => {
  expect(spread([5, 1, 4, 2, 3])).toEqual({ median: 3, q1: 2, q3: 4, samples: 5 });
  expect(spread([40, 10, 30, 20])).toEqual({ median: 25, q1: 17.5, q3: 32.5, samples: 4 });
  expect(spread([7])).toEqual({ median: 7, q1: 7, q3: 7, samples: 1 });
  expect(() => spread([])).toThrow(RangeError);
});

test("[BENCH1] taking the spread leaves the samples in their order", () => {
  const samples = [3, 1, 2];
  spread(samples);
  expect(samples).toEqual([3, 1, 2]);
});

test("[BENCH2] a ratio is taken pair by pair", () => {
  // The machine was ten times slower in the second round, for both.
  expect(ratioSpread([2, 20, 2], [1, 10, 1])).toEqual({ median: 2, q1: 2, q3: 2, samples: 3 });
  expect(() => ratioSpread([1, 2], [1])).toThrow(RangeError);
});

test("[BENCH3] samples are taken in turns, without those of the warm-up", async () => {
  const order: string[] = [];
  const sampler = (name: string) => () => order.push(name);
  expect(await inTurns(2, { a: sampler("a"), b: sampler("b") }, 1)).toEqual({ a: [3, 5], b: [4, 6] });
  expect(order).toEqual(["a", "b", "a", "b", "a", "b"]);
});

test("[BENCH4] a target is met when the median does not pass it", () => {
  const samples = [1, 2, 9];
  const against = { name: "base", samples: [1, 1, 1] };
  const judged = (of: "ratio" | "value", atMost: number) =>
    row({ name: "r", unit: "ms", samples, against, target: { of, atMost } }).verdict?.met;
  expect(judged("ratio", 2)).toBe(true);
  expect(judged("ratio", 1.9)).toBe(false);
  expect(judged("value", 2)).toBe(true);
  expect(judged("value", 1.9)).toBe(false);
  expect(row({ name: "r", unit: "ms", samples, against }).verdict).toBeUndefined();
});

test("[BENCH4] a target may also be the least that is to be reached", () => {
  const target = { of: "value", atLeast: 100 } as const;
  expect(verdict(target, 100)).toEqual({ met: true, text: "ok" });
  expect(verdict(target, 80)).toEqual({ met: false, text: "MISS by 20 %" });
  const rows = [row({ name: "rate", unit: "/s", samples: [80], target })];
  expect(table({ title: "An entry" }, rows)).toMatch(/rate +80\.0\/s .* >= 100\/s +MISS by 20 %/);
});

test("[BENCH4] a target of the ratio needs a baseline", () => {
  const target = { of: "ratio", atMost: 1 } as const;
  expect(() => row({ name: "r", unit: "ms", samples: [1], target })).toThrow(/baseline/);
});

test("[BENCH5] a miss is told with its distance, and named at the end", () => {
  const target = { of: "ratio", atMost: 2 } as const;
  expect(verdict(target, 2)).toEqual({ met: true, text: "ok" });
  expect(verdict(target, 2.5)).toEqual({ met: false, text: "MISS by 25 %" });
  expect(verdict(target, 2.01)).toEqual({ met: false, text: "MISS by 0.5 %" });
  const rows = [
    row({ name: "slow", unit: "ms", samples: [5], against: { name: "base", samples: [2] }, target }),
    row({ name: "fast", unit: "ms", samples: [3], against: { name: "base", samples: [2] }, target }),
  ];
  expect(misses([{ name: "entry", title: "An entry", rows }])).toEqual(["entry: slow"]);
  const printed = table({ title: "An entry" }, rows);
  expect(printed).toMatch(/slow +5\.00 ms \[5\.00\.\.5\.00\] +2\.00 ms base +2\.50 x .*<= 2 x +MISS by 25 %/);
  expect(printed).toMatch(/fast .* ok\n/);
});

/** A figure around a middle, each sample against a baseline of one. */
function around(name: string, middle: number, unit: "ms" | "/s" = "ms"): EntryReport {
  const samples = [0.95, 1, 1.05].map((share) => share * middle);
  const rows = [row({ name: "row", unit, samples, against: { name: "base", samples: [1, 1, 1] } })];
  return { name, title: name, rows };
}

test("[BENCH17] a ratio that is worse than the newest release's beyond its spread is found, whichever way is worse", () => {
  const directory = temporaryDirectory();
  record(directory, "0.9.0", { quick: false, entries: [around("time", 1), around("rate", 1, "/s")] });
  record(directory, "0.10.0", { quick: false, entries: [around("time", 2), around("rate", 2, "/s")] });
  const recorded = newest(directory) as Recorded;
  expect(recorded.version).toBe("0.10.0");
  expect(comparable(recorded)).toBe(true);
  expect(comparable(recorded, "v99.0.0")).toBe(false);
  const found = (time: number, rate: number) =>
    regressions(recorded, [around("time", time), around("rate", rate, "/s")]).map(({ entry }) => entry);
  expect(found(2, 2)).toEqual([]);
  // Slower, but another machine may be.
  expect(found(2.9, 1.5)).toEqual([]);
  expect(found(0.5, 9)).toEqual([]);
  expect(found(3.6, 1.1)).toEqual(["time", "rate"]);
  // What nobody measured before can't have become worse.
  expect(regressions(recorded, [around("new", 9)])).toEqual([]);
  expect(newest(join(directory, "none"))).toBeUndefined();
});

test("[BENCH18] figures of a version are kept for programs and people, and those of other entries stay", () => {
  const directory = temporaryDirectory();
  record(directory, "1.0.0", { quick: false, entries: [around("a", 1), around("b", 1)] });
  const files = record(directory, "1.0.0", { quick: false, entries: [around("b", 3), around("c", 1)] });
  const medians = newest(directory)?.entries.map(({ name, rows }) => [name, rows[0]?.ratio?.median]);
  expect(medians).toEqual([
    ["a", 1],
    ["b", 3],
    ["c", 1],
  ]);
  expect(readFileSync(files[1] as string, "utf8")).toContain("| row | 3.00 ms");
});

test("[BENCH17] the command measures what seems worse once more, and then ends with 1 and names it", () => {
  const directory = temporaryDirectory();
  const entry = (median: number): EntryReport => {
    const ratio = { median, q1: median, q3: median, samples: 3 };
    const rows = ["cold"].map((name) => ({
      name,
      unit: "ms" as const,
      value: ratio,
      ratio,
    }));
    return { name: "resolve", title: "resolve", rows };
  };
  const check = () =>
    spawnSync(
      "node_modules/.bin/tsx",
      ["bench/run.ts", "--quick", "--check", "--only", "resolve", "--history", directory],
      { encoding: "utf8" },
    );
  expect(check().stdout).toContain("not compared: nothing was recorded");
  record(directory, "1.0.0", { quick: false, entries: [entry(1e-6)] });
  const { status, stdout } = check();
  expect(stdout).toContain("Once more what seems slower");
  expect(stdout).toMatch(/slower than 1\.0\.0: resolve: /);
  expect(status).toBe(1);
}, 60_000);

test("[BENCH6] what an entry leaves behind is undone in reverse, even if some of it fails", async () => {
  const bench = new Bench({ quick: true });
  const undone: string[] = [];
  const directory = bench.directory();
  bench.onEnd(() => undone.push(existsSync(directory) ? "first, the directory still there" : "too late"));
  bench.onEnd(() => {
    undone.push("second");
    throw new Error("could not be stopped");
  });
  await expect(bench.end()).rejects.toThrow("could not be stopped");
  expect(undone).toEqual(["second", "first, the directory still there"]);
  expect(existsSync(directory)).toBe(false);
});

test("[BENCH6] a part of an entry ends before the next begins, and with the entry", async () => {
  const bench = new Bench({ quick: true });
  const directory = await bench.part(async (part) => part.directory());
  expect(existsSync(directory)).toBe(false);
  let left = "";
  const part = bench.part(async (inner) => {
    left = inner.directory();
    await bench.end();
    return existsSync(left);
  });
  expect(await part).toBe(false);
});

test("[BENCH7] an unknown entry is refused with the names there are", () => {
  const { status, stderr } = spawnSync("node_modules/.bin/tsx", ["bench/run.ts", "--only", "nonsense"], {
    encoding: "utf8",
  });
  expect(status).toBe(2);
  expect(stderr).toContain("There is no entry nonsense.");
  expect(stderr).toContain(
    "resolve, tree, list, ping, start, memory, save, notify, append, page, index, new-thread, search, first-token, many-tools, turns, programs",
  );
});

test("[BENCH11] a gateway keeps seeded threads and makes no files for them", async () => {
  const bench = new Bench({ quick: true });
  try {
    const dataDir = bench.directory();
    const seeded = await Seed.into(bench, dataDir, (seed) => {
      const workspace_id = seed.workspace("Seeded");
      return { workspace_id, thread_id: seed.thread(workspace_id, null, { index: 0, of: 1 }).id };
    });
    const { workspace_id } = seeded;
    const listed = await bench.part(async (part) => {
      const { url, token } = await startGateway(part, dataDir);
      return (await Caller.open(part, url, token)).ask("thread/list", { workspace_id });
    });
    expect(listed.data.map(({ id }) => id)).toEqual([seeded.thread_id]);
    for (const place of ["away", join("workspaces", workspace_id)])
      expect(existsSync(join(dataDir, place)), place).toBe(false);
  } finally {
    await bench.end();
  }
});

test("[BENCH13] a turn is timed until its first words and until its run is completed; a direct call gets the same words", async () => {
  const bench = new Bench({ quick: true });
  try {
    const model = await startFakeModel(bench);
    const gateway = await startAsking(bench, bench.directory(), model);
    const caller = await Caller.open(bench, gateway.url, gateway.token);
    const root_path = bench.directory();
    const workspace_id = (await caller.ask("workspace/create", { root_path })).workspace.id;
    const { thread } = await caller.ask("thread/start", { workspace_id, agent_id: AGENT });
    const taker = await TurnTaker.open(bench, gateway);
    await taker.follow(workspace_id, thread.id);
    const turn = await taker.take(workspace_id, thread.id, "A question");
    expect(turn.firstWords).toBeGreaterThan(0);
    expect(turn.whole).toBeGreaterThanOrEqual(turn.firstWords);
    const { data } = await caller.ask("thread/messages", { thread_id: thread.id, order: "asc" });
    const texts = data.map(({ content }) =>
      content.map((block) => ("text" in block ? block.text : "")).join(""),
    );
    expect(texts.map(({ length }) => length)).toEqual(["A question".length, ANSWER]);
    expect(
      await new DirectCaller(bench, model).ask([{ role: "user", content: "A question" }]),
    ).toBeGreaterThan(0);
    await expect(taker.take(workspace_id, "thread-that-is-not", "A question")).rejects.toThrow("no thread");
  } finally {
    await bench.end();
  }
}, 30_000);

test("[BENCH12] threads that are written past the library are whole, and count right", async () => {
  const root = temporaryDirectory();
  writeProject(root);
  // More messages than are written at once.
  const threads = [0, 1, 2, 1_001].map((messages, number) => ({
    messages,
    id: writeThread(root, { number, messages, text: (index) => textOf(40, index) }),
  }));
  for await (const problem of validate(root)) expect.fail(`${problem.file}: ${problem.message}`);
  const project = await openProject(root);
  for (const { id, messages } of threads) {
    const thread = await project.thread(id);
    expect((await thread.envelope()).stats.messageCount).toBe(messages);
    expect((await thread.read()).messages).toHaveLength(messages);
    expect(await thread.refreshDerived({ thorough: true }), id).toBe(false);
  }
  await project.close();
});

test("[BENCH12] a text is the same in every run, of its length, and others have other words", () => {
  expect(textOf(1_000, 7)).toBe(textOf(1_000, 7));
  expect(textOf(1_000, 7)).toHaveLength(1_000);
  const words = new Set(Array.from({ length: 200 }, (_, number) => textOf(1_000, number).split(" ")).flat());
  expect(words.size).toBeGreaterThan(1_000);
});
