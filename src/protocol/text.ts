import { z } from "zod";
import { countChars, isStorableText, MAX_NAME_CHARS } from "./plain.js";

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
