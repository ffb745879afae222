import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useAgents } from "../../state/agents.js";
import { useCommandList } from "../../state/commands.js";
import { call } from "../../state/gateway.js";
import { useRecents } from "../../state/recents.js";
import { useRuns } from "../../state/runs.js";
import { type Tree, useTree } from "../../state/tree.js";
import { threadHere } from "../agents/actions.js";
import { agentGroup } from "./agent-rows.js";
import { commandGroup, wordRows } from "./command-rows.js";
import { wordsOf } from "./match.js";
import { messageGroup } from "./message-rows.js";
import { type Group, MOST } from "./row.js";
import { runGroup } from "./run-rows.js";
import { recentGroup, threadGroup } from "./thread-rows.js";
import { docGroup, folderGroup } from "./tree-rows.js";
import { useDocLines } from "./use-doc-lines.js";
import { useMessageSearch } from "./use-message-search.js";
import { useTitlesBeyond } from "./use-titles-beyond.js";

export type Mode = "all" | "commands" | "agents" | "runs" | "folders";

const PREFIXES: Readonly<Record<string, Mode>> = {
  ">": "commands",
  "@": "agents",
  "#": "runs",
  "/": "folders",
};

/** What is looked for where: the first character may say it. */
export function modeOf(query: string): { readonly mode: Mode; readonly text: string } {
  const mode = PREFIXES[query.charAt(0)];
  return mode ? { mode, text: query.slice(1) } : { mode: "all", text: query };
}

export interface GroupsGiven {
  readonly query: string;
  /** Every thread that matches is wanted, not only the first few. */
  readonly all: boolean;
  showAll(): void;
  /** What an agent that is chosen will be asked about. */
  readonly about: string | undefined;
  ask(): void;
}

export interface Found {
  readonly groups: readonly Group[];
  readonly busy: boolean;
  readonly notReady: boolean;
  /** Nothing has what was looked for. */
  readonly nothing: boolean;
}

/** Everything that matches what was typed, in the order it is shown. */
export function useGroups(given: GroupsGiven): Found {
  const { query, all, showAll, about, ask } = given;
  const { mode, text } = modeOf(query);
  const tree = useTree();
  const words = useMemo(() => wordsOf(text), [text]);
  const single = useOneKind(tree, mode, words, about);
  const search = useMessageSearch(tree.ws, mode === "all" ? text : "");
  const lines = useDocLines(tree, words, mode === "all");
  const near = useNear(tree, words, mode === "all" && words.length > 0);
  const beyond = useTitlesBeyond(tree, mode === "all" ? text : "");
  const threads = useMemo(
    () =>
      mode === "all" && words.length > 0 ? threadGroup(tree, { words, all, showAll, beyond }) : undefined,
    [tree, mode, words, all, showAll, beyond],
  );
  const recent = useBeginning(tree, mode === "all" && words.length === 0);
  return useMemo(() => {
    if (single) return { groups: [single], busy: false, notReady: false, nothing: single.rows.length === 0 };
    if (!threads) return { groups: recent, busy: false, notReady: false, nothing: false };
    const said = messageGroup(tree, search.hits, words);
    const messages = { ...said, rows: [...said.rows, ...lines] };
    const found = [threads, ...near.before, messages, ...near.after].filter(({ rows }) => rows.length > 0);
    const own = wordRows(tree, text.trim(), ask);
    return {
      groups: withOwn(found, own),
      busy: search.busy,
      notReady: search.notReady,
      nothing: found.length === 0 && !search.busy,
    };
  }, [
    single,
    threads,
    recent,
    tree,
    search.hits,
    search.busy,
    search.notReady,
    lines,
    near,
    words,
    text,
    ask,
  ]);
}

/** What can be done with the words stands among the commands, after those that match. */
function withOwn(groups: readonly Group[], own: Group["rows"]): readonly Group[] {
  const commands = groups.find(({ id }) => id === "commands");
  const others = groups.filter((group) => group !== commands);
  return [...others, { id: "commands", title: "Commands", rows: [...(commands?.rows ?? []), ...own] }];
}

function useNear(tree: Tree, words: readonly string[], on: boolean) {
  const { list: agents } = useAgents();
  const commands = useCommandList(({ list }) => list);
  return useMemo(() => {
    if (!on) return { before: [], after: [] };
    return {
      before: [folderGroup(tree, words, 3), docGroup(tree, words, 4)],
      after: [agentGroup(agents, { words, most: 3 }), commandGroup(commands, words, 6)],
    };
  }, [tree, words, on, agents, commands]);
}

/** What is shown before anything is typed. */
function useBeginning(tree: Tree, on: boolean): readonly Group[] {
  const opened = useRecents(({ threads }) => threads[tree.ws ?? ""]);
  const commands = useCommandList(({ list }) => list);
  return useMemo(() => {
    if (!on) return [];
    const groups = [recentGroup(tree, opened ?? [], threadHere()), commandGroup(commands, [], MOST)];
    return groups.filter(({ rows }) => rows.length > 0);
  }, [tree, on, opened, commands]);
}

function useOneKind(tree: Tree, mode: Mode, words: readonly string[], about: string | undefined) {
  const { list: agents } = useAgents();
  const commands = useCommandList(({ list }) => list);
  const runs = useAllRuns(tree.ws, mode === "runs");
  return useMemo((): Group | undefined => {
    if (mode === "commands") return commandGroup(commands, words, MOST);
    if (mode === "agents") return agentGroup(agents, { words, most: MOST, about });
    if (mode === "runs") return runGroup(tree, runs, words, threadHere());
    return mode === "folders" ? folderGroup(tree, words, MOST) : undefined;
  }, [tree, mode, words, about, agents, commands, runs]);
}

/** The newest runs of the workspace, with what this window has been told of since. */
function useAllRuns(ws: string | undefined, on: boolean) {
  const told = useRuns(({ byId }) => byId);
  const { data } = useQuery({
    queryKey: ["runs-newest", ws],
    queryFn: () => call("run/list", { workspace_id: ws as string, order: "created", limit: 200 }),
    enabled: on && ws !== undefined,
    staleTime: 0,
    gcTime: 0,
  });
  return useMemo(() => {
    const all = new Map(data?.data.map((run) => [run.id, run]));
    for (const run of told.values()) if (run.workspace_id === ws) all.set(run.id, run);
    return [...all.values()];
  }, [data, told, ws]);
}
