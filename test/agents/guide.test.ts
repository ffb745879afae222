import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { AgentSet } from "../../src/agents/index.js";
import { load } from "./support.js";

const guide = readFileSync("docs/guide/configuration.md", "utf8");
const examples = [...guide.matchAll(/^```jsonc\n(.*?)^```/gms)].map(([, text]) => text as string);
const env = { WORK_KEY: "k", ANTHROPIC_API_KEY: "k" };

test("[AGT52] the guide's examples load without a warning, and their agents can be asked", () => {
  const [first, secrets, hooks] = examples.map((text) => load(text, env));
  expect(examples).toHaveLength(3);
  for (const example of [first, secrets, hooks]) expect(example?.warnings).toEqual([]);
  const agents = [first, secrets].flatMap((example) => new AgentSet({ config: example?.config, env }).list());
  expect(agents.map(({ agent_id, available, model }) => [agent_id, available, model])).toEqual([
    ["general", true, "claude-sonnet-5-5"],
    ["local", true, "qwen3"],
    ["work", true, "large"],
    ["work-small", true, "small"],
  ]);
  expect(hooks?.config.hooks).toMatchObject([
    { module: "/etc/heddle/hooks/today.mjs" },
    { id: "weather", command: ["/etc/heddle/hooks/weather.sh", "--short"] },
  ]);
});

test("[AGT52] the programs' examples load without a warning, and say who may use which tools", () => {
  const page = readFileSync("docs/guide/programs.md", "utf8");
  const [text = "", ...more] = [...page.matchAll(/^```jsonc\n(.*?)^```/gms)].map(
    ([, found]) => found as string,
  );
  expect(more).toEqual([]);
  const { config, warnings } = load(text, { MY_KEY: "not-to-be-shown" });
  expect(warnings).toEqual([]);
  const list = new AgentSet({ config, env: {} }).list();
  expect(list.map(({ agent_id, available, model }) => [agent_id, available, model])).toEqual([
    ["claude", true, "default"],
    ["codex", true, "gpt-6.1-sol"],
    ["pi", true, "openrouter/qwen3-coder"],
    ["gemini", true, "default"],
    ["opencode", true, "default"],
    ["reviewer", true, "default"],
    ["other", true, "default"],
  ]);
  expect(list.at(-1)).toMatchObject({ own_tools: true });
});

test("[AGT52] what the guide says of the environment is so", () => {
  const rows = [...guide.matchAll(/^\| `([A-Z_]+)`.* \| `(\w+)` \| `(HEDDLE_\w+)` \|$/gm)];
  expect(rows).toHaveLength(3);
  for (const [, key, agent, model] of rows) {
    const [found] = new AgentSet({ env: { [key as string]: "k", [model as string]: "mine" } }).list();
    expect(found).toMatchObject({ agent_id: agent, model: "mine", available: true });
  }
});
