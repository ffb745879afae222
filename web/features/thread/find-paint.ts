import type { Sought } from "../../state/sought.js";
import { eachMatch, type Match, termsOf, wholeMatches } from "../../ui/sought.js";

const FOUND = "found";
const HERE = "found-here";
const MOST_RANGES = 2_000;

/** What was said, thought, asked of tools and answered by them: the search looks at nothing else. */
const CONTENT = ".read, .you, .system, .think, .out, .diff, .with-raw, .call .n, .call .arg";
/** Words of the page that stand among them. */
const CHROME = "button.link, button.with, p.with, figcaption, .rest-of, .sr, .diff i, .diff s";
/** No word goes from one of these into the next. */
const BLOCKS = "p, li, td, th, pre, h3, h4, h5, h6, .diff-rows > div, .arg, .n";

/** Marks words in the messages that are drawn, without touching them. Returns a function that ends it. */
export function paintMatches(sought: Sought): () => void {
  const box = document.querySelector(".scroll");
  if (termsOf(sought.words).length === 0 || !box || !("highlights" in CSS)) return () => {};
  const paint = () => paintIn(box, sought);
  let planned = 0;
  const again = () => {
    cancelAnimationFrame(planned);
    planned = requestAnimationFrame(paint);
  };
  const observer = new MutationObserver(again);
  observer.observe(box, { childList: true, subtree: true, characterData: true });
  paint();
  return () => {
    observer.disconnect();
    cancelAnimationFrame(planned);
    CSS.highlights.delete(FOUND);
    CSS.highlights.delete(HERE);
  };
}

function paintIn(box: Element, { words, message, match }: Sought): void {
  const all = [...box.querySelectorAll<HTMLElement>("[data-item]")].flatMap((item) => {
    const ranges = rangesIn(item, words);
    const here = item.dataset.item === message ? ranges.at(match) : undefined;
    return ranges.map((range) => ({ range, here: range === here }));
  });
  const ranges = (isHere: boolean) => all.filter(({ here }) => here === isHere).map(({ range }) => range);
  CSS.highlights.set(FOUND, new Highlight(...ranges(false)));
  CSS.highlights.set(HERE, new Highlight(...ranges(true)));
}

/** The matches in a message that is drawn, in the order they are read. */
export function drawnMatches(message: string, words: string): Range[] {
  const item = document.querySelector(`.scroll [data-item="${CSS.escape(message)}"]`);
  return item ? rangesIn(item, words) : [];
}

function rangesIn(item: Element, words: string): Range[] {
  const terms = termsOf(words);
  const lines = linesOf(item);
  const whole = lines.flatMap((line) => wholeMatches(line.text, terms).map((match) => rangeOf(line, match)));
  const found =
    whole.length > 0
      ? whole
      : lines.flatMap((line) => eachMatch(line.text, terms).map((match) => rangeOf(line, match)));
  return found.slice(0, MOST_RANGES);
}

interface Line {
  text: string;
  readonly block: Element | null;
  /** Pieces of it, and where in it each begins: a word may be set in several. */
  readonly pieces: { readonly node: Text; readonly from: number }[];
}

function linesOf(item: Element): Line[] {
  const lines: Line[] = [];
  const texts = document.createTreeWalker(item, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode() as Text | null; node; node = texts.nextNode() as Text | null) {
    const parent = node.parentElement;
    if (!parent?.closest(CONTENT) || parent.closest(CHROME)) continue;
    const block = parent.closest(BLOCKS);
    if (lines.at(-1)?.block !== block || block === null) lines.push({ text: "", block, pieces: [] });
    const line = lines.at(-1) as Line;
    line.pieces.push({ node, from: line.text.length });
    line.text += node.data;
  }
  return lines;
}

function rangeOf({ pieces }: Line, [from, to]: Match): Range {
  const range = new Range();
  const first = pieces.findLast((piece) => piece.from <= from);
  const last = pieces.findLast((piece) => piece.from < to);
  if (first) range.setStart(first.node, from - first.from);
  if (last) range.setEnd(last.node, to - last.from);
  return range;
}
