import type { Thread } from "../../../src/protocol/index.js";
import { navigate, type Route } from "../../state/router.js";
import { pathText, type Tree } from "../../state/tree.js";
import { when } from "../../ui/format.js";
import type { Mark } from "../../ui/state-mark.js";
import { openInNewTab } from "../agents/actions.js";
import { rank } from "./match.js";
import { type Group, MOST, narrowed, type Row } from "./row.js";

/** A thread, and its title as it is compared. */
interface Entry {
  readonly thread: Thread;
  readonly lower: string;
}

const indexes = new WeakMap<Tree["threads"], readonly Entry[]>();

/** The newest first. Made once for each state of the tree: a key must not cost what ten thousand titles cost. */
function entriesOf({ threads }: Tree): readonly Entry[] {
  const known = indexes.get(threads);
  if (known) return known;
  const made = [...threads.values()]
    .map((thread) => ({ thread, lower: titleOf(thread).toLowerCase() }))
    .sort((a, b) => b.thread.updated_at - a.thread.updated_at);
  indexes.set(threads, made);
  return made;
}

export function titleOf({ title }: Thread): string {
  return title === "" ? "Untitled" : title;
}

const MARKS: Readonly<Record<string, Mark>> = { running: "running", waiting: "waiting", queued: "queued" };

export function threadRow(tree: Tree, thread: Thread, words: readonly string[]): Row {
  const route: Route = { view: "thread", ws: thread.workspace_id, thread: thread.id };
  const mark = MARKS[thread.status];
  return {
    id: `thread-${thread.id}`,
    title: titleOf(thread),
    words,
    path: pathText(tree, tree.places.get(thread.id)?.folder_id ?? thread.folder_id),
    agentId: thread.agent_id,
    mark,
    end: mark === undefined ? when(thread.updated_at) : undefined,
    run: () => navigate(route),
    also: () => openInNewTab(route),
  };
}

/** The first few, until somebody wants them all. */
const FEW = 8;

export interface ThreadsGiven {
  readonly words: readonly string[];
  readonly all: boolean;
  showAll(): void;
  /** Threads with these words in their titles that the tree leaves out. */
  readonly beyond: readonly Thread[];
}

export function threadGroup(tree: Tree, { words, all, showAll, beyond }: ThreadsGiven): Group {
  const { best, total } = rank(entriesOf(tree), {
    words,
    most: all ? MOST : FEW,
    lower: ({ lower }) => lower,
  });
  const known = best.map(({ thread }) => threadRow(tree, thread, words));
  const rows = [...known, ...beyond.map((thread) => threadRow(tree, thread, words))];
  const more: Row = {
    id: "all-threads",
    title: `All ${total.toLocaleString("en-US")} threads that match`,
    words: [],
    stays: true,
    run: showAll,
  };
  const isMore = !all && total > FEW;
  return {
    id: "threads",
    title: "Threads",
    rows: isMore ? [...rows, more] : rows,
    note: all ? narrowed(known.length, total) : undefined,
  };
}

const RECENT = 8;

/** What was open last, then what was at work last; what waits for somebody before all. */
export function recentGroup(tree: Tree, opened: readonly string[], here: string | undefined): Group {
  const isThere = (id: string) => id !== here && tree.threads.has(id);
  const newest = entriesOf(tree).map(({ thread }) => thread);
  const waiting = newest.filter(({ status }) => status === "waiting").map(({ id }) => id);
  const ids = new Set([...waiting, ...opened].filter(isThere));
  for (const { id } of newest.slice(0, RECENT + 1)) if (isThere(id)) ids.add(id);
  const rows = [...ids].slice(0, RECENT).map((id) => threadRow(tree, tree.threads.get(id) as Thread, []));
  return { id: "recent", title: "Recent", rows };
}
