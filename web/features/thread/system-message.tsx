import { memo } from "react";
import type { Message } from "../../../src/protocol/index.js";
import { Markdown } from "../../ui/markdown/markdown.js";
import { wordsOf } from "./parts.js";

/** What neither a person nor an agent said. */
export const SystemMessage = memo(function SystemMessage({ message }: { readonly message: Message }) {
  return (
    <div className="system">
      <Markdown text={wordsOf(message) || "An empty system message"} />
    </div>
  );
});
