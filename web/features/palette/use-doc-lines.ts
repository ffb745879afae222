import { useQuery } from "@tanstack/react-query";
import { ScrollText } from "lucide-react";
import { useMemo } from "react";
import { call } from "../../state/gateway.js";
import { navigate, type Route } from "../../state/router.js";
import { docName, type Tree } from "../../state/tree.js";
import { openInNewTab } from "../agents/actions.js";
import { score } from "./match.js";
import type { Row } from "./row.js";

/** A workspace has few documents; where it has very many, their text is not worth so many calls. */
const MOST_READ = 60;
const MOST_SHOWN = 4;
const SHORTEST = 2;

interface DocText {
  readonly folder_id: string | undefined;
  readonly lines: readonly string[];
}

const NONE: readonly Row[] = [];

/** Lines of AGENTS.md documents that have every word. The texts are read once, and again when one changes. */
export function useDocLines(tree: Tree, words: readonly string[], on: boolean): readonly Row[] {
  const { ws } = tree;
  const enabled = on && ws !== undefined && words.join("").length >= SHORTEST && tree.docs.size <= MOST_READ;
  const { data } = useQuery({
    queryKey: ["agents_doc", ws, "texts"],
    queryFn: () => readAll(ws as string, [...tree.docs.values()]),
    enabled,
    staleTime: 1_000,
  });
  return useMemo(() => (enabled && data ? found(tree, data, words) : NONE), [tree, data, words, enabled]);
}

function readAll(
  workspace_id: string,
  docs: readonly { folder_id?: string | undefined }[],
): Promise<DocText[]> {
  return Promise.all(
    docs.map(async ({ folder_id }) => {
      const { explicit } = await call("thread/agents_doc/get", { workspace_id, folder_id });
      return { folder_id, lines: explicit?.content.split("\n") ?? [] };
    }),
  );
}

function found(tree: Tree, texts: readonly DocText[], words: readonly string[]): Row[] {
  const rows = texts.flatMap(({ folder_id, lines }) => {
    const line = lines.find((each) => score(each.toLowerCase(), words) > 0);
    if (line === undefined) return [];
    const route: Route = { view: "doc", ws: tree.ws as string, folder: folder_id };
    return [
      {
        id: `doc-line-${folder_id ?? ""}`,
        title: line.replace(/^[\s#*>-]+/, ""),
        words,
        icon: ScrollText,
        end: docName(tree, folder_id),
        run: () => navigate(route),
        also: () => openInNewTab(route),
      },
    ];
  });
  return rows.slice(0, MOST_SHOWN);
}
