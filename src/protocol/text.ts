import { z } from "zod";

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

const invalidText = { kind: "invalid_text" };

/** Any text that can be stored and read back unchanged. */
export const plainText = z.string().refine(isStorableText, {
  error: "contains a NUL character or a lone surrogate, which can't be stored",
  params: invalidText,
  abort: true,
});

/** The name of a workspace, folder or client, or the title of a thread. */
export const nameText = plainText
  .refine((text) => !/\p{Cc}/u.test(text), {
    error: "contains a control character (a line break or tab, for example)",
    params: invalidText,
    abort: true,
  })
  .refine((text) => text.length > 0 && countChars(text) <= MAX_NAME_CHARS, {
    error: `must have 1 to ${MAX_NAME_CHARS} characters`,
  })
  .meta({ minLength: 1, maxLength: MAX_NAME_CHARS });

/** A param that may be left out; `null` means the same, for clients that always write every field. */
export function optionalParam<T extends z.ZodType>(schema: T) {
  return schema.nullish().transform((value) => value ?? undefined);
}
