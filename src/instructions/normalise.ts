import { sha256 } from "../base/index.js";
import { countChars, MAX_DOCUMENT_CHARS, normaliseText } from "../protocol/index.js";
import { instructionsError } from "./errors.js";

export interface NormalContent {
  readonly content: string;
  readonly content_sha256: string;
  readonly char_count: number;
  /** Without text a document is a draft: shown, but never in effect. */
  readonly status: "draft" | "active";
}

export function normalise(given: string): NormalContent {
  return measure(normaliseText(given));
}

/** What is to be known of a content in that form. Taking the form again could change it: it may begin with another BOM. */
export function measure(content: string): NormalContent {
  const char_count = countChars(content);
  if (char_count > MAX_DOCUMENT_CHARS) {
    throw instructionsError(
      { kind: "agents_doc.too_long", char_count, limit: MAX_DOCUMENT_CHARS },
      `content has ${char_count} characters; the limit is ${MAX_DOCUMENT_CHARS}.`,
    );
  }
  const status = /\P{White_Space}/u.test(content) ? "active" : "draft";
  return { content, content_sha256: sha256(content), char_count, status };
}
