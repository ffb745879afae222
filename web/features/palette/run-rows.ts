import { Activity } from "lucide-react";
import type { Run } from "../../../src/protocol/index.js";
import { navigate, type Route } from "../../state/router.js";
import type { Tree } from "../../state/tree.js";
import { when } from "../../ui/format.js";
import type { Mark } from "../../ui/state-mark.js";
import { openInNewTab } from "../agents/actions.js";
import { rank } from "./match.js";
import { type Group, MOST, narrowed, type Row } from "./row.js";
import { titleOf } from "./thread-rows.js";

const MARKS: Partial<Record<Run["status"], Mark>> = {
  running: "running",
  waiting: "waiting",
  queued: "queued",
  failed: "failed",
};

/** By number, status and the title of the thread; those of the thread that is open first. */
export function runGroup(tree: Tree, runs: readonly Run[], words: readonly string[], here?: string): Group {
  const mine = (run: Run) => Number(run.thread_id === here);
  const entries = runs
    .toSorted((a, b) => mine(b) - mine(a) || b.created_at - a.created_at)
    .map((run) => ({ run, title: threadTitle(tree, run) }));
  const { best, total } = rank(entries, {
    words,
    most: MOST,
    lower: ({ run, title }) => `${run.number} ${title} ${run.status}`.toLowerCase(),
  });
  const rows = best.map(({ run, title }) => runRow(run, title, words));
  return { id: "runs", title: "Runs", rows, note: narrowed(rows.length, total) };
}

function threadTitle(tree: Tree, { thread_id }: Run): string {
  const thread = tree.threads.get(thread_id);
  return thread ? titleOf(thread) : "";
}

function runRow(run: Run, title: string, words: readonly string[]): Row {
  const route: Route = {
    view: "thread",
    ws: run.workspace_id,
    thread: run.thread_id,
    pane: "context",
    run: run.id,
  };
  const mark = MARKS[run.status];
  return {
    id: `run-${run.id}`,
    title: `Run ${run.number}`,
    words,
    path: title,
    icon: Activity,
    mark,
    end: mark === undefined ? `${run.status}, ${when(run.created_at)}` : when(run.created_at),
    run: () => navigate(route),
    also: () => openInNewTab(route),
  };
}
