import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { runs } from "../../test/atsf/processes.js";
import { LineChild } from "./line-child.js";
import { HAS_GROUPS } from "./process-group.js";

const isLinux = process.platform === "linux";

function start(script: string) {
  const lines: string[] = [];
  let over: (problem: string | undefined) => void = () => {};
  const ended = new Promise<string | undefined>((resolve) => {
    over = resolve;
  });
  const env = { PATH: process.env.PATH };
  const given = { command: "sh", args: ["-c", script], env, cwd: process.cwd() };
  const child = new LineChild(given, { line: (text) => lines.push(text), over });
  return { child, lines, ended };
}

const pidIn = (lines: readonly string[]) => expect.poll(() => Number(lines[0])).toBeGreaterThan(0);

test("[BAS60] [BAS62] lines come whole, and a child that ends says how", async () => {
  const { child, lines, ended } = start(
    "printf 'on'; sleep 0.1; printf 'e\\ntwo\\nhal'; echo lost >&2; exit 3",
  );
  await child.start();
  expect(await ended).toBe("ended with exit code 3");
  expect(lines).toEqual(["one", "two"]);
  expect(child.lastWords).toBe("lost");
  expect(() => child.send("more")).toThrow("is not there any more");
});

test.runIf(isLinux)("[BAS61] what left the group ends with a child that is ended at once", async () => {
  const { child, lines, ended } = start(
    "setsid sh -c 'echo $$; exec sleep 1000' & trap '' TERM; wait; sleep 1000",
  );
  await child.start();
  await pidIn(lines);
  await child.endAll("now");
  expect(await ended).toBe(undefined);
  await expect.poll(() => runs(Number(lines[0]))).toBe(false);
});

test("[BAS63] a child that was ended before it was started is not started", async () => {
  const { child } = start("sleep 1000");
  await child.endAll("now");
  await expect(child.start()).rejects.toThrow("was ended before it began");
  expect(child.pid).toBe(undefined);
});

test("[BAS64] a line that can't be taken ends its child, and nobody else", async () => {
  const told: string[] = [];
  let over: (problem: string | undefined) => void = () => {};
  const ended = new Promise<string | undefined>((resolve) => {
    over = resolve;
  });
  const line = (text: string) => {
    told.push(text);
    if (text === "two") throw new RangeError("Maximum call stack size exceeded");
  };
  const env = { PATH: process.env.PATH };
  const given = {
    command: "sh",
    args: ["-c", "printf 'one\\ntwo\\nthree\\n'; sleep 1000"],
    env,
    cwd: process.cwd(),
  };
  const child = new LineChild(given, { line, over });
  await child.start();
  expect(await ended).toBe("said what can't be understood");
  expect(told).toEqual(["one", "two"]);
  expect(child.problem).toBe("said what can't be understood");
});

test.runIf(HAS_GROUPS)("[BAS51] a group that is guarded ends with us, and what left it", async () => {
  const mark = `mark-${process.pid}-${Date.now()}`;
  const group = spawn("sh", ["-c", "setsid sh -c 'echo $$; exec sleep 1000' & wait"], {
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
    env: { PATH: process.env.PATH, MARK: mark },
  });
  const [written] = await once(group.stdout, "data");
  const stray = Number(written);
  const module = new URL("./process-group.ts", import.meta.url).href;
  const code = `import(${JSON.stringify(module)}).then((it) => { it.endGroupWithUs(${group.pid}, { mark: ${JSON.stringify(mark)} }); console.log("guarded"); setInterval(() => {}, 1000); })`;
  const us = spawn(process.execPath, ["--import", "tsx", "-e", code], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(us.stdout, "data");
  expect(runs(stray)).toBe(true);
  us.kill("SIGKILL");
  await expect.poll(() => runs(group.pid as number)).toBe(false);
  if (isLinux) await expect.poll(() => runs(stray)).toBe(false);
  else process.kill(stray);
});
