import { createContext, useContext, useEffect, useState } from "react";

/** The words somebody looks for in the text below; empty: none. */
export const SoughtContext = createContext("");

const WORD = /[\p{L}\p{N}\p{M}]+/gu;
const OF_A_WORD = /[\p{L}\p{N}]/u;
/** Written without spaces: there is no telling where a word begins. */
const SPACELESS =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
const ACCENTED = /[\u00c0-\u024f\u1e00-\u1eff]/g;

export function termsOf(words: string): string[] {
  return folded(words).match(WORD) ?? [];
}

/** As long as the text itself: a place in one is a place in the other. */
function folded(text: string): string {
  const lower = text.replace(ACCENTED, (each) => each.normalize("NFD").charAt(0)).toLowerCase();
  return lower.length === text.length ? lower : text;
}

export type Match = readonly [from: number, to: number];

/** Where the terms stand side by side. */
export function wholeMatches(text: string, terms: readonly string[]): Match[] {
  return terms.length === 0 ? [] : placesOf(text, folded(text), terms);
}

/** Where each of them begins a word, as the search has it. */
export function eachMatch(text: string, terms: readonly string[]): Match[] {
  const lower = folded(text);
  return terms.flatMap((term) => placesOf(text, lower, [term])).sort(([a], [b]) => a - b);
}

function placesOf(text: string, lower: string, terms: readonly string[]): Match[] {
  const [first = ""] = terms;
  const phrase = new RegExp(terms.join("[^\\p{L}\\p{N}]+"), "uy");
  const found: Match[] = [];
  for (let at = lower.indexOf(first); at >= 0; at = lower.indexOf(first, at + 1)) {
    if (!beginsWord(text, at)) continue;
    phrase.lastIndex = at;
    const end = phrase.test(lower) ? phrase.lastIndex : 0;
    if (end > (found.at(-1)?.[1] ?? 0)) found.push([at, end]);
  }
  return found;
}

/** Also `name` in `getUserName`. */
function beginsWord(text: string, at: number): boolean {
  const [before, here] = [text.charAt(at - 1), text.charAt(at)];
  if (!OF_A_WORD.test(before) || SPACELESS.test(here)) return true;
  return /\p{Lu}/u.test(here) && /[\p{Ll}\p{N}]/u.test(before);
}

export function hasWords(text: string, words: string): boolean {
  const terms = termsOf(words);
  return terms.length > 0 && terms.every((term) => wholeMatches(text, [term]).length > 0);
}

/** Whether all of a text is shown: once somebody asks for it, or looks for words that stand in what is not shown. */
export function useShowsAll(hidden: () => string): readonly [boolean, (all: boolean) => void] {
  const words = useContext(SoughtContext);
  const [all, setAll] = useState(false);
  // Asked when the words change, not with every text: who closes it again is left alone.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useEffect(() => {
    if (words !== "" && hasWords(hidden(), words)) setAll(true);
  }, [words]);
  return [all, setAll];
}
