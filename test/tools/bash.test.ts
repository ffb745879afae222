import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { bashPlugin, type ToolContext } from "../../src/tools/index.js";
import { temporaryDirectory } from "../support/stores.js";
import { contextWith, directoryWith, registryOf } from "./support.js";

const ENV = { PATH: process.env.PATH, ONLY: "this" };
const registry = registryOf(...bashPlugin({ environment: async () => ({ env: ENV, end() {} }) }).tools);

function bash(command: string, args: object = {}, context: Partial<ToolContext> = {}) {
  const directory = context.directory ?? temporaryDirectory();
  return registry.call("bash", { command, ...args }, contextWith({ directory, ...context }));
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  // One that was ended and not collected yet is there no more.
  const state = readFileSync(`/proc/${pid}/stat`, "utf8").replace(/.*\) /s, "")[0];
  return state !== "Z";
}

/** The number that a command writes into a file, once it has. */
async function pidIn(file: string): Promise<number> {
  for (let look = 0; look < 500; look++) {
    const text = existsSync(file) ? readFileSync(file, "utf8") : "";
    if (text.endsWith("\n")) return Number(text);
    await sleep(10);
  }
  throw new Error(`no number in ${file}`);
}

async function gone(pid: number, withinMs: number): Promise<boolean> {
  const until = performance.now() + withinMs;
  while (lives(pid)) {
    if (performance.now() > until) return false;
    await sleep(5);
  }
  return true;
}

test("[BSH1] it runs in the directory with bash, and answers both streams in order and the exit code", async () => {
  const directory = directoryWith({ "a.txt": "hello\n" });
  expect(
    await bash("cat a.txt; [[ $(pwd -P) == */* ]] && echo two >&2; echo three", {}, { directory }),
  ).toEqual({
    status: "completed",
    output: "hello\ntwo\nthree\n[exit code 0]",
    duration_ms: 0,
  });
  const many = await bash("for i in {1..200}; do echo $i; echo e$i >&2; done");
  const expected = Array.from({ length: 200 }, (_, index) => `${index + 1}\ne${index + 1}`).join("\n");
  expect(many.output).toBe(`${expected}\n[exit code 0]`);
  expect((await bash("true")).output).toBe("(no output)\n[exit code 0]");
});

test("[BSH1] another exit code, or an end by a signal, is a failure with the output kept", async () => {
  expect(await bash("echo half; exit 3")).toMatchObject({ status: "failed", output: "half\n[exit code 3]" });
  expect(await bash("echo half; kill -KILL $$")).toMatchObject({
    status: "failed",
    output: "half\n[ended by SIGKILL]",
  });
  expect(await bash("if then")).toMatchObject({
    status: "failed",
    output: expect.stringContaining("syntax error"),
  });
  expect((await bash("no-such-program-here")).output).toContain("[exit code 127]");
});

test("[BSH1] who reads gets the end", async () => {
  expect((await bash("cat; read -r x; echo $?")).output).toBe("1\n[exit code 0]");
});

test("[BSH2] when its time is up, the command ends with everything it started, and what it wrote is kept", async () => {
  const directory = temporaryDirectory();
  const began = performance.now();
  const outcome = await bash(
    "trap '' TERM; echo begun; (trap '' TERM; echo $BASHPID > child; while :; do sleep 0.1; done) & while :; do sleep 0.1; done",
    { timeout_seconds: 1 },
    { directory },
  );
  expect(performance.now() - began).toBeLessThan(8_000);
  expect(outcome).toMatchObject({
    status: "failed",
    output:
      "begun\n[not done after 1 seconds: it was ended with all it had started. What it had done until then stands]",
  });
  expect(await gone(await pidIn(join(directory, "child")), 500)).toBe(true);
});

test("[BSH2] one that forks again and again is ended whole", async () => {
  const directory = temporaryDirectory();
  const script = `mkdir pids
spawn() { for i in 1 2 3; do ( echo $BASHPID > pids/$BASHPID; [ $1 -gt 0 ] && spawn $(($1 - 1)); trap '' TERM; sleep 60 ) & done; wait; }
spawn 2`;
  const outcome = await bash(script, { timeout_seconds: 1 }, { directory });
  expect(outcome.status).toBe("failed");
  const pids = readdirSync(join(directory, "pids")).map(Number);
  expect(pids.length).toBe(39);
  for (const pid of pids) expect(await gone(pid, 1_000), String(pid)).toBe(true);
});

test("[BSH3] when the signal fires, everything has ended within 200 ms, one that ignores SIGTERM included", async () => {
  for (const trap of ["", "trap '' TERM;"]) {
    // The fastest of three: a busy machine may be late, a command that waits to be killed is always.
    const took: number[] = [];
    for (let round = 0; round < 3; round++) {
      const directory = temporaryDirectory();
      const own = new AbortController();
      const command = `${trap} echo $$ > pid; while :; do sleep 0.05; done`;
      const running = bash(command, {}, { directory, signal: own.signal });
      const pid = await pidIn(join(directory, "pid"));
      own.abort();
      const began = performance.now();
      expect(await gone(pid, 2_000)).toBe(true);
      took.push(performance.now() - began);
      expect((await running).output).toContain("cancelled");
    }
    expect(Math.min(...took)).toBeLessThan(200);
  }
});

test("[BSH3] a cancel while it is given time to end does not wait for that time", async () => {
  const directory = temporaryDirectory();
  const own = new AbortController();
  const running = bash(
    "trap 'touch asked' TERM; echo $$ > pid; while :; do sleep 0.05; done",
    { timeout_seconds: 1 },
    {
      directory,
      signal: own.signal,
    },
  );
  const pid = await pidIn(join(directory, "pid"));
  while (!existsSync(join(directory, "asked"))) await sleep(10);
  own.abort();
  expect(await gone(pid, 1_000)).toBe(true);
  await running;
});

test("[BSH4] what it leaves running in the background is ended with it, and it says so", async () => {
  const directory = temporaryDirectory();
  const began = performance.now();
  const outcome = await bash("sleep 300 & echo $! > pid; echo done", {}, { directory });
  expect(outcome).toMatchObject({
    status: "completed",
    output: "done\n[exit code 0]\n[What it had left running in the background was ended.]",
  });
  expect(performance.now() - began).toBeLessThan(5_000);
  expect(await gone(await pidIn(join(directory, "pid")), 500)).toBe(true);
  expect((await bash("(sleep 0.02; echo late) & echo early")).output).toBe("early\nlate\n[exit code 0]");
});

test("[BSH4] a process that left the group with the output in hand does not keep the call waiting", async () => {
  const directory = temporaryDirectory();
  const began = performance.now();
  const outcome = await bash(
    "setsid sh -c 'echo $$ > pid; exec sleep 20' & while ! [ -s pid ]; do sleep 0.01; done; echo done",
    {},
    {
      directory,
    },
  );
  expect(outcome).toMatchObject({
    status: "completed",
    output: expect.stringContaining("done\n[exit code 0]"),
  });
  expect(performance.now() - began).toBeLessThan(6_000);
  process.kill(await pidIn(join(directory, "pid")), "SIGKILL");
});

test("[BSH5] of very much its beginning and its end are kept, memory stays bounded, and others go on", async () => {
  const memory = process.memoryUsage().rss;
  let turns = 0;
  let longest = 0;
  let last = performance.now();
  const others = setInterval(() => {
    turns++;
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 10);
  const { status, output, truncated } = await bash(
    "echo first; head -c 400000000 /dev/zero | tr '\\0' x; echo; echo last",
  );
  clearInterval(others);
  expect(status).toBe("completed");
  expect(truncated).toBe(true);
  expect(output).toMatch(/^first\nx+\n\[… \d+ bytes left out …\]\nx+\nlast\n\[exit code 0\]$/);
  const left = Number(/… (\d+) bytes/.exec(output)?.[1]);
  const kept = [...output.matchAll(/^(first\nx+|x+\nlast)$/gm)].reduce((sum, [text]) => sum + text.length, 0);
  expect(left + kept).toBe(400_000_000 + "first\n\nlast\n".length - 1);
  expect(process.memoryUsage().rss - memory).toBeLessThan(150 * 1024 * 1024);
  expect(turns).toBeGreaterThan(10);
  expect(longest).toBeLessThan(5_000);
});

test("[BSH6] nothing is stripped, and characters in pieces are whole", async () => {
  const { output } = await bash(
    `printf '\\033[31mred\\033[0m\\r\\n\\t\\xf0\\x9f'; sleep 0.3; printf '\\xa7\\xb5 \\xff\\xc3'`,
  );
  expect(output).toBe("\u001b[31mred\u001b[0m\r\n\t🧵 \ufffd\ufffd\n[exit code 0]");
});

test("[BSH6] whatever the bytes, the output fits and is well-formed", async () => {
  for (const filler of ["\\377", "\\303", "\\200"]) {
    const { output, truncated } = await bash(
      `head -c 300000 /dev/zero | tr '\\0' '${filler}'; echo end; exit 1`,
    );
    expect(output).toMatch(/bytes left out …\]\n[\s\S]*end\n\[exit code 1\]$/);
    expect(truncated).toBe(true);
    expect(Buffer.byteLength(output)).toBeLessThanOrEqual(65_536);
    expect(output.isWellFormed()).toBe(true);
  }
  const text = await bash("for i in {1..30000}; do printf '🧵'; done");
  expect(text.output).not.toContain("\ufffd");
  const short = await bash("head -c 50000 /dev/zero | tr '\\0' '\\377'");
  expect(short).toMatchObject({ status: "completed", truncated: true });
  expect(short.output).toMatch(/\[exit code 0\]$/);
});

test("[BSH7] output is shown while it comes, in few bounded pieces, and none after the end", async () => {
  const pieces: { text: string; at: number }[] = [];
  const progress = (text: string) => void pieces.push({ text, at: performance.now() });
  await bash("for i in 1 2 3 4; do echo $i; sleep 0.25; done", {}, { progress });
  expect(pieces.map(({ text }) => text).join("")).toBe("1\n2\n3\n4\n");
  expect(pieces.length).toBeGreaterThan(2);
  expect((pieces.at(-1)?.at ?? 0) - (pieces[0]?.at ?? 0)).toBeGreaterThan(300);
  pieces.length = 0;
  const began = performance.now();
  await bash("timeout 1.2 yes", {}, { progress });
  const ended = performance.now();
  expect(pieces.length).toBeLessThanOrEqual((ended - began) / 200 + 2);
  for (const { text } of pieces) expect(Buffer.byteLength(text)).toBeLessThan(9_000);
  expect(pieces[0]?.text).toMatch(/bytes not shown/);
  const count = pieces.length;
  await sleep(300);
  expect(pieces.length).toBe(count);
});

test("[BSH8] it sees the environment it is given and nothing else, and whoever gave it is told once when it is over", async () => {
  const told: string[] = [];
  const given: Record<string, unknown>[] = [];
  const tools = registryOf(
    ...bashPlugin({
      async environment({ thread_id, workspace_id }) {
        given.push({ thread_id, workspace_id });
        return { env: { PATH: ENV.PATH, MINE: "yes" }, end: () => void told.push("over") };
      },
    }).tools,
  );
  const call = (args: object, more: Partial<ToolContext> = {}) =>
    tools.call(
      "bash",
      { ...args },
      contextWith({ directory: temporaryDirectory(), thread_id: "t1", ...more }),
    );
  const { output } = await call({ command: "env | cut -d= -f1 | sort | tr '\\n' ' '" });
  expect(output).toBe("MINE PATH PWD SHLVL _ \n[exit code 0]");
  expect(given).toEqual([{ thread_id: "t1", workspace_id: "ws_1" }]);
  expect(told).toEqual(["over"]);
  await call({ command: "exit 1" });
  await call({ command: "sleep 60", timeout_seconds: 1 });
  expect(told).toHaveLength(3);
  const own = new AbortController();
  setTimeout(() => own.abort(), 100);
  await call({ command: "sleep 60" }, { signal: own.signal });
  for (let look = 0; look < 100 && told.length < 4; look++) await sleep(10);
  expect(told).toHaveLength(4);
  await call({ command: "true", timeout_seconds: 601 });
  expect(given).toHaveLength(4);
});

test("[BSH8] a command that never began is over too", async () => {
  let ended = 0;
  const own = new AbortController();
  const tools = registryOf(
    ...bashPlugin({
      async environment() {
        own.abort();
        await sleep(20);
        return { env: ENV, end: () => void ended++ };
      },
    }).tools,
  );
  const directory = temporaryDirectory();
  await tools.call("bash", { command: "touch done" }, contextWith({ directory, signal: own.signal }));
  await sleep(200);
  expect(ended).toBe(1);
  expect(existsSync(join(directory, "done"))).toBe(false);
});

test("[BSH9] without a directory, with NUL or too long it is not run", async () => {
  const nowhere = [contextWith(), contextWith({ directory: join(temporaryDirectory(), "gone") })];
  for (const context of nowhere) {
    expect(await registry.call("bash", { command: "true" }, context)).toMatchObject({
      status: "failed",
      output: expect.stringContaining("nowhere to run a command"),
    });
  }
  expect((await bash("echo a\0b")).output).toContain("contains a NUL character");
  expect((await bash("echo \ud83e")).output).toContain("half a character");
  expect((await bash(`echo ${"ü".repeat(60_000)}`)).output).toContain("longer than 100000 bytes");
  expect((await bash(`echo ${"x".repeat(99_000)} | wc -c`)).output).toContain("99001");
  for (const args of [
    { timeout_seconds: 0 },
    { timeout_seconds: 601 },
    { description: "x".repeat(201) },
    { cwd: "/" },
  ]) {
    expect((await bash("echo ran", args)).output).toContain("bash was not called");
  }
  expect((await bash("")).status).toBe("failed");
});

test("[BSH9] a command that begins with a dash is a command", async () => {
  expect((await bash("-c 'echo wrong'")).output).toContain("[exit code 127]");
  expect((await bash("--version")).output).toContain("[exit code 127]");
  const directory = temporaryDirectory();
  mkdirSync(join(directory, 'it\'s "$HOME" `x`'));
  const named = { directory: join(directory, 'it\'s "$HOME" `x`') };
  expect((await bash('echo "$0|$1|$#"; basename "$PWD"', { description: "$(touch x)" }, named)).output).toBe(
    '/bin/bash||0\nit\'s "$HOME" `x`\n[exit code 0]',
  );
});

test("[BSH10] it needs the capability bash, asks, is not repeated, and says that it is no sandbox", () => {
  const plugin = bashPlugin({ environment: async () => ({ env: {}, end() {} }) });
  expect(plugin).toMatchObject({ id: "bash", description: expect.stringContaining("no sandbox") });
  expect(registry.list()).toMatchObject([
    {
      name: "bash",
      capabilities: ["bash"],
      asks: true,
      safeToRepeat: false,
      description: expect.stringContaining("It is no sandbox"),
    },
  ]);
});

test("[BSH11] when the gateway is killed, its commands end with it", async () => {
  const directory = temporaryDirectory();
  const program = `
    import { runShell } from ${JSON.stringify(join(process.cwd(), "src/tools/shell/run.ts"))};
    await runShell({ command: "trap '' TERM; echo $$ > pid; while :; do sleep 0.05; done", cwd: ${JSON.stringify(directory)},
      env: process.env, timeoutMs: 60000, signal: new AbortController().signal, onOutput() {} });`;
  const gateway = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", program], {
    stdio: "inherit",
  });
  onTestFinished(() => void gateway.kill("SIGKILL"));
  const pid = await pidIn(join(directory, "pid"));
  await sleep(100);
  gateway.kill("SIGKILL");
  expect(await gone(pid, 2_000)).toBe(true);
});
