import { useMemo, useState } from "react";
import { counted } from "../../ui/format.js";
import { type DiffLine, diffTexts, folded, type Stretch } from "./text-diff.js";

interface DiffViewProps {
  readonly now: string;
  /** What it is held against; undefined: nothing is. */
  readonly before?: string | undefined;
}

/** A text with its line numbers, and what is other in it than in another one. */
export function DiffView({ now, before }: DiffViewProps) {
  const stretches = useMemo(
    () =>
      before === undefined || before === now
        ? [{ lines: plain(now), folded: false }]
        : folded(diffTexts(before, now)),
    [now, before],
  );
  return (
    <div className="diff">
      {stretches.map((stretch, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: stretches of a text have nothing else
        <StretchView key={at} stretch={stretch} />
      ))}
    </div>
  );
}

function plain(text: string): DiffLine[] {
  return text
    .split("\n")
    .map((line, at) => ({ kind: "same", is: at + 1, pieces: [{ text: line, marked: false }] }));
}

function StretchView({ stretch }: { readonly stretch: Stretch }) {
  const [open, setOpen] = useState(false);
  if (stretch.folded && !open)
    return (
      <div>
        <i />
        <s />
        <button type="button" className="diff-fold" onClick={() => setOpen(true)}>
          {counted(stretch.lines.length, "line")} unchanged
        </button>
      </div>
    );
  return stretch.lines.map((line) => <Line key={`${line.was ?? ""}+${line.is ?? ""}`} line={line} />);
}

const CLASSES = { same: "", removed: "d", added: "a" };
const SIGNS = { same: "", removed: "−", added: "+" };

function Line({ line: { kind, was, is, pieces } }: { readonly line: DiffLine }) {
  return (
    <div className={CLASSES[kind]}>
      <i>{is ?? was}</i>
      <s>
        {SIGNS[kind]}
        {kind !== "same" && <span className="sr">{kind}: </span>}
      </s>
      <span>
        {pieces.map(({ text, marked }, at) =>
          // biome-ignore lint/suspicious/noArrayIndexKey: pieces of a line have nothing else
          marked ? <mark key={at}>{text}</mark> : text,
        )}
      </span>
    </div>
  );
}
