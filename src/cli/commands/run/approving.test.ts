import { expect, test } from "vitest";
import type { Run, RunApproval } from "../../../protocol/index.js";
import type { Session } from "../../session.js";
import { Approving } from "./approving.js";

const approval = { run_id: "run_1", thread_id: "thr_1", tool_call_id: "c", name: "edit", agent_id: "a" };

/** What is said when nobody can be asked. */
async function said(place: Session["place"], provider: string): Promise<string> {
  const call = async (method: string) =>
    method === "agent/get" ? { agent: { provider } } : { call: { ...approval, arguments: "{}" } };
  const session = { place, call: call as unknown as Session["call"] };
  const person = { present: false, ask: async () => undefined };
  const approving = new Approving({ session, standing: undefined, person, aside: () => {} });
  const waiting = { ...approval, arguments: "{}", asked_at: 0 } as RunApproval;
  approving.changed({ workspace_id: "w", approvals: [waiting] } as Run);
  return approving.stuck.catch((error: Error) => error.message);
}

test.each([
  ["here", "acp", true],
  ["private", "openai", true],
  ["private", "claude-cli", false],
  ["private", "acp", false],
] as const)(
  "[CLI247] with a gateway that is %s, a run of %s waits on: %s",
  async (place, provider, waits) => {
    const words = await said(place, provider);
    expect([words.includes("goes on waiting"), words.includes("heddle serve")]).toEqual([waits, !waits]);
  },
);
