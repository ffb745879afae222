import type { ThreadRoute } from "../../state/router.js";
import { count } from "../../ui/format.js";
import { CopyButton } from "./copy-button.js";
import { CutBox, LeftOutBox } from "./cut-box.js";
import { useBlobText } from "./data.js";
import { DiffView } from "./diff-view.js";
import { firstLine, Refused } from "./section-detail.js";
import { Source, shortRef, useSectionText } from "./source.js";
import { type ContextMessage, type Row, type Told, textOf } from "./told.js";

interface SectionTextProps {
  readonly route: ThreadRoute;
  readonly told: Told;
  readonly row: Row;
  /** The same row of what it is held against. */
  readonly before: { readonly told: Told; readonly row: Row | undefined } | undefined;
  readonly messages: readonly ContextMessage[] | undefined;
  readonly messagesBefore: readonly ContextMessage[] | undefined;
  /** What was cut of it is what somebody wants to see. */
  readonly wantsCut: boolean;
}

/** The exact text of the section that is selected. */
export function SectionText(props: SectionTextProps) {
  const { row } = props;
  if (row.kind === "history") return <HistoryText {...props} />;
  if (row.kind === "definitions") return <DefinitionsText {...props} />;
  return <OwnText {...props} />;
}

function OwnText({ route, told, row, before, wantsCut }: SectionTextProps) {
  const text = useSectionText(told, row.section);
  const other = useSectionText(before?.told ?? told, before?.row?.section);
  return (
    <div className="exact">
      <Meta {...{ route, told, row }} text={text} />
      <section className="text" tabIndex={0} aria-label={`Text of ${row.title}`}>
        {row.id === "tools" && (
          <div className="text-refused">
            <Refused told={told} />
          </div>
        )}
        {text === undefined ? (
          <p className="seam">Reading…</p>
        ) : (
          <DiffView
            now={text}
            before={before ? (before.row ? other : "") : undefined}
            cut={
              row.section &&
              row.section.truncation !== "none" && (
                <CutBox {...{ route, told }} section={row.section} opens={wantsCut} />
              )
            }
          />
        )}
      </section>
    </div>
  );
}

interface MetaProps {
  readonly route: ThreadRoute;
  readonly told: Told;
  readonly row: Row;
  readonly text: string | undefined;
}

function Meta({ route, told, row, text }: MetaProps) {
  const { section } = row;
  const hook = section?.source.hook_id;
  const size = `${row.chars === undefined ? "" : `${count(row.chars)} characters, `}about ${count(row.tokens)} tokens`;
  const ref = section?.source.ref ?? (row.kind === "definitions" ? told.manifest.tools_ref : undefined);
  return (
    <div className="meta">
      <div className="row-x">
        <span className={`swatch ${row.tone}`} />
        <h2 className="strong">{row.title}</h2>
        <span className="small ink-3 cut">
          <Source route={route} told={told} row={row} />
        </span>
        <span className="grow" />
        {text !== undefined && <CopyButton text={text} label={`Copy ${row.title}`} />}
      </div>
      <dl className="kv">
        {typeof hook === "string" && (
          <>
            <dt>Hook</dt>
            <dd>
              <code>{hook}</code>
            </dd>
          </>
        )}
        <dt>Size</dt>
        <dd className="num">{size}</dd>
        {ref && (
          <>
            <dt>Blob</dt>
            <dd>
              <code title={ref}>{shortRef(ref)}</code>
            </dd>
          </>
        )}
      </dl>
    </div>
  );
}

/** The tools as the model was given them. */
function DefinitionsText({ route, told, row, before }: SectionTextProps) {
  const { data } = useBlobText(told.manifest.tools_ref);
  const { data: other } = useBlobText(before?.told.manifest.tools_ref);
  const text = data === undefined ? undefined : indented(data);
  return (
    <div className="exact">
      <Meta {...{ route, told, row }} text={text} />
      <section className="text" tabIndex={0} aria-label={`Text of ${row.title}`}>
        {text === undefined ? (
          <p className="seam">{told.run_id === undefined ? "They stand in the request." : "Reading…"}</p>
        ) : (
          <DiffView now={text} before={other === undefined ? undefined : indented(other)} />
        )}
      </section>
    </div>
  );
}

function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}

function HistoryText(props: SectionTextProps) {
  const { route, told, row, before, messages, messagesBefore, wantsCut } = props;
  const said = ofHistory(messages);
  const known = before && new Set(ofHistory(messagesBefore).map(({ ref }) => ref));
  const text = said.map(({ role, content }) => `${role}: ${textOf(content)}`).join("\n\n");
  return (
    <div className="exact">
      <Meta {...{ route, told, row }} text={text} />
      <section className="text" tabIndex={0} aria-label={`Text of ${row.title}`}>
        <LeftOutBox route={route} told={told} opens={wantsCut} />
        <div className="diff wraps" aria-busy={messages === undefined}>
          <div className="diff-rows">
            {said.map((message, at) => {
              const added = known !== undefined && messagesBefore !== undefined && !known.has(message.ref);
              return (
                // biome-ignore lint/suspicious/noArrayIndexKey: the same words may be told twice
                <div key={at} className={added ? "a" : ""}>
                  <i>{at + 1}</i>
                  <s>{added ? "+" : ""}</s>
                  <span>
                    <span className="role">{message.role}</span> {wholeText(message)}
                  </span>
                </div>
              );
            })}
          </div>
        </div>
      </section>
    </div>
  );
}

function ofHistory(messages: readonly ContextMessage[] | undefined): readonly ContextMessage[] {
  return (messages ?? []).filter(({ section_id, message_id }) => section_id === undefined && message_id);
}

function wholeText(message: ContextMessage): string {
  const text = textOf(message.content);
  return text.trim() === "" ? firstLine(message) : text;
}
