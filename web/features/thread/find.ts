import { useEffect, useState } from "react";
import { call } from "../../state/gateway.js";

export interface Found {
  /** Ids of messages, newest first. */
  readonly hits: readonly string[];
  readonly state: "searching" | "done" | "failed";
  /** There are more than these. */
  readonly more: boolean;
}

const NOTHING: Found = { hits: [], state: "done", more: false };
const MOST = 200;
const PAUSE_MS = 150;

/** The messages of a thread that have these words. The last answer stays until the next is there. */
export function useFound(workspace_id: string, thread_id: string, query: string): Found {
  const [found, setFound] = useState(NOTHING);
  useEffect(() => {
    const words = query.trim();
    if (words === "") return setFound(NOTHING);
    let over = false;
    setFound((before) => ({ ...before, state: "searching" }));
    const ask = () =>
      call("thread/search", { workspace_id, thread_id, query: words, limit: MOST }).then(
        ({ data, next_cursor }) => {
          const hits = data.map(({ message_id }) => message_id);
          if (!over) setFound({ hits, state: "done", more: next_cursor !== undefined });
        },
        () => !over && setFound({ ...NOTHING, state: "failed" }),
      );
    const timer = setTimeout(() => void ask(), PAUSE_MS);
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [workspace_id, thread_id, query]);
  return found;
}
