/** The beginning of a text: at most so many code points, however long the rest is. */
export function beginningOf(text: string, codePoints: number): string {
  if (text.length <= codePoints) return text;
  return [...text.slice(0, 2 * codePoints)].slice(0, codePoints).join("");
}
