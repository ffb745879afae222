import { Fragment } from "react";
import { pieces } from "./match.js";

interface MarkedProps {
  readonly text: string;
  readonly words: readonly string[];
}

/** A text with what was looked for marked in it. */
export function Marked({ text, words }: MarkedProps) {
  let at = 0;
  return pieces(text, words).map((piece) => {
    const key = at;
    at += piece.text.length;
    return piece.marked ? <mark key={key}>{piece.text}</mark> : <Fragment key={key}>{piece.text}</Fragment>;
  });
}
