import { MOST_FILE_BYTES } from "./path.js";

export interface Replacement {
  readonly old_text: string;
  readonly new_text: string;
  readonly replace_all?: boolean | undefined;
}

const BOM = "\uFEFF";
const MOST_LINES_TOLD = 10;

/** A text with a piece of it replaced; its byte order mark and line ends stay. Or what to do so that it can be. */
export function replaceText(
  whole: string,
  wished: Replacement,
): { readonly text: string; readonly told: string } | { readonly problem: string } {
  const mark = whole.startsWith(BOM) ? BOM : "";
  const text = whole.slice(mark.length);
  const { old_text, new_text } = inLineEndsOf(text, wished);
  if (old_text === new_text) return { problem: "old_text and new_text are the same." };
  const places = placesOf(text, old_text, wished.replace_all === true);
  if (places.length === 0) return { problem: NOT_THERE };
  const lines = linesAt(text, places);
  if (places.length > 1 && !wished.replace_all) return { problem: several(places.length, lines) };
  if (text.length + places.length * (new_text.length - old_text.length) > MOST_FILE_BYTES) {
    return { problem: `it would have more than ${MOST_FILE_BYTES} bytes.` };
  }
  const count = places.length === 1 ? "1 replacement" : `${places.length} replacements`;
  return { text: mark + text.replaceAll(old_text, () => new_text), told: `${count}, at ${lines}` };
}

const NOT_THERE =
  "old_text is not in it. Read it again and copy the text as it stands there, without the line numbers.";

function several(count: number, lines: string): string {
  return `old_text is in it ${count} times, at ${lines}. Give more of the text around the one you mean, or set replace_all.`;
}

/** Models write line ends as LF, whatever a file has; what they add must not mix them. */
function inLineEndsOf(text: string, { old_text, new_text }: Replacement) {
  const ends = text.split("\n").length - 1;
  const windows = text.split("\r\n").length - 1;
  const as = (end: string) => ({
    old_text: old_text.replace(/\r?\n/g, end),
    new_text: new_text.replace(/\r?\n/g, end),
  });
  if (ends > 0 && windows === ends) return as("\r\n");
  if (ends > 0 && windows === 0) return as("\n");
  // A file that mixes them: what is there as it was given stays so.
  const ways = [{ old_text, new_text }, as("\r\n"), as("\n")];
  return ways.find((way) => text.includes(way.old_text)) ?? { old_text, new_text };
}

/** Where a piece begins. Pieces that lie over each other count when one of them must be meant. */
function placesOf(text: string, piece: string, apart: boolean): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(piece); at >= 0; at = text.indexOf(piece, at + (apart ? piece.length : 1))) {
    places.push(at);
  }
  return places;
}

function linesAt(text: string, places: readonly number[]): string {
  const lines: number[] = [];
  let line = 1;
  let seen = 0;
  for (const place of places.slice(0, MOST_LINES_TOLD)) {
    line += text.slice(seen, place).split("\n").length - 1;
    seen = place;
    if (lines.at(-1) !== line) lines.push(line);
  }
  const more = places.length > MOST_LINES_TOLD ? ", …" : "";
  return `${lines.length === 1 && more === "" ? "line" : "lines"} ${lines.join(", ")}${more}`;
}
