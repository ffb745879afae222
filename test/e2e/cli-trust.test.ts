import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { buildCommand, CliHome } from "../support/cli.js";

let home: CliHome;
beforeAll(buildCommand);
beforeEach(async () => {
  home = new CliHome();
  await home.ok("workspaces", "create", home.cwd);
});
afterEach(() => home.remove());

const variable = (name: string) => `$${"{"}${name}}`;

const CONFIG = {
  agents: [
    {
      agentId: "team",
      chat: {
        provider: "openai-compatible",
        model: "large",
        config: { baseURL: "https://models.example/v1" },
      },
    },
    {
      agentId: "program",
      chat: { provider: "acp", config: { command: "./agent", args: ["--say", "a b\u202e"] } },
    },
  ],
};
const MCP = {
  mcpServers: {
    docs: { command: "npx", args: ["-y", "docs-server"], env: { HOST: variable("HOME") } },
    web: { url: "https://mcp.example/mcp", enabled: false },
  },
};

const states = async (...args: string[]) =>
  Object.fromEntries(
    (await home.json("trust", ...args)).trust.map(({ kind, trusted }: { kind: string; trusted: boolean }) => [
      kind,
      trusted,
    ]),
  );

test("[CLI197] shows what would be started and asked, what it takes from the environment, and every word of it", async () => {
  home.write({ "heddle.config.json": JSON.stringify(CONFIG), ".mcp.json": JSON.stringify(MCP) });
  const { stdout, stderr } = await home.run(["trust"]);
  const [config, mcp] = stdout.replaceAll(/[0-9a-f]{64}/g, "…").split("\n\n") as [string, string];
  expect(config.split("\n").slice(0, 6)).toEqual([
    `heddle.config.json of work  ${home.cwd}`,
    "agents",
    "  team  openai-compatible  large  https://models.example/v1",
    "  program  acp",
    '    $ ./agent --say "a b\\u{202e}"',
    "all of it",
  ]);
  expect(config).toMatch(/\n {2}\{\n {4}"agents": \[\n/);
  expect(config).toMatch(/\nsha256 {2}…\nIt is not trusted: nothing of it is used\.$/);
  expect(mcp.split("\n").slice(0, 8)).toEqual([
    `.mcp.json of work  ${home.cwd}`,
    "MCP servers",
    "  docs",
    "    $ npx -y docs-server",
    "  web  switched off",
    "    https://mcp.example/mcp",
    "taken from your environment",
    "  HOME",
  ]);
  expect(mcp).toContain("It is not trusted: none of its servers is used.");
  expect(stderr).toBe("`heddle trust --yes` trusts exactly this.\n");
});

test("[CLI197] trusts all of it or one kind, and takes it back", async () => {
  home.write({ "heddle.config.json": JSON.stringify(CONFIG), ".mcp.json": '{"mcpServers": {}}' });
  expect(await states("--kind", "config", "--yes")).toEqual({ config: true, mcp: false });
  expect(await home.ok("agents")).toMatch(/^team /m);
  expect(await states("--yes")).toEqual({ config: true, mcp: true });
  expect(await home.json("trust", "--revoke", "--kind", "config")).toMatchObject({ revoked: ["config"] });
  expect(await states()).toEqual({ config: false, mcp: true });
  expect(await home.ok("agents")).not.toMatch(/^team /m);
  expect(await home.ok("trust", "--revoke")).toBe("Nothing of work is trusted any more.\n");
  expect(await states()).toEqual({ config: false, mcp: false });
  expect((await home.run(["trust", "--kind", "banana"])).code).toBe(2);
});

test("[CLI197] what was trusted and has changed is told, and is not used", async () => {
  const gateway = await home.serve();
  home.write({ "heddle.config.json": JSON.stringify(CONFIG) });
  await home.ok("trust", "--yes");
  expect(await home.ok("agents")).toMatch(/^team /m);
  writeFileSync(join(home.cwd, "heddle.config.json"), JSON.stringify({ agents: [{ agentId: "other" }] }));
  expect(await home.ok("agents")).not.toMatch(/^(team|other) /m);
  const { stdout, stderr } = await home.run(["trust"]);
  expect(stderr).toContain("heddle.config.json has changed since you trusted it, so it is not used.");
  expect(stdout).toContain("It is not trusted");
  const doctor = await home.run(["doctor"]);
  expect(doctor.stdout).toContain("heddle.config.json has changed since you trusted it");
  await gateway.stop();
});

test("[CLI197] what can't be used is told, and nothing of it is shown or trusted", async () => {
  home.write({
    ".mcp.json": JSON.stringify({ mcpServers: { a: { command: "a", env: { API_KEY: "abcd1234efgh" } } } }),
  });
  const { stdout, stderr } = await home.run(["trust", "--yes"]);
  expect(stdout).toBe("");
  expect(stderr).toContain("looks like a key or token");
  expect(stdout + stderr).not.toContain("abcd1234");
  expect(existsSync(join(home.cwd, ".mcp.json"))).toBe(true);
});

test("[CLI51] agents of a trusted project can be sent to, forked to and given threads; one that nobody knows can't", async () => {
  const agents = [{ agentId: "ours", displayName: "Ours", chat: { provider: "demo" } }];
  home.write({ "heddle.config.json": JSON.stringify({ agents }) });
  const unknown = await home.run(["threads", "start", "--agent", "ours"]);
  expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('There is no agent "ours"') });
  expect((await home.json("threads")).data).toEqual([]);
  await home.ok("trust", "--yes");
  await home.ok("send", "--agent", "ours", "hello");
  const [{ id, agent_id }] = (await home.json("threads")).data;
  expect(agent_id).toBe("ours");
  await home.ok("send", "--continue", "--agent", "ours", "again");
  await home.ok("threads", "start", "--agent", "ours");
  await home.ok("fork", id, "--agent", "ours");
  expect((await home.json("threads", "--agent", "ours")).data).toHaveLength(3);
  expect((await home.run(["fork", id, "--agent", "theirs"])).code).toBe(1);
});
