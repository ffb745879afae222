import type { Agent } from "../../../protocol/index.js";
import { paint, visible } from "../../output.js";

/** Whether an agent can be used, or why not. */
export function stateText({ available, reason, hidden }: Agent): string {
  const state = available ? paint.green("available") : paint.red(visible(reason ?? "not available"));
  return hidden ? `${state}  ${paint.dim("hidden")}` : state;
}
