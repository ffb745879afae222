import { languageOf } from "./languages.js";

/** A piece of a line; `kind` is the class that colours it. */
export interface Span {
  readonly text: string;
  readonly kind?: string | undefined;
}
export type Line = readonly Span[];

const KINDS: Readonly<Record<string, string>> = {
  keyword: "k",
  string: "q",
  "string-expression": "q",
  function: "f",
  comment: "c",
  constant: "z",
};

/** Longer ones stay in ink: colours are not worth a page that hangs. */
const MOST_CHARS = 40_000;
const LONGEST_LINE = 1_000;
const LINES_AT_ONCE = 24;
const KEPT = 200;

const known = new Map<string, readonly Line[]>();
let core: Promise<Core> | undefined;
type Core = Awaited<ReturnType<typeof makeCore>>;

async function makeCore() {
  const [{ createHighlighterCore, createCssVariablesTheme }, { createJavaScriptRegexEngine }] =
    await Promise.all([import("shiki/core"), import("shiki/engine/javascript")]);
  const theme = createCssVariablesTheme({ name: "heddle", variablePrefix: "--shiki-" });
  const engine = createJavaScriptRegexEngine({ forgiving: true });
  return createHighlighterCore({ themes: [theme], langs: [], engine });
}

/** The lines of a text in their colours; undefined where they have none. A few lines at a time: scrolling comes first. */
export async function colour(
  code: string,
  name: string,
  signal: AbortSignal,
): Promise<readonly Line[] | undefined> {
  const language = languageOf(name);
  if (!language || code.length > MOST_CHARS) return undefined;
  const key = `${language.id}\n${code}`;
  const before = known.get(key);
  if (before) return before;
  core ??= makeCore();
  const highlighter = await core;
  if (!highlighter.getLoadedLanguages().includes(language.id))
    await highlighter.loadLanguage((await language.load()).default as never);
  const lines = await inPieces(highlighter, code.split("\n"), language.id, signal);
  if (!lines) return undefined;
  known.set(key, lines);
  if (known.size > KEPT) known.delete(known.keys().next().value as string);
  return lines;
}

async function inPieces(
  highlighter: Core,
  lines: readonly string[],
  lang: string,
  signal: AbortSignal,
): Promise<Line[] | undefined> {
  const done: Line[] = [];
  let grammarState: ReturnType<Core["getLastGrammarState"]> | undefined;
  for (let at = 0; at < lines.length; at += LINES_AT_ONCE) {
    await pause();
    if (signal.aborted) return undefined;
    const piece = lines.slice(at, at + LINES_AT_ONCE).join("\n");
    const { tokens, grammarState: next } = highlighter.codeToTokens(piece, {
      lang,
      theme: "heddle",
      tokenizeMaxLineLength: LONGEST_LINE,
      ...(grammarState && { grammarState }),
    });
    grammarState = next;
    done.push(
      ...tokens.map((line) =>
        line.map(({ content, color }) => ({ text: content, kind: kindOf(color, content) })),
      ),
    );
  }
  return done;
}

/** The theme calls every name of a thing a constant; only what is one gets its colour. */
const CONSTANT = /^\s*(-?\d|true\b|false\b|null\b|undefined\b|None\b|True\b|False\b|nil\b|[A-Z][A-Z\d_]+$)/;

function kindOf(color: string | undefined, text: string): string | undefined {
  const name = /--shiki-token-([a-z-]+)/.exec(color ?? "")?.[1];
  if (name === undefined || (name === "constant" && !CONSTANT.test(text))) return undefined;
  return KINDS[name];
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
