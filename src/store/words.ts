const MAX_WORD_LENGTH = 64;

/** What a message may put into the index. PostgreSQL numbers the bytes of one message's words with 20 bits. */
const MAX_BYTES = 512 * 1024;

/** Scripts written without spaces: a run of them has no words that could be told apart without a dictionary. */
const SPACELESS =
  "[\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}\\u30FC]";

/** Letters and digits with the marks on them; a change between spaced and spaceless scripts ends a run. */
const RUN = new RegExp(
  `(?<spaceless>(?:(?=${SPACELESS})[\\p{L}\\p{N}]\\p{M}*)+)|(?:(?!${SPACELESS})[\\p{L}\\p{N}]\\p{M}*)+`,
  "gu",
);

/** Joiners, variation selectors, soft hyphens: nobody types them in a search. A space of no width still parts words. */
const IGNORABLE = /(?!\u200B)\p{Default_Ignorable_Code_Point}/gu;

const CASE_CHANGE = /(?<=[\p{Ll}\p{N}]\p{M}*)(?=\p{Lu})|(?<=\p{Lu}\p{M}*)(?=\p{Lu}\p{M}*\p{Ll})/u;

/** The words by which a message is found, each once. Of a message beyond all measure the first ones. */
export function wordsOf(text: string): string[] {
  const words = new Set<string>();
  let room = MAX_BYTES;
  for (const part of PLAIN.test(text) ? plainParts(text) : partsOf(text)) {
    if (words.has(part)) continue;
    room -= Buffer.byteLength(part);
    if (room < 0) return [...words];
    words.add(part);
  }
  return [...words];
}

/** Text in which nothing is another form of something else: most of what is said. The rules of Unicode take twice as long. */
const PLAIN = /^[ -~\t\n\r]*$/;
const PLAIN_RUN = /[A-Za-z0-9]+/g;
const PLAIN_CHANGE = /(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/;

/** What `partsOf` gives for it. */
function* plainParts(text: string): Generator<string> {
  for (const run of text.match(PLAIN_RUN) ?? []) {
    const word = run.slice(0, MAX_WORD_LENGTH);
    const folded = word.toLowerCase();
    yield folded;
    if (folded === word) continue;
    const parts = word.split(PLAIN_CHANGE);
    if (parts.length > 1) for (const part of parts) yield part.toLowerCase();
  }
}

function* partsOf(text: string): Generator<string> {
  for (const { word, spaceless } of runsOf(text)) yield* spaceless ? pairsAndLast(word) : wholeAndParts(word);
}

/** What a query asks for: each of these has to begin one of a message's words. */
export function searchTerms(query: string): string[] {
  const terms = new Set<string>();
  for (const { word, spaceless } of runsOf(query)) {
    for (const term of spaceless ? pairs(word) : [fold(word)]) terms.add(term);
  }
  return [...terms];
}

/** Whether a text can begin a word at all. Databases would each make something else of one that can't. */
export function isTerm(text: string): boolean {
  return /^[\p{L}\p{N}\p{M}]+$/u.test(text) && fold(text) === text;
}

interface Run {
  readonly word: string;
  readonly spaceless: boolean;
}

function* runsOf(text: string): Generator<Run> {
  const plain = text.replace(IGNORABLE, "").normalize("NFKC");
  for (const { 0: word, groups } of plain.matchAll(RUN))
    yield { word, spaceless: groups?.spaceless !== undefined };
}

/** Also `get`, `user` and `name` of `getUserName`. */
function wholeAndParts(word: string): string[] {
  const short = cut(word);
  const parts = short.split(CASE_CHANGE);
  return parts.length === 1 ? [fold(short)] : [short, ...parts].map(fold);
}

/** With the last character on its own, every character of the run begins something. */
function pairsAndLast(run: string): string[] {
  const last = [...run].at(-1) ?? run;
  return [...new Set([...pairs(run), last])];
}

function pairs(run: string): string[] {
  const characters = [...run];
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, n) => `${characters[n]}${character}`);
}

/** Lower case leaves two small sigmas, by their place in a word; the beginning of a word must not depend on its end. */
function fold(word: string): string {
  return cut(word.toLowerCase().replaceAll("ς", "σ").normalize("NFKC"));
}

function cut(word: string): string {
  if (word.length <= MAX_WORD_LENGTH) return word;
  return [...word.slice(0, 2 * MAX_WORD_LENGTH)].slice(0, MAX_WORD_LENGTH).join("");
}
