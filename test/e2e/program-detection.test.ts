import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Agent } from "../../src/protocol/index.js";
import { pidsIn, runs } from "../atsf/processes.js";
import { startGateway, type TestGateway } from "../support/gateway.js";
import { told } from "../support/live-config.js";
import { sqliteStore, temporaryDirectory } from "../support/stores.js";
import type { Wire } from "../support/wire.js";

let home: string;
let bin: string;
let gateway: TestGateway | undefined;
beforeEach(() => {
  home = temporaryDirectory();
  bin = join(home, "bin");
  mkdirSync(bin);
});
afterEach(async () => {
  await gateway?.stop();
  gateway = undefined;
});

/** A program that writes down each time it is started, and what it sees. */
function install(name: string, version: string): string {
  const path = join(bin, name);
  write(
    path,
    `#!/bin/sh\necho "$*" >> ${home}/${name}.started\nenv > ${home}/${name}.env\necho ${name} ${version}\n`,
  );
  chmodSync(path, 0o755);
  return path;
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const starts = (name: string) => {
  const file = join(home, `${name}.started`);
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
};

const environment = (): NodeJS.ProcessEnv => ({
  PATH: `${bin}:${process.env.PATH}`,
  HOME: home,
  ANTHROPIC_API_KEY: "sk-anthropic-not-shown",
  DEPLOY_TOKEN: "not-shown-either",
});

async function open(agents?: readonly object[], env = environment()): Promise<Wire> {
  const configFile = join(home, "heddle.config.json");
  if (agents) writeFileSync(configFile, JSON.stringify({ agents }));
  gateway = await startGateway(sqliteStore, {
    around: { servers: [], path: bin, env },
    ...(agents && { configFile }),
  });
  const wire = await gateway.wire();
  await wire.result("subscribe", { workspace_id: gateway.home });
  return wire;
}

async function listed(wire: Wire): Promise<Record<string, Agent>> {
  const { data } = await wire.result("agent/list", {});
  return Object.fromEntries(data.map((agent) => [agent.agent_id, agent]));
}

describe("what is found", () => {
  test("[PDT1] every program that is known, in a fixed order, with how it is started", async () => {
    for (const name of ["opencode", "gemini", "pi", "codex", "claude", "bystander"]) install(name, "1.0.0");
    const wire = await open();
    const { data } = await wire.result("agent/list", {});
    expect(data.map((agent) => [agent.agent_id, agent.provider, agent.model, agent.available])).toEqual([
      ["claude", "claude-cli", "default", true],
      ["codex", "codex-cli", "default", true],
      ["pi", "pi-cli", "default", true],
      ["gemini", "acp", "default", true],
      ["opencode", "acp", "default", true],
      ["demo", "demo", "demo", true],
      ["demo-notes", "demo", "demo", true],
    ]);
    expect(data[0]).toMatchObject({ display_name: "Claude Code", origin: "detected" });
    expect(data[0]?.description).toContain(join(bin, "claude"));
  });

  test("[PDT10] versions come later, and everyone is told; nothing but that is asked", async () => {
    install("claude", "2.1.325");
    install("gemini", "0.61.0");
    const wire = await open();
    const first = await listed(wire);
    expect([first.claude, first.gemini].every((agent) => agent?.version === undefined)).toBe(true);
    await told(wire, () => {});
    const later = await listed(wire);
    expect([later.claude?.version, later.gemini?.version]).toEqual(["2.1.325", "0.61.0"]);
    expect(later.demo).not.toHaveProperty("version");
    expect([starts("claude"), starts("gemini")]).toEqual([["--version"], ["--version"]]);
    const { agent } = await wire.result("agent/get", { agent_id: "claude" });
    expect(agent.version).toBe("2.1.325");
  });

  test("[PDT13] a program that is asked for its version sees no secret", async () => {
    install("claude", "2.1.325");
    const wire = await open();
    await told(wire, () => void listed(wire));
    const seen = readFileSync(join(home, "claude.env"), "utf8");
    expect(seen).toContain(`HOME=${home}`);
    expect(seen).not.toContain("not-shown");
    expect(seen).not.toContain("HEDDLE_");
  });

  test("[PDT11] the same file is not asked again, another one in its place is", async () => {
    const path = install("claude", "1.0.0");
    const wire = await open();
    await told(wire, () => void listed(wire));
    for (let time = 0; time < 3; time++) expect((await listed(wire)).claude?.version).toBe("1.0.0");
    expect(starts("claude")).toHaveLength(1);
    rmSync(path);
    install("claude", "1.0.1-next");
    expect((await listed(wire)).claude).not.toHaveProperty("version");
    await expect.poll(async () => (await listed(wire)).claude?.version).toBe("1.0.1-next");
    expect(starts("claude")).toHaveLength(2);
  });

  test("[PDT12] a gateway that stops ends what it asks", async () => {
    const path = join(bin, "claude");
    write(path, `#!/bin/sh\ntrap '' TERM\nsleep 600 &\necho $$ $! > ${home}/pid\nsleep 600\n`);
    chmodSync(path, 0o755);
    const wire = await open();
    await listed(wire);
    await expect.poll(() => existsSync(join(home, "pid"))).toBe(true);
    await gateway?.app.stop();
    expect(pidsIn(join(home, "pid")).filter(runs)).toEqual([]);
    await gateway?.place.remove();
    gateway = undefined;
  });
});

describe("what the configuration names", () => {
  test("[PDT3] a program that comes and goes", async () => {
    const wire = await open([
      { agentId: "mine", chat: { provider: "claude-cli" } },
      { agentId: "other", chat: { provider: "pi-cli", config: { command: "./tools/pi" } } },
    ]);
    const before = await listed(wire);
    expect(before.mine).toMatchObject({
      available: false,
      reason: expect.stringContaining("claude is not on the PATH"),
    });
    expect(before.other?.reason).toContain(`${join(home, "tools", "pi")} is not there`);
    install("claude", "2.0.0");
    write(join(home, "tools", "pi"), "no program");
    const after = await listed(wire);
    expect(after.mine).toMatchObject({ available: true });
    expect(after.other).toMatchObject({ available: false });
    rmSync(join(bin, "claude"));
    expect((await listed(wire)).mine).toMatchObject({ available: false });
  });

  test("[PDT3] a PATH of its own is looked at", async () => {
    install("codex", "1.0.0");
    const elsewhere = { command: "codex", env: { PATH: "/nonexistent" } };
    const wire = await open([
      { agentId: "here", chat: { provider: "codex-cli" } },
      { agentId: "elsewhere", chat: { provider: "codex-cli", config: elsewhere } },
    ]);
    const { here, elsewhere: other } = await listed(wire);
    expect([here?.available, other?.available]).toEqual([true, false]);
  });

  test("[PDT14] what stands behind another program is not asked for its version", async () => {
    install("runner", "9.9.9");
    const direct = install("my-claude", "2.2.2");
    const wire = await open([
      {
        agentId: "behind",
        chat: { provider: "claude-cli", config: { command: "runner", args: ["claude.js"] } },
      },
      { agentId: "acp", chat: { provider: "acp", config: { command: "runner", args: ["agent.js"] } } },
      { agentId: "direct", chat: { provider: "claude-cli", config: { command: direct } } },
    ]);
    await told(wire, () => void listed(wire));
    const { behind, acp, direct: known } = await listed(wire);
    expect([behind?.available, acp?.available, known?.version]).toEqual([true, true, "2.2.2"]);
    expect(behind).not.toHaveProperty("version");
    expect(acp).not.toHaveProperty("version");
    expect(starts("runner")).toEqual([]);
  });
});

describe("who is signed in", () => {
  test("[PDT20] by files and variables, without a start; nothing of them is shown", async () => {
    for (const name of ["claude", "codex", "gemini", "opencode"]) install(name, "1.0.0");
    write(join(home, ".codex", "auth.json"), '{"token": "sk-codex-not-shown"}');
    const wire = await open();
    const agents = await listed(wire);
    const state = (id: string) => agents[id]?.signed_in;
    expect(["claude", "codex", "gemini", "opencode", "demo"].map(state)).toEqual([
      true,
      true,
      process.platform === "darwin" ? undefined : false,
      true,
      undefined,
    ]);
    expect(JSON.stringify(agents)).not.toContain("not-shown");
  });

  test.skipIf(process.platform === "darwin")(
    "[PDT22] a program that nobody is signed in to stays available, until somebody signs in with a hint",
    async () => {
      install("codex", "1.0.0");
      const wire = await open();
      const before = await listed(wire);
      expect(before.codex).toMatchObject({
        available: true,
        signed_in: false,
        reason: "Not signed in: run `codex login`.",
      });
      const { thread } = await wire.result("thread/start", { workspace_id: gateway?.home as string });
      expect(thread.agent_id).toBe("demo");
      write(join(home, ".codex", "auth.json"), '{"token": "sk-codex"}');
      const after = await listed(wire);
      expect(after.codex).toMatchObject({ available: true, signed_in: true });
      expect(after.codex).not.toHaveProperty("reason");
    },
  );

  test("[PDT23] where nobody wants a look, only whether a command is there is seen", async () => {
    install("claude", "1.0.0");
    const configFile = join(home, "heddle.config.json");
    const config = { command: join(bin, "claude") };
    const missing = { command: join(bin, "missing") };
    writeFileSync(
      configFile,
      JSON.stringify({
        agents: [
          { agentId: "a", chat: { provider: "claude-cli", config } },
          { agentId: "b", chat: { provider: "claude-cli", config: missing } },
        ],
      }),
    );
    gateway = await startGateway(sqliteStore, { configFile });
    const { a, b } = await listed(await gateway.wire());
    expect([a?.available, b?.available]).toEqual([true, false]);
    for (const absent of ["version", "signed_in", "reason"]) expect(a).not.toHaveProperty(absent);
  });
});
