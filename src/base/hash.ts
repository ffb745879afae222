import { createHash } from "node:crypto";

/** Lowercase hex sha256 of the UTF-8 bytes of a text. */
export function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}
