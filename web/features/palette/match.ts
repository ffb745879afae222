/** What is looked for: every word must be there, in any case. */
export function wordsOf(query: string): readonly string[] {
  return query.toLowerCase().split(/\s+/).filter(Boolean);
}

const LETTER = /[\p{L}\p{N}]/u;
const SPACE = 32;

/**
 * How well a text in lower case has all the words: at its beginning counts most, at the beginning of a word more than within
 * one. Zero: a word is missing.
 */
export function score(lower: string, words: readonly string[]): number {
  let sum = 0;
  for (const word of words) {
    const at = placeIn(lower, word);
    if (at < 0) return 0;
    sum += at === 0 ? 4 : startsWord(lower, at) ? 2 : 1;
  }
  return sum + (words.length === 0 ? 1 : 0);
}

/** The first place at which a word begins with it, else the first at all. */
function placeIn(lower: string, word: string): number {
  const first = lower.indexOf(word);
  for (let at = first; at >= 0; at = lower.indexOf(word, at + 1)) if (startsWord(lower, at)) return at;
  return first;
}

function startsWord(lower: string, at: number): boolean {
  return at === 0 || lower.charCodeAt(at - 1) === SPACE || !LETTER.test(lower.charAt(at - 1));
}

/** A text in pieces: those that match are marked. */
export function pieces(text: string, words: readonly string[]): { text: string; marked: boolean }[] {
  const lower = text.toLowerCase();
  // A character that is longer in lower case would put every mark after it in the wrong place.
  const found = lower.length === text.length ? spans(lower, words) : [];
  const parts: { text: string; marked: boolean }[] = [];
  let at = 0;
  for (const [from, to] of found) {
    if (from > at) parts.push({ text: text.slice(at, from), marked: false });
    parts.push({ text: text.slice(from, to), marked: true });
    at = to;
  }
  if (at < text.length) parts.push({ text: text.slice(at), marked: false });
  return parts;
}

/** Where the words stand, without overlaps, in order. */
function spans(lower: string, words: readonly string[]): [number, number][] {
  const all = words
    .map((word) => [placeIn(lower, word), word.length] as const)
    .filter(([at]) => at >= 0)
    .map(([at, length]): [number, number] => [at, at + length])
    .sort((a, b) => a[0] - b[0]);
  const apart: [number, number][] = [];
  for (const [from, to] of all) {
    const last = apart.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else apart.push([from, to]);
  }
  return apart;
}

interface Ranked<T> {
  readonly best: readonly T[];
  readonly total: number;
}

interface RankGiven<T> {
  readonly words: readonly string[];
  readonly most: number;
  lower(item: T): string;
}

/** The best matches of a list, and how many there are in all. Of those that match as well the first in the list come first. */
export function rank<T>(items: Iterable<T>, { words, most, lower }: RankGiven<T>): Ranked<T> {
  const byPoints: T[][] = [];
  let total = 0;
  for (const item of items) {
    const points = score(lower(item), words);
    if (points === 0) continue;
    total += 1;
    byPoints[points] ??= [];
    const found = byPoints[points];
    if (found.length < most) found.push(item);
  }
  return { best: byPoints.reverse().flat().slice(0, most), total };
}
