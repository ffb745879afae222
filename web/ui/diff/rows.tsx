import { Spans } from "../markdown/coloured.js";
import type { Line, Span } from "../markdown/highlight.js";
import { visibleExactly } from "../markdown/visible.js";
import type { DiffRow } from "./lines.js";

const SIGNS = { a: "+", d: "−", same: "", gap: "" };
const WORDS = { a: "added", d: "removed" };

interface RowProps {
  readonly row: DiffRow;
  /** The same text in its colours. */
  readonly line?: Line | undefined;
}

/** Number, sign, text; words that differ are marked. */
export function Row({ row, line }: RowProps) {
  const { kind, number, text, marks } = row;
  if (kind === "gap") return <div className="diff-gap" />;
  const spans = line && line.map((span) => span.text).join("") === text ? line : [{ text }];
  return (
    <div className={kind === "same" ? "" : kind}>
      <i>{number}</i>
      <s>
        {SIGNS[kind]}
        {kind !== "same" && <span className="sr">{WORDS[kind]}</span>}
      </s>
      <span>{marks ? <Marked spans={spans} marks={marks} /> : <Spans line={shown(spans)} />}</span>
    </div>
  );
}

function shown(spans: readonly Span[]): Line {
  return spans.map((span) => ({ ...span, text: visibleExactly(span.text) }));
}

interface MarkedProps {
  readonly spans: readonly Span[];
  readonly marks: NonNullable<DiffRow["marks"]>;
}

function Marked({ spans, marks }: MarkedProps) {
  const edges = [...new Set([0, ...marks.flat(), lengthOf(spans)])].sort((a, b) => a - b);
  return edges.slice(0, -1).map((from, at) => {
    const line = shown(sliceOf(spans, from, edges[at + 1] as number));
    const marked = marks.some(([start, end]) => from >= start && from < end);
    return marked ? (
      <mark key={from}>
        <Spans line={line} />
      </mark>
    ) : (
      <Spans key={from} line={line} />
    );
  });
}

function lengthOf(spans: readonly Span[]): number {
  return spans.reduce((sum, { text }) => sum + text.length, 0);
}

function sliceOf(spans: readonly Span[], from: number, to: number): Span[] {
  let at = 0;
  return spans.flatMap((span) => {
    const start = at;
    at += span.text.length;
    const text = span.text.slice(Math.max(0, from - start), Math.max(0, to - start));
    return text === "" ? [] : [{ ...span, text }];
  });
}
