import type { ThreadRoute } from "../../state/router.js";
import { count } from "../../ui/format.js";
import { Link } from "../../ui/link.js";
import { visibleExactly } from "../../ui/markdown/visible.js";
import { CutInto } from "./cut-box.js";
import { useContextOf } from "./data.js";
import { shortRef, useSectionText } from "./source.js";
import { type ContextMessage, offeredIn, type Row, refusedIn, type Told, textOf } from "./told.js";

interface DetailProps {
  readonly route: ThreadRoute;
  readonly told: Told;
  readonly row: Row;
}

/** A row that was opened: what it says, word for word. */
export function SectionDetail({ route, told, row }: DetailProps) {
  return (
    <div className="sec-detail">
      {row.id === "tools" && <Refused told={told} />}
      {row.kind === "section" && <SectionWords {...{ route, told, row }} />}
      {row.kind === "definitions" && <Definitions told={told} />}
      {row.kind === "history" && <HistoryWords told={told} />}
      <p className="sec-foot">
        {row.section && (
          <code className="cut" title={row.section.source.ref}>
            {shortRef(row.section.source.ref)}
          </code>
        )}
        <span className="grow" />
        <Link
          className="lone"
          to={{
            ...route,
            message: undefined,
            pane: "context",
            run: told.run_id ?? route.run,
            step: stepOf(told),
            full: true,
          }}
        >
          Full width
        </Link>
      </p>
    </div>
  );
}

function stepOf({ run_id, step }: Told): number | undefined {
  return run_id === undefined ? undefined : step;
}

function SectionWords({ route, told, row }: DetailProps) {
  const text = useSectionText(told, row.section);
  return (
    <section
      className="sec-text"
      tabIndex={0}
      aria-label={`Text of ${row.title}`}
      aria-busy={text === undefined}
    >
      {row.section && text !== undefined && <CutInto {...{ route, told, text }} section={row.section} />}
    </section>
  );
}

/** Which tools it may not use, each with the rule that says so. */
export function Refused({ told }: { readonly told: Told }) {
  const refused = refusedIn(told.manifest);
  if (refused.length === 0) return null;
  return (
    <dl className="refused" aria-label="Refused tools">
      {refused.map(({ name, reason }) => (
        <div key={name}>
          <dt>
            <code>{visibleExactly(name)}</code>
          </dt>
          <dd>{visibleExactly(reason ?? "")}</dd>
        </div>
      ))}
    </dl>
  );
}

function Definitions({ told }: { readonly told: Told }) {
  return (
    <ul className="defs">
      {offeredIn(told.manifest).map(({ name, approval }) => (
        <li key={name}>
          <code>{name}</code>
          {approval === "ask" && <span className="ink-3">asks first</span>}
        </li>
      ))}
    </ul>
  );
}

/** The newest are read first, so the list stands at its end. */
function HistoryWords({ told }: { readonly told: Told }) {
  const { data } = useContextOf(told.run_id, told.step, told.messages === undefined);
  const messages = (told.messages ?? data?.messages ?? []).filter(
    ({ section_id }) => section_id === undefined,
  );
  return (
    <ol className="section-said" aria-busy={messages.length === 0}>
      {messages.slice(-MOST_SHOWN).map((message, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the same words may be told twice
        <li key={at}>
          <span className="ink-3">{message.role}</span>
          <span className="cut">{firstLine(message)}</span>
        </li>
      ))}
      {messages.length > MOST_SHOWN && (
        <li className="ink-3">{count(messages.length - MOST_SHOWN)} before these</li>
      )}
    </ol>
  );
}

const MOST_SHOWN = 12;

export function firstLine({ content, tool_calls }: ContextMessage): string {
  const text = textOf(content).trim();
  if (text !== "") return text.slice(0, 200).replaceAll("\n", " ");
  const names = (tool_calls ?? []).map(({ name }) => String(name)).join(", ");
  return names === "" ? "(an image)" : `calls ${names}`;
}
