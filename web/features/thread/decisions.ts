import type { RunApproval } from "../../../src/protocol/index.js";
import { command } from "../../state/gateway.js";
import { keep } from "../../state/runs.js";
import { toastProblem } from "../../state/toasts.js";

export type Decision = "allow" | "always" | "deny";

export function approvalKey({ run_id, tool_call_id }: Pick<RunApproval, "run_id" | "tool_call_id">): string {
  return `${run_id} ${tool_call_id}`;
}

export const DECIDED = { allow: "Allowed once", always: "Always allowed in this thread", deny: "Denied" };

/** Answers a call that waits. What is refused (somebody else was faster, say) is said, and the card stays as it is. */
export async function decide(approval: RunApproval, decision: Decision): Promise<boolean> {
  const { run_id, tool_call_id } = approval;
  try {
    const { run } = await command("run/approve", { run_id, tool_call_id, decision });
    keep([run], { told: false });
    return true;
  } catch (error) {
    toastProblem(error);
    return false;
  }
}
