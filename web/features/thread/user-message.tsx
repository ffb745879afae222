import { ChevronDown, ChevronRight } from "lucide-react";
import { memo, useMemo, useState } from "react";
import type { Message } from "../../../src/protocol/index.js";
import { agentName, useAgent } from "../../state/agents.js";
import { type ContextLine, splitContextLine } from "../../state/context-line.js";
import { Icon } from "../../ui/icon.js";
import { Link } from "../../ui/link.js";
import { Markdown } from "../../ui/markdown/markdown.js";
import { visibleExactly } from "../../ui/markdown/visible.js";
import { EditMessage } from "./edit-message.js";
import { AssetImage } from "./image.js";
import { useKnownRun } from "./known-run.js";
import { wordsOf } from "./parts.js";
import { usePlace } from "./place.js";
import { useReading } from "./reading.js";

/** What somebody asked. What was sent along stands above it, folded. */
export const UserMessage = memo(function UserMessage({ message }: { readonly message: Message }) {
  const { line, text } = useMemo(() => splitContextLine(wordsOf(message)), [message]);
  const editing = useReading((reading) => reading.editing === message.id);
  const images = message.content.filter(({ type }) => type === "image");
  return (
    <div className="you">
      <Sender message={message} />
      {line && <SentAlong line={line} />}
      {editing ? (
        <EditMessage message={message} text={text} line={line?.raw} />
      ) : (
        <>
          {text !== "" && <Markdown text={text} />}
          {images.map((block, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a message does not change
            <AssetImage key={at} asset={String(block.assetRef ?? "")} mime={String(block.mimeType ?? "")} />
          ))}
        </>
      )}
    </div>
  );
});

interface From {
  readonly kind?: unknown;
  readonly agentId?: unknown;
  readonly threadId?: unknown;
}

/** Who sent it, where that was no person, and which run it steered. */
function Sender({ message }: { readonly message: Message }) {
  const { ws } = usePlace();
  const { from } = (message.heddle ?? {}) as { from?: From };
  const agentId = typeof from?.agentId === "string" ? from.agentId : undefined;
  const agent = useAgent(agentId);
  const run = useKnownRun(ws, message.run_id);
  const steered = run !== undefined && run.user_message_id !== message.id;
  if (agentId !== undefined) {
    const words = from?.kind === "returned" ? "Answer of" : "Asked by";
    const name = visibleExactly(agentName(agent, agentId));
    const thread = typeof from?.threadId === "string" ? from.threadId : undefined;
    return (
      <p className="with">
        {words} {thread ? <Link to={{ view: "thread", ws, thread }}>{name}</Link> : name}
      </p>
    );
  }
  return steered ? <p className="with">Steered run {run.number}</p> : null;
}

function SentAlong({ line }: { readonly line: ContextLine }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" className="with" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon of={open ? ChevronDown : ChevronRight} size={12} />
        {wordsFor(line)}
      </button>
      {open && <code className="with-raw">{visibleExactly(line.raw)}</code>}
    </>
  );
}

function wordsFor({ attributes }: ContextLine): string {
  const name = attributes.get("name") ?? attributes.get("view-name") ?? attributes.get("panel-title");
  const chosen =
    attributes
      .get("selection")
      ?.split(/[\s,]+/)
      .filter(Boolean).length ?? 0;
  const facts = [
    ...(name ? [`With ${name}`] : []),
    ...(chosen > 0 ? [`${chosen} selected`] : []),
    ...(attributes.get("mode") === "brief" ? ["brief"] : []),
  ];
  return visibleExactly(facts.join(", ") || "With what was open");
}
