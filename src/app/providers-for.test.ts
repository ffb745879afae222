import { writeFileSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Doer, doer, doing } from "../../test/support/programs.js";
import { temporaryDirectory } from "../../test/support/stores.js";
import { Agents, modelFor, parseConfig } from "../agents/index.js";
import type { FrozenConfig } from "../prompts/index.js";
import type { Provider, ProviderEvent } from "../providers/index.js";
import { type KeptProviders, providersFor } from "./providers-for.js";
import { Withheld } from "./withheld.js";

const WORKSPACE = "w";
let program: Doer;
let agents: Agents;
let providers: KeptProviders;

beforeEach(() => {
  program = doer();
  const others = Array.from({ length: 64 }, (_, i) => ({ agentId: `demo-${i}`, chat: { provider: "demo" } }));
  const text = JSON.stringify({ agents: [program.agent("doer"), ...others] });
  const { config } = parseConfig(text, { file: "/c/heddle.config.json", env: {} });
  agents = new Agents({ config, env: {} });
  providers = providersFor(agents, { PATH: process.env.PATH }, new Withheld(config));
});
afterEach(() => providers.close());

const frozen = (agent_id = "doer"): FrozenConfig =>
  ({ agent_id, ...modelFor(agents.in(WORKSPACE).require(agent_id), {}) }) as FrozenConfig;

const asked = (content: string, key: string) => ({
  model: "default",
  messages: [{ role: "user" as const, content }],
  work: { key, directory: temporaryDirectory(), ownTools: true, ask: async () => "deny" as const },
});

async function turn(provider: Provider, key = "t", content = doing({ say: "done" })): Promise<void> {
  const events: ProviderEvent[] = [];
  for await (const event of provider.generate(asked(content, key))) events.push(event);
  expect(events.at(-1)).toMatchObject({ type: "finish" });
}

const nothingLives = () => expect.poll(() => program.living()).toEqual([]);

test.each<[what: string, letGo: () => unknown]>([
  ["keys and addresses change", () => providers.forget()],
  ["trust is taken back", () => providers.drop(WORKSPACE)],
  ["others need its place", () => makeRoom()],
  ["everything ends", () => providers.close()],
])("[PDT40] what is kept ends when %s", async (_, letGo) => {
  await turn(providers.for(frozen(), WORKSPACE));
  expect(program.living()).toHaveLength(1);
  await letGo();
  await nothingLives();
});

function makeRoom(): void {
  for (let i = 0; i < 64; i++) providers.for(frozen(`demo-${i}`), WORKSPACE);
}

test.each<[what: string, letGo: () => unknown]>([
  ["keys and addresses change", () => providers.forget()],
  ["trust is taken back", () => providers.drop(WORKSPACE)],
  ["others need its place", () => makeRoom()],
  ["everything ends", () => providers.close()],
])("[PDT40] a turn under way goes on when %s, and leaves nothing behind", async (_, letGo) => {
  const go = program.file("go");
  const provider = providers.for(frozen(), WORKSPACE);
  const events = provider
    .generate(asked(doing({ say: "half" }, { wait: go }, { say: "whole" }), "t"))
    [Symbol.asyncIterator]();
  const next = async () => (await events.next()).value as ProviderEvent | undefined;
  let event = await next();
  while (event && event.type !== "text") event = await next();
  await letGo();
  expect(program.living()).toHaveLength(1);
  writeFileSync(go, "");
  const rest: ProviderEvent[] = [];
  for (event = await next(); event; event = await next()) rest.push(event);
  expect(rest).toContainEqual({ type: "text", text: "whole" });
  expect(rest.at(-1)).toMatchObject({ type: "finish" });
  await nothingLives();
});

test("[PDT40] a run under way whose agent is gone works on with what it began with, and leaves nothing behind", async () => {
  const config = frozen();
  await turn(providers.for(config, WORKSPACE));
  const empty = parseConfig('{"agents": [{"agentId": "x", "chat": {"provider": "demo"}}]}', {
    file: "/c/heddle.config.json",
    env: {},
  });
  agents.update({ config: empty.config });
  providers.forget();
  await nothingLives();
  await turn(providers.for(config, WORKSPACE));
  await nothingLives();
  expect(program.starts()).toHaveLength(2);
});

test("[PDT41] what is kept for one thread ends alone", async () => {
  const provider = providers.for(frozen(), WORKSPACE);
  await turn(provider, "one");
  await turn(provider, "two");
  expect(program.living()).toHaveLength(2);
  await providers.release("one");
  await expect.poll(() => program.living()).toEqual([program.starts()[1]]);
  expect(providers.for(frozen(), WORKSPACE)).toBe(provider);
  await providers.release();
  await nothingLives();
});

test("[PDT42] a request is written again without a process", async () => {
  const rebuilt = providers.toRebuild(frozen());
  const request = asked("hello", "t");
  expect(await rebuilt.prepare(request)).toEqual(await providers.for(frozen(), WORKSPACE).prepare(request));
  expect(program.starts()).toEqual([]);
  for (const [provider, options] of [
    ["claude-cli", {}],
    ["codex-cli", { command: "/opt/codex", args: [] }],
    ["pi-cli", { timeouts: { keepMs: 5 } }],
  ] as const) {
    expect(providers.toRebuild({ ...frozen(), provider, options } as FrozenConfig).id).toBe(provider);
  }
});
