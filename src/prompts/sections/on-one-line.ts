/** Somebody else's text within a list: a line of it that begins with a dash would read as an entry of ours. */
export function onOneLine(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
}
