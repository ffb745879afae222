import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { Result } from "../../../src/protocol/index.js";
import { call, client } from "../../state/gateway.js";

const PAUSE_MS = 120;
const SHORTEST = 2;
const MOST = 6;

interface MessageSearch {
  readonly hits: Result<"thread/search">["data"];
  /** An answer is on its way; what is shown is of an earlier question. */
  readonly busy: boolean;
  /** Messages can't be looked through, or not through all of them yet. */
  readonly notReady: boolean;
}

const NONE: MessageSearch["hits"] = [];

/** Looks in messages once the person pauses. What was found before stays until there is something newer. */
export function useMessageSearch(ws: string | undefined, query: string): MessageSearch {
  const asked = usePaused(query.trim());
  const enabled = ws !== undefined && asked.length >= SHORTEST;
  const { data, isFetching, isError, refetch } = useQuery({
    queryKey: ["search", ws, asked],
    queryFn: () => call("thread/search", { workspace_id: ws as string, query: asked, limit: MOST }),
    enabled,
    staleTime: 0,
    gcTime: 0,
    retry: false,
    placeholderData: (before) => before,
  });
  const incomplete = enabled && data?.incomplete === true;
  useEffect(() => {
    if (!incomplete) return;
    return client.on("workspace/indexing", ({ workspace_id, done, total }) => {
      if (workspace_id === ws && done >= total) void refetch();
    });
  }, [incomplete, ws, refetch]);
  return {
    hits: enabled ? (data?.data ?? NONE) : NONE,
    busy: enabled && (isFetching || asked !== query.trim()),
    notReady: enabled && (isError || incomplete),
  };
}

/** A text, once it has not changed for a moment. */
export function usePaused(text: string): string {
  const [paused, setPaused] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return paused;
}
