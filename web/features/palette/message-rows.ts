import { MessageSquare } from "lucide-react";
import type { Result } from "../../../src/protocol/index.js";
import { navigate, type Route } from "../../state/router.js";
import { seekBriefly } from "../../state/sought.js";
import type { Tree } from "../../state/tree.js";
import { openInNewTab } from "../agents/actions.js";
import type { Group } from "./row.js";
import { titleOf } from "./thread-rows.js";

type Hit = Result<"thread/search">["data"][number];

export function messageGroup(tree: Tree, hits: readonly Hit[], words: readonly string[]): Group {
  const rows = hits.map((hit) => {
    const thread = tree.threads.get(hit.thread_id);
    const route: Route = {
      view: "thread",
      ws: tree.ws as string,
      thread: hit.thread_id,
      message: hit.message_id,
    };
    return {
      id: `message-${hit.thread_id}-${hit.message_id}`,
      title: around(hit.snippet.replace(/\s+/g, " "), words),
      words,
      icon: MessageSquare,
      end: thread && titleOf(thread),
      run: () => {
        seekBriefly({ words: words.join(" "), message: hit.message_id });
        navigate(route);
      },
      also: () => openInNewTab(route),
    };
  });
  return { id: "messages", title: "In messages", rows };
}

const LEAD = 16;
const small = matchMedia("(max-width: 639px)");

/** On a phone a row has room for little more than what was found: there it begins a word or two before that. */
function around(text: string, words: readonly string[]): string {
  if (!small.matches) return text;
  const lower = text.toLowerCase();
  const places = words.map((word) => lower.indexOf(word)).filter((at) => at >= 0);
  const at = Math.min(...places);
  if (places.length === 0 || at <= LEAD) return text;
  const from = text.indexOf(" ", at - LEAD);
  return `…${text.slice(from >= 0 && from < at ? from + 1 : at)}`;
}
