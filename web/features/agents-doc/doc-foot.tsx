import { countChars, MAX_DOCUMENT_CHARS } from "../../../src/protocol/plain.js";
import { count } from "../../ui/format.js";
import type { Place } from "./editor.js";
import { aboutTokens } from "./words.js";

interface DocFootProps {
  readonly text: string;
  readonly place: Place | undefined;
}

export function DocFoot({ text, place }: DocFootProps) {
  const chars = countChars(text);
  const over = chars > MAX_DOCUMENT_CHARS;
  return (
    <footer className="ed-foot">
      <span className={over ? "danger" : undefined}>
        {count(chars)} of {count(MAX_DOCUMENT_CHARS)} characters
      </span>
      <span>about {count(aboutTokens(text))} tokens</span>
      <span className="grow" />
      {place && (
        <span className="ed-place">
          Ln {count(place.line)}, Col {count(place.column)}
        </span>
      )}
      <span className="only-wide">Markdown</span>
    </footer>
  );
}
