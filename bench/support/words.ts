const VOCABULARY = 5_000;
const CONSONANTS = "bdfgklmnprstvz";
const VOWELS = "aeiou";

/** A text of so many characters, of made-up words: a few are in nearly every text, most are rare. One number, one text. */
export function textOf(chars: number, number: number): string {
  const random = randomFrom(number);
  let text = "";
  while (text.length < chars) text += `${WORDS[Math.floor(VOCABULARY ** random()) - 1]} `;
  return text.slice(0, chars);
}

const SYLLABLES = [...CONSONANTS].flatMap((consonant) => [...VOWELS].map((vowel) => consonant + vowel));
const WORDS = Array.from({ length: VOCABULARY }, (_, index) => wordOf(index));

/** Different for every number: its digits are syllables. */
function wordOf(index: number): string {
  const rest = Math.floor(index / SYLLABLES.length);
  return `${rest === 0 ? "" : wordOf(rest)}${SYLLABLES[index % SYLLABLES.length]}`;
}

/** Numbers from 0 to 1 that look random and are the same in every run. */
function randomFrom(seed: number): () => number {
  let state = (seed + 1) * 0x9e3779b9;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
