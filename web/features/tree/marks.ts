import { useMemo } from "react";
import type { Thread } from "../../../src/protocol/index.js";
import { type News, useNews } from "../../state/seen.js";
import { type Tree, useTree } from "../../state/tree.js";
import type { Mark } from "../../ui/state-mark.js";
import { agentKey, folderKey, threadKey } from "./rows.js";

/** The more it matters, the earlier: a closed folder shows the first of what it holds. */
const ORDER: readonly Mark[] = ["waiting", "failed", "new", "running", "queued"];

export type Marks = ReadonlyMap<string, Mark>;

export function useMarks(): Marks {
  const ws = useTree((tree) => tree.ws);
  const news = useNews(ws);
  const threads = useTree((tree) => tree.threads);
  const places = useTree((tree) => tree.places);
  const folders = useTree((tree) => tree.folders);
  return useMemo(() => marksOf({ threads, places, folders }, news), [threads, places, folders, news]);
}

export function markOf(thread: Thread, news: News | undefined): Mark | undefined {
  if (thread.status !== "idle") return thread.status;
  if (news === undefined) return undefined;
  return news === "failed" ? "failed" : "new";
}

type Parts = Pick<Tree, "threads" | "places" | "folders">;

/** By row: of threads, and of the folders and agents they stand below. */
export function marksOf({ threads, places, folders }: Parts, news: Readonly<Record<string, News>>): Marks {
  const marks = new Map<string, Mark>();
  const raise = (key: string, mark: Mark) => {
    const known = marks.get(key);
    if (known === undefined || ORDER.indexOf(mark) < ORDER.indexOf(known)) marks.set(key, mark);
  };
  for (const thread of threads.values()) {
    const mark = markOf(thread, news[thread.id]);
    if (mark === undefined) continue;
    marks.set(threadKey(thread.id), mark);
    raise(agentKey(thread.agent_id), mark);
    let at = places.get(thread.id)?.folder_id;
    for (let depth = 0; at !== undefined && depth < 100; depth++) {
      raise(folderKey(at), mark);
      at = folders.get(at)?.parent_folder_id;
    }
  }
  return marks;
}
