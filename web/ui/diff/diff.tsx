import { memo, useMemo } from "react";
import { count } from "../format.js";
import { useLines } from "../markdown/coloured.js";
import { languageOfFile } from "../markdown/languages.js";
import { useShowsAll } from "../sought.js";
import { type Difference, differenceOf } from "./lines.js";
import { Row } from "./rows.js";
import "./diff.css";

interface DiffProps {
  readonly oldText: string;
  readonly newText: string;
  /** Names the language by its ending. */
  readonly path?: string;
  readonly difference?: Difference;
}

const SHOWN_ROWS = 300;

/** Two texts as one, line by line: number, sign, text; words that differ are marked. */
export const Diff = memo(function Diff({ oldText, newText, path = "", difference }: DiffProps) {
  const { rows } = useMemo(
    () => difference ?? differenceOf(oldText, newText),
    [difference, oldText, newText],
  );
  const [all, setAll] = useShowsAll(() =>
    rows
      .slice(SHOWN_ROWS)
      .map(({ text }) => text)
      .join("\n"),
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
