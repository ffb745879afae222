import { useQuery } from "@tanstack/react-query";
import type { AgentsDocSummary } from "../../../src/protocol/index.js";
import { call } from "../../state/gateway.js";
import { docInEffect, type Tree, useTree } from "../../state/tree.js";

export interface Inherited {
  readonly doc: AgentsDocSummary;
  /** Undefined while it is being read. */
  readonly content: string | undefined;
}

function aboveOf(tree: Tree, folder: string | undefined): AgentsDocSummary | undefined {
  if (folder === undefined) return undefined;
  return docInEffect(tree, tree.folders.get(folder)?.parent_folder_id);
}

/** What would be in effect in a scope without its own document; undefined: nothing. */
export function useInherited(ws: string, folder: string | undefined): Inherited | undefined {
  const doc = useTree((tree) => aboveOf(tree, folder));
  const { data } = useQuery({
    queryKey: ["agents_doc", ws, "content", doc?.id, doc?.version],
    queryFn: async () => {
      const params = { workspace_id: ws, folder_id: doc?.folder_id };
      return (await call("thread/agents_doc/get", params)).explicit?.content ?? "";
    },
    enabled: doc !== undefined,
    placeholderData: (before) => before,
  });
  return doc && { doc, content: data };
}
