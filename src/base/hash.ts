import { createHash } from "node:crypto";

/** Lowercase hex sha256 of bytes, or of the UTF-8 bytes of a text. */
export function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

/** Names bytes, or the UTF-8 bytes of a text, by their content. */
export function contentRef(data: string | Uint8Array): string {
  return `sha256:${sha256(data)}`;
}

/** JSON with every object's keys in order: equal values give equal bytes, whoever built them. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => (isPlain(inner) ? sorted(inner) : inner));
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function sorted(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, value[key]]),
  );
}
