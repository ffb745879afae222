import type { Agent } from "../../../protocol/index.js";
import { paint, visible } from "../../output.js";

/** Whether an agent can be used, or why not; of one that can, what it may lack. */
export function stateText({ available, reason, hidden }: Agent): string {
  const hint = reason === undefined ? "" : `  ${paint.yellow(visible(reason))}`;
  const state = available
    ? `${paint.green("available")}${hint}`
    : paint.red(visible(reason ?? "not available"));
  return hidden ? `${state}  ${paint.dim("hidden")}` : state;
}
