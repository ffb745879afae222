import { spawn } from "node:child_process";
import { appendFileSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { openProject, type Project } from "../../src/atsf/index.js";
import { freshProject, line, newThread, textMessage, threadPath } from "./support.js";

interface Child {
  /** Ids the writer was told are on disk. */
  readonly acknowledged: string[];
  kill(signal: NodeJS.Signals): void;
  exited: Promise<void>;
}

function startWriter(root: string, thread: string, prefix: string, count: number): Child {
  const args = ["--import", "tsx", "test/atsf/children/writer.ts", root, thread, prefix, String(count)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const acknowledged: string[] = [];
  let rest = "";
  child.stdout.on("data", (chunk) => {
    const parts = (rest + chunk).split("\n");
    rest = parts.pop() as string;
    acknowledged.push(...parts);
  });
  const exited = new Promise<void>((resolve) => child.stdout.on("close", resolve));
  return { acknowledged, kill: (signal) => child.kill(signal), exited };
}

async function ids(project: Project, thread: string): Promise<string[]> {
  return (await (await project.thread(thread)).read()).messages.map(({ id }) => id);
}

test("[LOG5] a writer killed at random moments loses nothing it acknowledged and doubles nothing", async () => {
  const project = await freshProject();
  await project.create(newThread("t"));
  const told: string[] = [];
  for (let round = 0; round < 15; round++) {
    const writer = startWriter(project.root, "t", `r${round}-`, 100_000);
    while (writer.acknowledged.length < 5) await new Promise((next) => setTimeout(next, 5));
    await new Promise((next) => setTimeout(next, Math.random() * 60));
    writer.kill("SIGKILL");
    await writer.exited;
    told.push(...writer.acknowledged);
    const after = await openProject(project.root);
    const thread = await after.thread("t");
    await thread.append(textMessage(`after-${round}`));
    told.push(`after-${round}`);
    await after.close();
  }
  const raw = readFileSync(threadPath(project, "t", "messages.jsonl"), "utf8")
    .trimEnd()
    .split("\n");
  const written = raw.map((text) => JSON.parse(text).id as string);
  expect(new Set(written).size).toBe(written.length);
  expect(told.filter((id) => !written.includes(id))).toEqual([]);
}, 120_000);

test("[LOG6] a torn tail, cut at every byte, is put aside and the next append works", async () => {
  const project = await freshProject();
  const thread = await project.create(newThread("t"));
  const log = threadPath(project, "t", "messages.jsonl");
  const first = line(textMessage("first"));
  const last = line(textMessage("é😀"));
  const bytes = Buffer.from(last);
  for (let cut = 1; cut <= bytes.length; cut++) {
    writeFileSync(log, first);
    appendFileSync(log, bytes.subarray(0, cut));
    await thread.append(textMessage("next"));
    const whole = cut >= bytes.length - 1;
    const expected = whole ? ["first", "é😀", "next"] : ["first", "next"];
    const written = readFileSync(log, "utf8")
      .trimEnd()
      .split("\n")
      .map((text) => JSON.parse(text).id);
    expect(written, `cut at ${cut}`).toEqual(expected);
  }
  const torn = readdirSync(threadPath(project, "t")).filter((name) => name.includes(".torn-"));
  expect(torn.length).toBeGreaterThan(0);
  truncateSync(log, 0);
  await thread.append(textMessage("again"));
  expect(await ids(project, "t")).toEqual(["again"]);
  await project.close();
});

test("[LOG7] two processes append at once: nothing lost, interleaved or doubled", async () => {
  const project = await freshProject();
  await project.create(newThread("t"));
  const writers = [startWriter(project.root, "t", "a", 2_000), startWriter(project.root, "t", "b", 2_000)];
  await Promise.all(writers.map(({ exited }) => exited));
  const written = (await ids(project, "t")).sort();
  expect(written).toHaveLength(4_000);
  expect(written).toEqual(writers.flatMap(({ acknowledged }) => acknowledged).sort());
  expect((await (await project.thread("t")).read()).problems).toEqual([]);
}, 120_000);

test("[LOG8] a stopped holder is never robbed; a killed one frees the thread at once, and waiting is told", async () => {
  const waited: string[] = [];
  const { root } = await freshProject();
  const project = await openProject(root, { onWaiting: (dir) => waited.push(dir) });
  const thread = await project.create(newThread("t"));
  const holder = spawn(process.execPath, ["--import", "tsx", "test/atsf/children/holder.ts", thread.dir], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise((resolve) => holder.stdout.once("data", resolve));
  holder.kill("SIGSTOP");
  let done = false;
  const append = thread.append(textMessage("a")).then(() => {
    done = true;
  });
  await new Promise((next) => setTimeout(next, 2_500));
  expect(done).toBe(false);
  expect(waited).toEqual([thread.dir]);
  const killed = performance.now();
  holder.kill("SIGKILL");
  await append;
  expect(performance.now() - killed).toBeLessThan(1_000);
  await project.close();
});
