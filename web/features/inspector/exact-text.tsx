import { agentName, useAgent } from "../../state/agents.js";
import type { ThreadRoute } from "../../state/router.js";
import { CopyButton } from "./copy-button.js";
import { CutInto, LeftOutBox } from "./cut-box.js";
import { type ContextMessage, type Row, rowsOf, type Told, textOf, toneOf } from "./told.js";

interface ExactTextProps {
  readonly route: ThreadRoute;
  readonly told: Told;
  readonly messages: readonly ContextMessage[];
}

/** Everything that was told, word for word, in its order. */
export function ExactText({ route, told, messages }: ExactTextProps) {
  const rows = new Map(rowsOf(told.manifest).map((row) => [row.id, row]));
  const all = messages.map(({ content }) => textOf(content)).join("\n\n");
  return (
    <div className="whole">
      <div className="whole-h">
        <Honesty told={told} />
        <span className="grow" />
        <CopyButton text={all} label="Copy all of it" />
      </div>
      <section className="whole-text" tabIndex={0} aria-label="Every message">
        {messages.map((message, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same words may be told twice
          <MessageText key={at} {...{ route, told, message }} row={rows.get(message.section_id ?? "")} />
        ))}
      </section>
    </div>
  );
}

/** What a program was handed stands under Request; these are the words that were to reach it. */
function Honesty({ told: { manifest } }: { readonly told: Told }) {
  const agent = useAgent(manifest.agent_id);
  if (!manifest.delivery) return <span className="small ink-3">Every message, in the order sent</span>;
  const name = agentName(agent, manifest.agent_id);
  return (
    <span className="small ink-3">
      What {name} was to be told. What it was handed, to the byte, stands under Request; what it adds, nobody
      here sees.
    </span>
  );
}

interface MessageTextProps {
  readonly route: ThreadRoute;
  readonly told: Told;
  readonly message: ContextMessage;
  /** The section that it is. */
  readonly row: Row | undefined;
}

function MessageText({ route, told, message, row }: MessageTextProps) {
  const { role, section_id, content, tool_calls } = message;
  const isMark = section_id === undefined && message.message_id === undefined && role === "system";
  return (
    <section className={`msg ${section_id ? toneOf(section_id) : "s-history"}`}>
      <div className="seam">
        <i />
        <b>{row?.title ?? (isMark ? "Left out" : "History")}</b> {role}
      </div>
      {isMark && <LeftOutBox {...{ route, told }} />}
      <div className="words">
        {row?.section ? (
          <CutInto {...{ route, told }} text={textOf(content)} section={row.section} />
        ) : (
          textOf(content)
        )}
      </div>
      {typeof content !== "string" && <Parts content={content} />}
      {tool_calls?.map((call) => (
        <pre key={String(call.id)} className="words call-words">
          {String(call.name)} {String(call.arguments)}
        </pre>
      ))}
    </section>
  );
}

/** What is no text: named, not drawn. */
function Parts({ content }: { readonly content: Exclude<ContextMessage["content"], string> }) {
  return content
    .filter(({ type }) => type !== "text")
    .map((part, at) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts of a message have nothing else
      <p key={at} className="seam">
        {part.type}
        {typeof part.mimeType === "string" && `, ${part.mimeType}`}
      </p>
    ));
}
