import { createHash } from "node:crypto";

/** Lowercase hex sha256 of bytes, or of the UTF-8 bytes of a text. */
export function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

/** Names bytes, or the UTF-8 bytes of a text, by their content. */
export function contentRef(data: string | Uint8Array): string {
  return `sha256:${sha256(data)}`;
}
