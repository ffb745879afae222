import { useQuery } from "@tanstack/react-query";
import type { Manifest, Message } from "../../../src/protocol/index.js";
import { call } from "../../state/gateway.js";
import type { ThreadRoute } from "../../state/router.js";
import { documentsOf } from "./compare.js";
import { cutIn } from "./cut.js";
import { useBlobText } from "./data.js";
import type { Section } from "./told.js";

/** What was cut: kept with the run; of a preview, the end of that version of the document. */
export function useCutText(ws: string, section: Section, sent: string | undefined): string | undefined {
  const kept = section.source.cut_ref;
  const blob = useBlobText(sent === undefined ? undefined : kept);
  const [document] = kept === undefined ? documentsOf(section) : [];
  const { data } = useQuery({
    queryKey: ["doc_revision", document?.id, document?.version],
    queryFn: async () => {
      const version = document?.version ?? 1;
      const params = { workspace_id: ws, doc_id: document?.id ?? "", version };
      return (await call("thread/agents_doc/revision", params)).revision.content;
    },
    enabled: sent !== undefined && document !== undefined,
  });
  if (kept !== undefined) return blob.data;
  const missing = sent === undefined ? undefined : cutIn(sent);
  if (data === undefined || missing === undefined) return undefined;
  return [...withoutOuterBlankLines(data)].slice(-missing).join("");
}

/** A section is told without them, so they do not count among what was cut. */
function withoutOuterBlankLines(text: string): string {
  const lines = text.split("\n");
  const hasText = (line: string) => /\S/.test(line);
  return lines.slice(lines.findIndex(hasText), lines.findLastIndex(hasText) + 1).join("\n");
}

interface LeftOutMessage {
  readonly id: string;
  readonly role: string;
  readonly text: string;
}

const MOST_PAGES = 10;

/** The messages that have left, by their ids: they are the oldest, so they come first. */
export function useLeftOut(route: ThreadRoute, dropped: NonNullable<Manifest["dropped"]>, enabled: boolean) {
  const { data } = useQuery({
    queryKey: ["left_out", route.thread, dropped.length, dropped.at(-1)?.message_id],
    queryFn: async (): Promise<readonly LeftOutMessage[]> => {
      const wanted = new Set(dropped.map(({ message_id }) => message_id));
      const found: LeftOutMessage[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < MOST_PAGES && found.length < wanted.size; page++) {
        const answer = await call("thread/messages", {
          workspace_id: route.ws,
          thread_id: route.thread,
          order: "asc",
          limit: 100,
          cursor,
        });
        found.push(...answer.data.filter(({ id }) => wanted.has(id)).map(asLeftOut));
        cursor = answer.next_cursor;
        if (cursor === undefined) break;
      }
      return found;
    },
    enabled,
  });
  return data;
}

function asLeftOut({ id, role, content }: Message): LeftOutMessage {
  const blocks = Array.isArray(content) ? content : [];
  const text = blocks
    .map((block: unknown) => (block as { text?: unknown }).text)
    .filter((each) => typeof each === "string")
    .join("\n");
  return { id, role, text };
}
