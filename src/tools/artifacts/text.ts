import { z } from "zod";
import { countChars, isStorableText, normaliseText } from "../../protocol/index.js";
import { LIMITS } from "./limits.js";

/** Text that both stores give back as it was. */
function storable(most: number) {
  return z
    .string()
    .refine(isStorableText, {
      error: "contains a NUL character or half a character, which can't be stored",
      abort: true,
    })
    .refine((text) => countChars(text) <= most, { error: `must have at most ${most} characters` })
    .meta({ maxLength: most });
}

/** A text of several lines; line ends become LF. May be empty. */
export function longText(most: number) {
  return storable(most).overwrite(normaliseText);
}

/** A name on one line, without blanks around it. */
export function lineText(most: number) {
  return storable(most)
    .trim()
    .refine((text) => !/[\p{Cc}\u2028\u2029]/u.test(text), { error: "must stand on one line" })
    .refine((text) => text !== "", { error: "must not be empty" });
}

/** What a model names something by. Nothing longer is the name of anything. */
export const refText = storable(LIMITS.title)
  .trim()
  .refine((text) => text !== "", { error: "must not be empty" });

export const tagsText = z
  .array(lineText(LIMITS.tag))
  .max(LIMITS.tags, `at most ${LIMITS.tags} tags`)
  .overwrite((tags) => tags.filter((tag, at) => tags.findIndex((other) => fold(other) === fold(tag)) === at));

const SCHEMES = new Set(["http:", "https:", "mailto:"]);

/** Pages show it as a link: one that runs a script when it is followed must never get there. Empty: none. */
export const urlText = storable(LIMITS.url)
  .trim()
  .refine((text) => text === "" || SCHEMES.has(schemeOf(text)), {
    error: "must be an address with http, https or mailto",
  });

function schemeOf(text: string): string {
  return URL.canParse(text) && !/[\s\p{Cc}]/u.test(text) ? new URL(text).protocol : "";
}

/** How texts are compared in searches, the same on both stores. */
export function fold(text: string): string {
  return text.normalize("NFKC").toLowerCase().replaceAll("ς", "σ");
}

/** Finds a text anywhere within a folded one. */
export function containing(text: string): string {
  return `%${escaped(fold(text))}%`;
}

/** Finds a tag among those of `tagLines`. */
export function havingTag(tag: string): string {
  return `%\n${escaped(fold(tag))}\n%`;
}

export function tagLines(tags: readonly string[]): string {
  return tags.length === 0 ? "" : `\n${tags.map(fold).join("\n")}\n`;
}

export function searchText(...parts: readonly (string | null)[]): string {
  return parts
    .filter((part) => part !== null && part !== "")
    .map((part) => fold(part as string))
    .join("\n");
}

function escaped(text: string): string {
  return text.replace(/[\\%_]/g, "\\$&");
}
