import type { Run } from "../../../protocol/index.js";
import { oneLine } from "../../message-text.js";
import { formatTime, paint, visible } from "../../output.js";
import { statusText } from "./run-text.js";

/** Runs as a tree: below each those that it delegated, and what came back of them. */
export function treeLines(runs: readonly Run[]): string[] {
  const known = new Set(runs.map(({ id }) => id));
  const below = grouped(runs);
  const lines: string[] = [];
  const walk = (run: Run, first: string, rest: string) => {
    lines.push(first + lineOf(run));
    const children = (below.get(run.id) ?? []).toSorted(byAge);
    for (const [at, child] of children.entries()) {
      const last = at === children.length - 1;
      walk(child, `${rest}${last ? "└─ " : "├─ "}`, `${rest}${last ? "   " : "│  "}`);
    }
  };
  const roots = runs.filter(({ parent_run_id }) => parent_run_id === undefined || !known.has(parent_run_id));
  for (const root of roots) walk(root, "", "");
  return lines;
}

function grouped(runs: readonly Run[]): Map<string | undefined, Run[]> {
  const groups = new Map<string | undefined, Run[]>();
  for (const run of runs) groups.set(run.parent_run_id, [...(groups.get(run.parent_run_id) ?? []), run]);
  return groups;
}

function byAge(a: Run, b: Run): number {
  return a.created_at - b.created_at || (a.id < b.id ? -1 : 1);
}

function lineOf(run: Run): string {
  const { agent_id, status, created_at, thread_id, id, origin, approvals = [] } = run;
  const how =
    origin === undefined ? "" : origin.kind === "returned" ? " (a result came back)" : ` (${origin.mode})`;
  const own = approvals.filter(({ run_id }) => run_id === id);
  const asks =
    own.length === 0 ? "" : `  ${paint.yellow(oneLine(`asks: ${own.map(({ name }) => name).join(", ")}`))}`;
  return `${paint.bold(visible(agent_id))}${how}  ${statusText(status)}  ${formatTime(created_at)}  ${paint.dim(`${id}  ${thread_id}`)}${asks}`;
}
