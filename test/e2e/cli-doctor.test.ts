import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { sqliteDriver } from "../../src/base/index.js";
import { buildCommand, CliHome } from "../support/cli.js";

let home: CliHome;
beforeAll(buildCommand);
beforeEach(() => {
  home = new CliHome();
});
afterEach(() => home.remove());

interface Check {
  name: string;
  verdict: string;
  detail: string;
  advice?: string;
}

async function examine(
  ...args: string[]
): Promise<{ code: number | null; ok: boolean; checks: Record<string, Check> }> {
  const { code, stdout } = await home.run(["doctor", "--json", ...args]);
  const { ok, checks } = JSON.parse(stdout) as { ok: boolean; checks: Check[] };
  return { code, ok, checks: Object.fromEntries(checks.map((check) => [check.name, check])) };
}

const verdicts = (checks: Record<string, Check>) =>
  Object.fromEntries(Object.values(checks).map(({ name, verdict }) => [name, verdict]));

describe("doctor", () => {
  test("[CLI90] on a fresh machine everything needed works, and nothing is made", async () => {
    const { code, ok, checks } = await examine();
    expect({ code, ok }).toEqual({ code: 0, ok: true });
    expect(verdicts(checks)).toEqual({
      runtime: "ok",
      sqlite: "ok",
      git: "ok",
      data: "none",
      token: "none",
      gateway: "none",
      store: "none",
      agents: "none",
    });
    expect(existsSync(join(home.dir, "data"))).toBe(false);
    const { stdout, code: plain } = await home.run(["doctor"]);
    expect(plain).toBe(0);
    expect(stdout).toContain(`Node.js ${process.versions.node}`);
    expect(stdout).toMatch(/SQLite 3\.\d+\.\d+ \((libsql|node:sqlite)\)/);
    expect(stdout).toContain("Everything needed works.");
  });

  test("[CLI90] with data but no gateway it looks at the store itself", async () => {
    await home.ok("folders", "create", "A");
    const before = readFileSync(join(home.data, "heddle.db"));
    const { code, checks } = await examine();
    expect(code).toBe(0);
    expect(checks.data?.detail).toBe(`${home.data} (mode 0700)`);
    expect(checks.store).toMatchObject({ verdict: "ok" });
    expect(checks.store?.detail).toContain("no damage found");
    expect(readFileSync(join(home.data, "heddle.db"))).toEqual(before);
  });

  test("[CLI196] a configuration that can't be used is broken before a start, and told while a gateway keeps the one before", async () => {
    const file = join(home.data, "heddle.config.json");
    const agents = [{ agentId: "own", chat: { provider: "demo" } }];
    mkdirSync(home.data, { recursive: true, mode: 0o700 });
    writeFileSync(file, JSON.stringify({ agents }));
    const gateway = await home.serve();
    expect((await examine()).checks.agents).toEqual({
      name: "agents",
      verdict: "ok",
      detail: "1 agent, 1 of them available",
    });
    writeFileSync(file, '{\n "agents": [{}]}');
    await expect
      .poll(async () => (await examine()).checks.agents, { timeout: 15_000 })
      .toMatchObject({ verdict: "warning", detail: expect.stringContaining(`${file}:2: agents[0].agentId`) });
    const { stdout, stderr } = await home.run(["agents"]);
    expect(stdout).toMatch(/^own /m);
    expect(stderr).toContain(`${file}:2: agents[0].agentId`);
    await gateway.stop();
    expect(await examine()).toMatchObject({
      code: 1,
      checks: { agents: { verdict: "broken", detail: expect.stringContaining(`${file}:2`) } },
    });
  });

  test("[CLI198] everything in the configuration that nobody hears is told, with a gateway and without one", async () => {
    const file = join(home.data, "heddle.config.json");
    const own = { agentId: "own", chat: { provider: "demo", modle: "x" }, toolDenyList: ["bash"] };
    // biome-ignore lint/suspicious/noTemplateCurlyInString: that is how a configuration names a variable
    const other = { agentId: "other", systemPrompt: "${TZ}" };
    const elsewhere = { env: { TZ: undefined } as unknown as Record<string, string> };
    const plugins = { bsah: { enabled: false }, "mcp-of-a-project": { enabled: false } };
    const write = (agents: object[]) =>
      writeFileSync(file, JSON.stringify({ agentz: [], agents, plugins }, null, 1));
    const told = async () => {
      const { stdout } = await home.run(["doctor", "--json"], elsewhere);
      const { checks } = JSON.parse(stdout) as { checks: Check[] };
      return checks.filter(({ name }) => name === "agents").map(({ verdict, detail }) => [verdict, detail]);
    };
    const unheard = [
      ["warning", `${file}:2: agentz is not a key that is known here. Did you mean "agents"?`],
      [
        "warning",
        `${file}:10: agents[0].toolDenyList is not a key that is known here. Did you mean "toolDenylist"?`,
      ],
      ["warning", `${file}:8: agents[0].chat.modle is not a key that is known here. Did you mean "model"?`],
    ];
    const plugin = (line: number) => [
      "warning",
      `${file}:${line}: plugins.bsah names no plugin. Did you mean "bash"?`,
    ];
    mkdirSync(home.data, { recursive: true, mode: 0o700 });
    write([own]);
    expect(await told()).toEqual([["ok", "heddle.config.json names 1 agent"], ...unheard, plugin(16)]);
    write([own, other]);
    expect(await told()).toMatchObject([["broken", expect.stringContaining("environment variable TZ")]]);
    const gateway = await home.serve();
    expect(await told()).toEqual([["ok", "2 agents, 1 of them available"], ...unheard, plugin(20)]);
    expect((await home.run(["doctor"])).stdout).toContain("Everything needed works.");
    await gateway.stop();
  });

  test("[CLI92] with a gateway it asks that one", async () => {
    const gateway = await home.serve();
    const { code, checks } = await examine();
    expect(code).toBe(0);
    expect(verdicts(checks)).toMatchObject({ token: "ok", address: "ok", gateway: "ok", store: "ok" });
    const { version } = JSON.parse(readFileSync("package.json", "utf8"));
    expect(checks.gateway?.detail).toBe(`${gateway.url}, process ${gateway.pid}, Heddle ${version}`);
    expect(checks.store?.detail).toBe("the gateway reads it");
  });

  test("[CLI92] a gateway that was killed is told from one that does not answer", async () => {
    const gateway = await home.serve();
    gateway.process.kill("SIGSTOP");
    const stopped = await examine();
    expect(stopped).toMatchObject({ code: 1, ok: false });
    expect(stopped.checks.gateway).toMatchObject({
      verdict: "broken",
      advice: expect.stringContaining("stop process"),
    });
    expect(stopped.checks.store?.verdict).toBe("warning");
    await gateway.stop("SIGKILL");
    const killed = await examine();
    expect(killed.code).toBe(0);
    expect(killed.checks.gateway).toMatchObject({ verdict: "warning" });
    expect(killed.checks.gateway?.detail).toContain("left gateway.json behind");
    expect(killed.checks.store?.verdict).toBe("ok");
  });
});

describe("doctor looks at programs", () => {
  function install(name: string, lines: string): string {
    const path = join(home.dir, "bin", name);
    mkdirSync(join(home.dir, "bin"), { recursive: true });
    writeFileSync(path, `#!/bin/sh\n${lines}\n`);
    chmodSync(path, 0o755);
    return path;
  }

  async function examined(PATH: string): Promise<{ code: number | null; checks: Record<string, Check> }> {
    const { code, stdout } = await home.run(["doctor", "--json"], { env: { HEDDLE_DETECT: "", PATH } });
    const { checks } = JSON.parse(stdout) as { checks: Check[] };
    return { code, checks: Object.fromEntries(checks.map((check) => [check.name, check])) };
  }

  test.skipIf(process.platform === "darwin")(
    "[PDT50] each with path, version and sign-in; one that nobody is signed in to breaks nothing",
    async () => {
      const claude = install("claude", "echo '2.1.325 (Claude Code)'");
      const codex = install("codex", "echo codex-cli 0.166.0");
      const gemini = install("gemini", "exit 1");
      const opencode = install("opencode", "echo 1.18.33");
      mkdirSync(join(home.dir, ".claude"));
      writeFileSync(join(home.dir, ".claude", ".credentials.json"), '{"token": "sk-not-shown"}');
      const { code, checks } = await examined(`${join(home.dir, "bin")}:${home.env.PATH}`);
      expect(code).toBe(0);
      expect([checks.claude, checks.codex, checks.gemini, checks.opencode]).toEqual([
        { name: "claude", verdict: "ok", detail: `${claude}, version 2.1.325, signed in` },
        {
          name: "codex",
          verdict: "warning",
          detail: `${codex}, version 0.166.0, not signed in`,
          advice: "to use it, run `codex login`",
        },
        {
          name: "gemini",
          verdict: "warning",
          detail: `${gemini}, version unknown, not signed in`,
          advice: `run \`${gemini} --version\` to see why it does not tell its version`,
        },
        {
          name: "opencode",
          verdict: "ok",
          detail: `${opencode}, version 1.18.33, only the program knows whether somebody is signed in`,
        },
      ]);
      expect(JSON.stringify(checks)).not.toContain("sk-not-shown");
    },
  );

  test("[PDT50] none of them is needed", async () => {
    mkdirSync(join(home.dir, "bin"));
    const { code, checks } = await examined(join(home.dir, "bin"));
    expect(code).toBe(0);
    expect(checks.programs).toEqual({
      name: "programs",
      verdict: "none",
      detail: "none of claude, codex, pi, gemini, opencode is on the PATH",
    });
  });
});

describe("doctor finds what is broken", () => {
  const storeOf = async () => {
    const { code, ok, checks } = await examine();
    expect({ code, ok }).toEqual({ code: 1, ok: false });
    return checks.store as Check;
  };

  test("[CLI91] a damaged store", async () => {
    for (let index = 0; index < 3; index++)
      await home.ok("agents-md", "set", "/", "--text", `${index}`.repeat(60_000));
    const file = join(home.data, "heddle.db");
    const bytes = readFileSync(file);
    bytes.fill(0xa5, 8192, bytes.length - 4096);
    writeFileSync(file, bytes);
    expect(await storeOf()).toMatchObject({ verdict: "broken" });
    expect((await home.run(["doctor"])).stdout).toContain("Broken: 1.");
  });

  test("[CLI91] a file that is no database, or another program's", async () => {
    mkdirSync(home.data, { recursive: true, mode: 0o700 });
    const file = join(home.data, "heddle.db");
    writeFileSync(file, "this is not a database, whatever its name says".repeat(100));
    expect((await storeOf()).detail).toContain("damaged or not a database");
    writeFileSync(file, "");
    const other = sqliteDriver().open(file);
    other.exec("create table notes (id integer)");
    other.close();
    expect((await storeOf()).detail).toContain("database of another program");
  });

  test("[CLI91] a store of a newer version", async () => {
    await home.ok("tree");
    const store = sqliteDriver().open(join(home.data, "heddle.db"));
    store.exec("insert into schema_version (version, applied_at) values (9999, 0)");
    store.close();
    const found = await storeOf();
    expect(found.detail).toContain("newer Heddle (schema 9999");
    expect(found.advice).toBe("update Heddle");
  });

  test("[CLI91] a data directory that is a file, or can't be made", async () => {
    writeFileSync(join(home.cwd, "file"), "");
    const { code, checks } = await examine("--data", "file");
    expect(code).toBe(1);
    expect(checks.data).toMatchObject({ verdict: "broken" });
    expect(Object.keys(checks)).not.toContain("token");
    const below = await examine("--data", "file/below");
    expect(below.code).toBe(1);
    expect(below.checks.token?.verdict).toBe("none");
    expect(below.checks.data).toMatchObject({ verdict: "broken" });
    expect(below.checks.data?.detail).toContain("can't be written");
  });

  test("[CLI91] a token that others can read; a directory that others can read is a warning", async () => {
    const gateway = await home.serve();
    await gateway.stop();
    chmodSync(join(home.data, "token"), 0o644);
    chmodSync(home.data, 0o755);
    const { code, checks } = await examine();
    expect(code).toBe(1);
    expect(checks.token).toMatchObject({
      verdict: "broken",
      advice: `chmod 600 ${join(home.data, "token")}`,
    });
    expect(checks.data).toMatchObject({ verdict: "warning", advice: `chmod 700 ${home.data}` });
  });

  test("[CLI93] a PostgreSQL that can't be reached", async () => {
    const { code, checks } = await examine("--store", "postgres://user:secret@127.0.0.1:1/none");
    expect(code).toBe(1);
    expect(checks.store?.verdict).toBe("broken");
    expect(checks.store?.detail).toContain("postgres://127.0.0.1:1/none can't be reached");
    expect(checks.store?.detail).not.toContain("secret");
  });
});

describe.skipIf(inject("postgres") === "")("doctor [postgres]", () => {
  test("[CLI93] a PostgreSQL that can be reached", async () => {
    const { code, checks } = await examine("--store", inject("postgres"));
    expect(code).toBe(0);
    expect(checks.store).toMatchObject({ verdict: "ok" });
    expect(checks.store?.detail).toMatch(/^PostgreSQL \d+/);
  });
});
