/** What stands before a message: what the person had open and selected (002). */
export interface ContextLine {
  /** The line as it was sent: `<context … />`. */
  readonly raw: string;
  readonly attributes: ReadonlyMap<string, string>;
}

/** In the order in which they are written: the same thing shown gives the same bytes. */
const NAMES = [
  "panel-id",
  "panel-type",
  "panel-title",
  "type",
  "id",
  "name",
  "view-name",
  "view-query",
  "selection",
  "mode",
] as const;

export type ContextName = (typeof NAMES)[number];

/** The line of these attributes; undefined where none has a value. */
export function writeContextLine(
  given: { readonly [K in ContextName]?: string | undefined },
): string | undefined {
  const written = NAMES.flatMap((name) => {
    const value = given[name];
    return value ? [`${name}="${escaped(value)}"`] : [];
  });
  return written.length === 0 ? undefined : `<context ${written.join(" ")} />`;
}

/** A line with a break in it is two, and the second would be read as what the person wrote. */
const SPECIAL = /[&"<>\p{Cc}\u2028\u2029]/gu;
const ENTITIES: Record<string, string> = { "&": "&amp;", '"': "&quot;", "<": "&lt;", ">": "&gt;" };
const CHARACTERS = new Map(Object.entries(ENTITIES).map(([character, entity]) => [entity, character]));

function escaped(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(SPECIAL, (character) => ENTITIES[character] ?? `&#${character.codePointAt(0)};`);
}

function unescaped(text: string): string {
  return text.replaceAll(/&(?:amp|quot|lt|gt|#(\d{1,7}));/g, (entity, code: string | undefined) => {
    if (code === undefined) return CHARACTERS.get(entity) ?? entity;
    return Number(code) <= 0x10ffff ? String.fromCodePoint(Number(code)) : entity;
  });
}

const LINE = /^<context((?: [a-z-]+="[^"<>\n]*")+) \/>(?:\r?\n|$)/;
const ATTRIBUTE = / ([a-z-]+)="([^"]*)"/g;
const KNOWN: ReadonlySet<string> = new Set(NAMES);

/**
 * A message's text apart from the context line it begins with. Anything that is not wholly such a line is the person's own text:
 * what somebody pasted must never be taken out of what they said.
 */
export function splitContextLine(text: string): { readonly line?: ContextLine; readonly text: string } {
  const found = LINE.exec(text);
  if (!found) return { text };
  const [whole, inner = ""] = found;
  const pairs = [...inner.matchAll(ATTRIBUTE)].map(
    ([, name = "", value = ""]) => [name, unescaped(value)] as const,
  );
  const attributes = new Map(pairs);
  const ours = pairs.every(([name]) => KNOWN.has(name)) && attributes.size === pairs.length;
  if (!ours || !(attributes.has("panel-id") || attributes.has("mode"))) return { text };
  return { line: { raw: whole.trimEnd(), attributes }, text: text.slice(whole.length) };
}
