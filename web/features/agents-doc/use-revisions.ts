import { keepPreviousData, queryOptions, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import type { AgentsDocRevision } from "../../../src/protocol/index.js";
import { call } from "../../state/gateway.js";
import { ROOT } from "../../state/tree.js";

const PAGE = 20;

/** Every version that a scope's documents ever had, newest first, a page at a time. */
export function useRevisions(ws: string, folder: string | undefined) {
  const { data, error, hasNextPage, fetchNextPage, isFetchingNextPage, refetch } = useInfiniteQuery({
    queryKey: ["agents_doc", ws, "revisions", folder ?? ROOT],
    queryFn: ({ pageParam }) =>
      call("thread/agents_doc/revisions", {
        workspace_id: ws,
        folder_id: folder,
        limit: PAGE,
        cursor: pageParam,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    placeholderData: keepPreviousData,
  });
  return {
    list: data?.pages.flatMap((page) => page.data),
    error,
    hasMore: hasNextPage && !isFetchingNextPage,
    more: () => void fetchNextPage(),
    again: () => void refetch(),
  };
}

function textOf(ws: string, revision: AgentsDocRevision | undefined) {
  const { doc_id = "", version = 0 } = revision ?? {};
  return queryOptions({
    // A revision never changes.
    queryKey: ["agents_doc_text", doc_id, version],
    queryFn: async () => {
      const params = { workspace_id: ws, doc_id, version };
      return (await call("thread/agents_doc/revision", params)).revision.content;
    },
    enabled: revision !== undefined,
  });
}

/** The text of a version; of none it is empty. Undefined while it is being read. */
export function useRevisionText(ws: string, revision: AgentsDocRevision | undefined): string | undefined {
  const { data } = useQuery(textOf(ws, revision));
  return revision ? data : "";
}
