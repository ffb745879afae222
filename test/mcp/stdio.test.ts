import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { pidsIn, runs } from "../atsf/processes.js";
import { McpStage, scripted } from "../support/mcp-stage.js";
import { temporaryDirectory } from "../support/stores.js";

const family = () => join(temporaryDirectory(), "pids");
const gone = async (pids: readonly number[]) => {
  for (let look = 0; look < 200 && pids.some(runs); look++) await sleep(20);
  return pids.filter(runs);
};

test("[MCP1] setting servers waits for nothing, and every page of their tools is there when they have listed them", async () => {
  const stage = new McpStage();
  const began = performance.now();
  stage.servers.set({ slow: scripted({ many: 25, pageSize: 10 }) });
  expect(performance.now() - began).toBeLessThan(1_000);
  expect(stage.status("slow")).toEqual({
    name: "slow",
    state: "connecting",
    tools: 0,
    since: expect.any(Number),
  });
  expect(stage.names()).toEqual([]);
  expect(await stage.until("slow", "ready")).toMatchObject({ tools: 25 });
  expect(stage.names()).toHaveLength(25);
  expect(stage.names()[24]).toBe("mcp_slow_tool_0024");
  expect(await stage.call("mcp_slow_tool_0024", { text: "hi" })).toMatchObject({
    status: "completed",
    output: 'tool_0024: {"text":"hi"}',
  });
});

test("[MCP2] a program sees the environment it is given and that of its entry, and starts in its cwd or the directory", async () => {
  const stage = new McpStage({}, { PATH: process.env.PATH, GIVEN: "yes", BOTH: "given" });
  const tools = [{ name: "env", does: "env" as const }];
  const [here, there] = [temporaryDirectory(), temporaryDirectory()];
  const env = { BOTH: "entry", OWN: "value" };
  stage.servers.set(
    { here: { ...scripted({ tools }), env }, there: { ...scripted({ tools }), cwd: there } },
    undefined,
    here,
  );
  await stage.until("here", "ready");
  await stage.until("there", "ready");
  const seen = JSON.parse((await stage.call("mcp_here_env")).output);
  expect(seen).toMatchObject({ GIVEN: "yes", BOTH: "entry", OWN: "value" });
  expect(seen.HOME).toBeUndefined();
  const pwd = async (name: string) => {
    stage.servers.set(
      {
        [name]: { command: "sh", args: ["-c", "pwd >&2; exit 1"], cwd: name === "there" ? there : undefined },
      },
      "w",
      here,
    );
    return (await stage.until(name, "failed")).problem;
  };
  stage.servers.set({});
  expect(await pwd("here")).toContain(here);
  expect(await pwd("there")).toContain(there);
});

test("[MCP3] closing ends every program within three seconds, with what it started, also one that does not listen", async () => {
  const stage = new McpStage();
  const [polite, stubborn, silent] = [family(), family(), family()];
  stage.servers.set({
    polite: scripted({}, `family=${polite}`),
    stubborn: scripted({}, `family=${stubborn}`, "stubborn"),
    silent: scripted({}, `family=${silent}`, "stubborn", "silent"),
  });
  await stage.until("polite", "ready");
  await stage.until("stubborn", "ready");
  for (let look = 0; look < 500 && !existsSync(silent); look++) await sleep(20);
  const pids = [polite, stubborn, silent].flatMap(pidsIn);
  expect(pids.map(runs)).toEqual(pids.map(() => true));
  const began = performance.now();
  await stage.servers.close();
  // Three seconds are its own limits; the rest is for a machine that is busy with other tests.
  expect(performance.now() - began).toBeLessThan(8_000);
  expect(await gone(pids)).toEqual([]);
  expect((await stage.call("mcp_polite_any")).status).toBe("failed");
});

test("[MCP3] when the process that started them is killed, they end too", async () => {
  const file = family();
  const source = `
    import { systemClock } from ${JSON.stringify(resolve("src/base/index.ts"))};
    import { McpServers, ToolRegistry } from ${JSON.stringify(resolve("src/tools/index.ts"))};
    const servers = new McpServers({ tools: new ToolRegistry(), clock: systemClock, env: () => process.env });
    servers.set({ one: ${JSON.stringify(scripted({}, `family=${file}`, "stubborn"))} });
    setInterval(() => console.log(servers.status()[0].state), 50);
  `;
  const parent = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", source], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise<void>((ready) =>
    parent.stdout.on("data", (text) => String(text).includes("ready") && ready()),
  );
  const pids = pidsIn(file);
  parent.kill("SIGKILL");
  expect(await gone(pids)).toEqual([]);
});

test("[MCP4] a server that ends is connected again; until then its tools stay listed, and a call waits for it", async () => {
  const stage = new McpStage({ backoffMs: 60_000, longestBackoffMs: 60_000 });
  stage.servers.set({ one: scripted({ tools: [{ name: "crash", does: "crash" }, { name: "echo" }] }) });
  await stage.until("one", "ready");
  expect((await stage.call("mcp_one_crash")).status).toBe("failed");
  expect((await stage.until("one", "failed")).problem).toContain("ended with exit code 7");
  expect(stage.names()).toEqual(["mcp_one_crash", "mcp_one_echo"]);
  expect(await stage.call("mcp_one_echo", { text: "again" })).toMatchObject({
    output: 'echo: {"text":"again"}',
  });
  expect(stage.status("one")).toEqual({ name: "one", state: "ready", tools: 2, since: expect.any(Number) });
});

test("[MCP4] tries follow one another at waits that double", async () => {
  const stage = new McpStage({ backoffMs: 100, longestBackoffMs: 400 });
  stage.servers.set({ one: { command: "/nonexistent/program" } });
  await sleep(1_600);
  const tries = stage.told.filter(({ state }) => state === "failed").length;
  // At 0, 100, 300, 700, 1,100 and 1,500 ms, or a little later.
  expect(tries).toBeGreaterThanOrEqual(4);
  expect(tries).toBeLessThanOrEqual(6);
});

test("[MCP5] a server that can't be used says why, and disturbs no other", async () => {
  const stage = new McpStage({
    connectMs: 30_000,
    listMs: 1_000,
    backoffMs: 60_000,
    longestBackoffMs: 60_000,
  });
  stage.servers.set({
    missing: { command: "/nonexistent/program" },
    ends: scripted({}, "exit=3"),
    listless: scripted({ instead: "hangs at list" }),
    refusing: scripted({ instead: "fails at list" }),
    circle: scripted({ circle: true, many: 3 }),
    nothing: {},
    good: scripted({ tools: [{ name: "echo" }] }),
    bare: scripted({ instead: "lists nothing" }),
  });
  expect((await stage.until("missing", "failed")).problem).toBe(
    "can't be started: its command or its cwd is not there. Look at both",
  );
  expect((await stage.until("ends", "failed")).problem).toBe(
    "ended with exit code 3. It said: it can't start:",
  );
  expect((await stage.until("listless", "failed")).problem).toBe("did not answer in time");
  expect((await stage.until("refusing", "failed")).problem).toContain("refused: the list is lost");
  expect((await stage.until("circle", "failed")).problem).toBe("lists its tools in a circle");
  expect((await stage.until("nothing", "failed")).problem).toContain("needs a command or a url");
  expect(await stage.until("good", "ready")).toMatchObject({ tools: 1 });
  expect(await stage.until("bare", "ready")).toMatchObject({ tools: 0 });
  expect(stage.names()).toEqual(["mcp_good_echo"]);
  expect(await stage.call("mcp_good_echo")).toMatchObject({ status: "completed" });
});

test("[MCP5] a server that does not answer is given up in time, and its program is ended", async () => {
  const file = family();
  const stage = new McpStage({ connectMs: 3_000, backoffMs: 60_000, longestBackoffMs: 60_000 });
  stage.servers.set({ silent: scripted({}, `family=${file}`, "silent", "stubborn") });
  expect((await stage.until("silent", "failed")).problem).toMatch(
    /did not (get ready within 3 s|answer in time)/,
  );
  expect(await gone(pidsIn(file))).toEqual([]);
});

test("[MCP6] a server that knows only the newer handshake is connected all the same", async () => {
  const stage = new McpStage();
  stage.servers.set({
    modern: scripted({ tools: [{ name: "echo" }, { name: "add", does: "add" }] }, "modern"),
  });
  await stage.until("modern", "ready");
  expect(await stage.call("mcp_modern_echo", { text: "hi" })).toMatchObject({
    output: 'echo: {"text":"hi"}',
  });
  await stage.call("mcp_modern_add");
  await stage.until("modern", ({ tools }) => tools === 3);
});

test("[MCP60] servers that stay the same keep their connections; others are ended or started", async () => {
  const stage = new McpStage();
  const [kept, changed, removed, off] = [family(), family(), family(), family()];
  const entries = {
    kept: scripted({ tools: [{ name: "echo" }] }, `family=${kept}`),
    changed: scripted({ tools: [{ name: "echo" }] }, `family=${changed}`),
    removed: scripted({ tools: [{ name: "echo" }] }, `family=${removed}`),
    off: scripted({ tools: [{ name: "echo" }] }, `family=${off}`),
  };
  stage.servers.set(entries);
  for (const name of Object.keys(entries)) await stage.until(name, "ready");
  const before = pidsIn(kept);
  const ended = [changed, removed, off].flatMap(pidsIn);
  stage.servers.set({
    kept: { ...entries.kept, enabled: true },
    changed: { ...entries.changed, env: { NEW: "value" } },
    off: { ...entries.off, enabled: false },
    added: scripted({ tools: [{ name: "echo" }] }),
  });
  expect(stage.status("kept")?.state).toBe("ready");
  expect(stage.status("off")).toEqual({ name: "off", state: "off", tools: 0, since: expect.any(Number) });
  expect(stage.status("removed")).toBeUndefined();
  expect(stage.names()).toEqual(["mcp_kept_echo"]);
  await stage.until("changed", "ready");
  await stage.until("added", "ready");
  expect(stage.names()).toEqual(["mcp_added_echo", "mcp_changed_echo", "mcp_kept_echo"]);
  expect(await gone(ended)).toEqual([]);
  expect(before.map(runs)).toEqual([true, true]);
  expect(readFileSync(kept, "utf8")).toBe(before.join(" "));
});

test("[MCP61] servers of one workspace are there only, and never in the place of one that all have", async () => {
  const stage = new McpStage();
  const tools = [{ name: "echo" }];
  stage.servers.set({ mine: scripted({ tools }), both: scripted({ tools }) }, "wks_1");
  await stage.until("both", "ready");
  expect(stage.names("wks_1")).toEqual(expect.arrayContaining(["mcp_both_echo"]));
  stage.servers.set({ both: scripted({ tools: [{ name: "common" }] }) });
  await stage.until("mine", "ready");
  await stage.until("both", ({ workspace_id, state }) => workspace_id === undefined && state === "ready");
  expect(stage.names()).toEqual(["mcp_both_common"]);
  expect(stage.names("wks_2")).toEqual(["mcp_both_common"]);
  expect(stage.names("wks_1")).toEqual(["mcp_both_common", "mcp_mine_echo"]);
  expect(stage.servers.status()).toMatchObject([
    { name: "both", state: "ready" },
    {
      name: "both",
      workspace_id: "wks_1",
      state: "failed",
      problem: expect.stringContaining("give it another"),
    },
    { name: "mine", workspace_id: "wks_1", state: "ready" },
  ]);
  expect((await stage.call("mcp_mine_echo", {}, { workspace_id: "wks_2" })).output).toContain(
    "There is no tool",
  );
  stage.servers.set({}, "wks_1");
  expect(stage.names("wks_1")).toEqual(["mcp_both_common"]);
  expect(stage.servers.status()).toHaveLength(1);
});

test("[MCP62] who asks at once can wait until every server was tried once, and no longer than a time", async () => {
  const stage = new McpStage({ backoffMs: 60_000, longestBackoffMs: 60_000 });
  await stage.servers.tried();
  stage.servers.set({
    good: scripted({ tools: [{ name: "echo" }] }),
    bad: { command: "/nonexistent/program" },
  });
  await stage.servers.tried(20_000);
  expect(stage.servers.status().map(({ state }) => state)).toEqual(["failed", "ready"]);
  expect(stage.names()).toEqual(["mcp_good_echo"]);
  stage.servers.set({ silent: scripted({}, "silent") });
  const began = performance.now();
  await stage.servers.tried(300);
  expect(performance.now() - began).toBeLessThan(10_000);
  expect(stage.status("silent")?.state).toBe("connecting");
});
