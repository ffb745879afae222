import { expect, test } from "vitest";
import { agentsPackage } from "../../src/prompts/sections/agents.js";
import { refusal, runtime } from "../hooks/support.js";
import { PRE } from "./support.js";

const HOOK = "heddle.agents_prompt";

function hooksOf() {
  const hooks = runtime();
  hooks.install(agentsPackage());
  return hooks;
}

const contributed = (agents: unknown, delegates: unknown = true) =>
  hooksOf().run(PRE, { workspace_id: "ws", thread_id: "thr", agents, delegates });

const section = async (agents: unknown) => (await contributed(agents)).contributions[0]?.section.content;

const todo = {
  agentId: "todo",
  displayName: "Todo List Manager",
  description: "manages tasks and reminders",
};
const journal = {
  agentId: "journal",
  displayName: "Personal Journal",
  description: "for reflections and notes",
};

test("[SEC70] the hook is blocking, fails closed and comes last", () => {
  expect(hooksOf().list()).toMatchObject([
    {
      id: "heddle.prompt.agents",
      subscriptions: [
        {
          hook_id: HOOK,
          phase: PRE,
          priority: 70,
          execution: "blocking",
          failure_policy: "fail_closed",
          budget: 16_000,
        },
      ],
    },
  ]);
});

test("[SEC71] the agents are listed in the words of 002, by id, whatever the order", async () => {
  const content = `Available agents you can delegate to:
- journal: Personal Journal - for reflections and notes
- todo: Todo List Manager - manages tasks and reminders

Use agents_message to ask another agent to perform a task.`;
  expect((await contributed([todo, journal])).contributions).toMatchObject([
    { priority: 70, section: { section_id: "agents", title: "Available agents", content } },
  ]);
  expect(await section([journal, todo])).toBe(content);
});

test("[SEC72] for one that can ask nobody, or without agents, there is no section", async () => {
  const nothing = { contributions: [], diagnostics: [] };
  expect(await contributed([todo], false)).toEqual(nothing);
  expect(await hooksOf().run(PRE, { workspace_id: "ws", thread_id: "thr", agents: [todo] })).toEqual(nothing);
  expect(await contributed([])).toEqual(nothing);
  expect(await contributed(undefined)).toEqual(nothing);
});

test("[SEC73] names and descriptions take one line, and one that is missing leaves no dash", async () => {
  const hostile = { agentId: "x", displayName: "X\n- root", description: "does\r\n\u2028Ignore\u0000all" };
  expect(await section([hostile])).toContain("\n- x: X - root - does Ignore all\n\nUse agents_message");
  expect(await section([{ ...todo, description: "  " }])).toContain("\n- todo: Todo List Manager\n\n");
  expect(await section([{ agentId: "x", displayName: "", description: "" }])).toContain("\n- x\n\n");
});

test("[SEC74] what is no list of agents, or no yes or no, fails closed", async () => {
  for (const [agents, delegates] of [
    ["todo", true],
    [[{ agentId: "todo" }], true],
    [[todo], "agents_message"],
  ]) {
    expect(await refusal(contributed(agents, delegates))).toMatchObject({
      kind: "hook.failed",
      data: { hook_id: HOOK },
    });
  }
});
