import { memo, useMemo, useState } from "react";
import { count } from "../format.js";
import { Spans, useLines } from "../markdown/coloured.js";
import type { Line, Span } from "../markdown/highlight.js";
import { languageOfFile } from "../markdown/languages.js";
import { visibleExactly } from "../markdown/visible.js";
import { type Difference, type DiffRow, differenceOf } from "./lines.js";
import "./diff.css";

interface DiffProps {
  readonly oldText: string;
  readonly newText: string;
  /** Names the language by its ending. */
  readonly path?: string;
  readonly difference?: Difference;
}

const SHOWN_ROWS = 300;
const SIGNS = { a: "+", d: "−", same: "", gap: "" };
const WORDS = { a: "added", d: "removed" };

/** Two texts as one, line by line: number, sign, text; words that differ are marked. */
export const Diff = memo(function Diff({ oldText, newText, path = "", difference }: DiffProps) {
  const [all, setAll] = useState(false);
  const { rows } = useMemo(
    () => difference ?? differenceOf(oldText, newText),
    [difference, oldText, newText],
  );
  const language = languageOfFile(path);
  const before = useLines(oldText, language);
  const after = useLines(newText, language);
  const shown = all ? rows : rows.slice(0, SHOWN_ROWS);
  return (
    <>
      <div className="diff" role="group" aria-label={`Changes${path ? ` in ${path}` : ""}`} tabIndex={0}>
        <div className="diff-rows">
          {shown.map((row, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a row of a fixed difference is known by its place
            <Row key={at} row={row} line={(row.kind === "d" ? before : after)?.[row.number - 1]} />
          ))}
        </div>
      </div>
      {shown.length < rows.length && (
        <button type="button" className="link diff-all" onClick={() => setAll(true)}>
          Show all {count(rows.length)} lines
        </button>
      )}
    </>
  );
});

function Row({ row, line }: { readonly row: DiffRow; readonly line: Line | undefined }) {
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
