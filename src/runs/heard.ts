import type { Message } from "../atsf/index.js";
import type { PromptMessage } from "../providers/index.js";
import type { RunEvent } from "./fold/events.js";

/** What is known of an answer whose gateway was killed. */
export interface Said {
  readonly content: PromptMessage["content"];
  readonly text: string;
}

/** The answer was in the log, only its end was not committed. */
export function lastSaid({ content }: Message): Said {
  const after = content.findLastIndex((block) => block?.type === "tool_call_ref");
  const text = content
    .slice(after + 1)
    .flatMap((block) => (block?.type === "text" ? [String(block.text)] : []))
    .join("");
  return { content: text, text };
}

export function partOf(events: readonly RunEvent[], intent_id: string): Said | undefined {
  let text = "";
  let thinking = "";
  for (const event of events) {
    // What a program had said by then stands with what it did.
    if (event.type === "program.worked") [text, thinking] = ["", ""];
    if (event.type !== "effect.progress" || event.intent_id !== intent_id) continue;
    text += event.text ?? "";
    thinking += event.thinking ?? "";
  }
  if (text === "" && thinking === "") return undefined;
  if (thinking === "") return { content: text, text };
  return {
    content: [
      { type: "thinking", text: thinking },
      { type: "text", text },
    ],
    text,
  };
}

const NOTICE =
  "Interrupted: this was handed over, and may have been carried out in part. Find out before you do it again.";

/** Whoever is asked next would be told of no answer at all, and take what was handed over for something still to be done. */
export function withNotice(heard: Said | undefined): Said {
  if (heard && heard.text !== "") return heard;
  if (!heard || typeof heard.content === "string") return { content: NOTICE, text: NOTICE };
  const thoughts = heard.content.filter(({ type }) => type === "thinking");
  return { content: [...thoughts, { type: "text", text: NOTICE }], text: NOTICE };
}
