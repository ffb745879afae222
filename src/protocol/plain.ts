/** What the page needs of these rules at run time, without the schema library. */

export const MAX_DOCUMENT_CHARS = 65_536;
export const MAX_NAME_CHARS = 255;

/** Number of Unicode code points: what every length limit of the protocol counts, whatever UTF-16 makes of it. */
export function countChars(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0xd800 && unit <= 0xdbff) {
      const next = text.charCodeAt(i + 1);
      if (next >= 0xdc00 && next <= 0xdfff) {
        count--;
        i++;
      }
    }
  }
  return count;
}

/** Text neither store could give back as it was: NUL (PostgreSQL refuses it, SQLite may cut there) or half a character. */
export function isStorableText(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}

/** The one form a document is kept, hashed and counted in: no leading BOM, line ends as LF, nothing else changed. */
export function normaliseText(text: string): string {
  return text.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n");
}
