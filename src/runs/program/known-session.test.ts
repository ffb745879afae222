import { expect, test } from "vitest";
import type { FrozenConfig } from "../../prompts/index.js";
import type { PromptMessage } from "../../providers/index.js";
import { type KeptSession, knownSession } from "./known-session.js";

const said = (role: PromptMessage["role"]) => ({ message: { role, content: "x" } });
const kept = { id: "s", agent_id: "a", provider: "acp", directory: "/d", instructions: "", epoch: 1 };
const config = { agent_id: "a", provider: "acp" } as FrozenConfig;
const before = [said("system"), said("user"), said("assistant")];
const told = (session: KeptSession, from: number, sent: ReturnType<typeof said>[]) => {
  const given = { config, directory: "/d", before, history: { epoch: 1, from, sent } };
  return knownSession({ program_session: JSON.stringify(session) }, given)?.told;
};

test("[PRG1] [PRG9] what a session knows of what is sent is counted by its place in the list, without instructions", () => {
  const sent = [said("user"), said("system"), said("assistant"), said("user")];
  expect(told({ ...kept, length: 3 }, 0, sent)).toBe(4);
  // All that it knows of the list has left the window.
  expect(told({ ...kept, length: 3 }, 5, sent)).toBe(2);
  expect(told({ ...kept, length: 6 }, 5, sent)).toBe(3);
});

test("[PRG1] a session that was kept without its place in the list is not gone on with", () => {
  expect(told(kept, 0, [said("user")])).toBe(undefined);
});
