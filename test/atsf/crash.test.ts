import type { ChildProcess } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { afterEach, expect, test } from "vitest";
import { openProject, type Project } from "../../src/atsf/index.js";
import { startChild } from "./bundle.js";
import { freshProject, line, newThread, textMessage, threadPath } from "./support.js";

/** Each costs the start of a process. The full proof, HEDDLE_TEST_KILLS=1000, takes a few minutes. */
const KILLS = Number(process.env.HEDDLE_TEST_KILLS ?? 40);
/** So many writers stand ready while another one is killed. */
const READY = 3;

/** A program that tells, line by line, what it has done. */
class Writer {
  readonly lines: string[] = [];
  readonly ended: Promise<void>;
  readonly #child: ChildProcess;
  readonly #watchers = new Set<() => void>();
  #isOver = false;

  constructor(child: ChildProcess) {
    this.#child = child;
    let rest = "";
    child.stdout?.on("data", (chunk) => {
      const parts = (rest + chunk).split("\n");
      rest = parts.pop() as string;
      this.lines.push(...parts);
      for (const watch of this.#watchers) watch();
    });
    this.ended = new Promise((resolve) => child.on("close", () => resolve()));
    void this.ended.then(() => {
      this.#isOver = true;
      for (const watch of this.#watchers) watch();
    });
  }

  /** Resolves when it has told so many lines, or will tell no more. */
  told(count: number): Promise<void> {
    return new Promise((resolve) => {
      const watch = () => {
        if (this.lines.length < count && !this.#isOver) return;
        this.#watchers.delete(watch);
        resolve();
      };
      this.#watchers.add(watch);
      watch();
    });
  }

  go(): void {
    this.#child.stdin?.write("go\n");
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }
}

const started: Writer[] = [];

async function start(name: string, ...args: string[]): Promise<Writer> {
  const writer = new Writer(await startChild(name, args));
  started.push(writer);
  return writer;
}

/** A test that fails half-way leaves no program behind, stopped ones included. */
afterEach(async () => {
  for (const writer of started) writer.signal("SIGKILL");
  await Promise.all(started.splice(0).map(({ ended }) => ended));
});

function rawIds(project: Project, thread: string): string[] {
  const text = readFileSync(threadPath(project, thread, "messages.jsonl"), "utf8");
  expect(text.endsWith("\n")).toBe(true);
  return text
    .trimEnd()
    .split("\n")
    .map((each) => JSON.parse(each).id);
}

/** Lets a writer write, kills it at some moment, and answers what it was told is on disk. */
async function killAtRandom(writer: Writer): Promise<string[]> {
  await writer.told(1);
  writer.go();
  await writer.told(2);
  const moment = Math.random() * 6;
  const until = performance.now() + moment;
  // A timer is too coarse for moments within a write.
  while (performance.now() < until) await new Promise((next) => setImmediate(next));
  writer.signal("SIGKILL");
  await writer.ended;
  expect(writer.lines[0]).toBe("ready");
  return writer.lines.slice(1);
}

test(`[LOG5] a writer killed at ${KILLS} random moments loses nothing it acknowledged and doubles nothing`, async () => {
  const project = await freshProject();
  const thread = await project.create(newThread("t"));
  const told: string[] = [];
  const ready: Promise<Writer>[] = [];
  for (let round = 0; round < KILLS; round++) {
    while (ready.length < READY && round + ready.length < KILLS)
      ready.push(start("killed-writer", project.root, "t", `r${round + ready.length}-`));
    told.push(...(await killAtRandom(await (ready.shift() as Promise<Writer>))));
    if (round % 10 !== 9) continue;
    await thread.append(textMessage(`after-${round}`));
    told.push(`after-${round}`);
  }
  await thread.append(textMessage("last"));
  await project.close();
  const written = rawIds(project, "t");
  const there = new Set(written);
  expect(there.size).toBe(written.length);
  expect(told.filter((id) => !there.has(id))).toEqual([]);
  expect(told.length).toBeGreaterThan(KILLS);
  expect((await thread.envelope()).stats.messageCount).toBe(written.length);
}, 600_000);

test("[LOG6] a torn tail, cut at every byte, is put aside and the next append works", async () => {
  const project = await freshProject();
  const thread = await project.create(newThread("t"));
  const log = threadPath(project, "t", "messages.jsonl");
  const first = line(textMessage("first"));
  const bytes = Buffer.from(line(textMessage("é😀", 'a "quoted" \u2028 text')));
  for (let cut = 1; cut <= bytes.length; cut++) {
    writeFileSync(log, first);
    appendFileSync(log, bytes.subarray(0, cut));
    await thread.append(textMessage("next"));
    const whole = cut >= bytes.length - 1;
    expect(rawIds(project, "t"), `cut at ${cut}`).toEqual(
      whole ? ["first", "é😀", "next"] : ["first", "next"],
    );
  }
  const torn = readdirSync(threadPath(project, "t"))
    .filter((name) => name.includes(".torn-"))
    .map((name) => readFileSync(threadPath(project, "t", name)).length);
  expect(torn.sort((a, b) => a - b)).toEqual(Array.from({ length: bytes.length - 2 }, (_, n) => n + 1));
  truncateSync(log, 0);
  await thread.append(textMessage("again"));
  expect(rawIds(project, "t")).toEqual(["again"]);
  await project.close();
});

test("[LOG7] two processes append 10,000 messages: nothing lost, interleaved or doubled", async () => {
  const project = await freshProject();
  const thread = await project.create(newThread("t"));
  const writers = await Promise.all(
    ["a", "b"].map((prefix) => start("writer", project.root, "t", prefix, "5000")),
  );
  await Promise.all(writers.map(({ ended }) => ended));
  const written = rawIds(project, "t");
  expect(written).toHaveLength(10_000);
  expect(written.toSorted()).toEqual(writers.flatMap(({ lines }) => lines).sort());
  expect((await thread.read()).problems).toEqual([]);
  // They took turns: the test would prove little otherwise.
  expect(written.filter((id, n) => n > 0 && id[0] !== written[n - 1]?.[0]).length).toBeGreaterThan(20);
  expect((await thread.envelope()).stats.messageCount).toBe(10_000);
}, 300_000);

test("[LOG20] a writer that never rests lets another one have its turn, time and again", async () => {
  const project = await freshProject();
  const thread = await project.create(newThread("t"));
  const restless = await start("writer", project.root, "t", "busy", "1000000");
  await restless.told(1);
  const others = Array.from({ length: 20 }, (_, n) => `other${n}`);
  const between: number[] = [];
  for (const id of others) {
    await thread.append(textMessage(id));
    between.push(restless.lines.length);
    await restless.told(restless.lines.length + 1);
  }
  restless.signal("SIGKILL");
  await restless.ended;
  expect(rawIds(project, "t").filter((id) => id.startsWith("other"))).toEqual(others);
  expect(readdirSync(threadPath(project, "t")).filter((name) => name.includes("wanted"))).toEqual([]);
  expect(new Set(between).size).toBe(others.length);
});

test("[LOG20] a wish that a dead writer left behind holds nobody up and goes", async () => {
  const project = await freshProject();
  const thread = await project.create(newThread("t"));
  await thread.append(textMessage("a"));
  const sign = threadPath(project, "t", "thread.lock-wanted");
  writeFileSync(sign, "");
  utimesSync(sign, 0, 0);
  await thread.append(textMessage("b"));
  expect(existsSync(sign)).toBe(false);
  expect(rawIds(project, "t")).toEqual(["a", "b"]);
  await project.close();
});

test("[LOG8] a stopped holder is never robbed; a killed one frees the thread at once, and waiting is told", async () => {
  const waited: string[] = [];
  const { root } = await freshProject();
  const project = await openProject(root, { onWaiting: (dir) => waited.push(dir) });
  const thread = await project.create(newThread("t"));
  const holder = await start("holder", thread.dir);
  await holder.told(1);
  expect(holder.lines).toEqual(["held"]);
  holder.signal("SIGSTOP");
  let done = false;
  const append = thread.append(textMessage("a")).then(() => {
    done = true;
  });
  await expect.poll(() => waited, { timeout: 30_000 }).toEqual([thread.dir]);
  expect(done).toBe(false);
  expect((await thread.read()).messages).toEqual([]);
  await new Promise((next) => setTimeout(next, 500));
  expect(done).toBe(false);
  holder.signal("SIGKILL");
  await append;
  expect(rawIds(project, "t")).toEqual(["a"]);
  expect(waited).toHaveLength(1);
  await holder.ended;
  await project.close();
});
