import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Thread } from "../../../src/protocol/index.js";
import { call } from "../../state/gateway.js";
import type { Tree } from "../../state/tree.js";
import { usePaused } from "./use-message-search.js";

/** The gateway answers what is shorter by looking at every title. */
const SHORTEST = 3;
const MOST = 8;
const NONE: readonly Thread[] = [];

/** Where the tree is cut, the gateway is asked for titles that are not in it. */
export function useTitlesBeyond({ ws, cut, threads }: Tree, text: string): readonly Thread[] {
  const query = usePaused(text.trim());
  const enabled = cut && ws !== undefined && query.length >= SHORTEST;
  const { data } = useQuery({
    queryKey: ["titles", ws, query],
    queryFn: () => call("thread/list", { workspace_id: ws as string, query, limit: 2 * MOST }),
    enabled,
    staleTime: 0,
    gcTime: 0,
    retry: false,
  });
  return useMemo(() => {
    if (!enabled || !data) return NONE;
    return data.data.filter(({ id }) => !threads.has(id)).slice(0, MOST);
  }, [enabled, data, threads]);
}
