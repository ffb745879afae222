import { hash } from "node:crypto";

/** Lowercase hex sha256 of bytes, or of the UTF-8 bytes of a text. */
export function sha256(data: string | Uint8Array): string {
  return hash("sha256", data, "hex");
}

/** Names bytes, or the UTF-8 bytes of a text, by their content. */
export function contentRef(data: string | Uint8Array): string {
  return `sha256:${sha256(data)}`;
}

/** JSON with every object's keys in order: equal values give equal bytes, whoever built them. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(ordered(value));
}

function ordered(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(ordered);
  const { toJSON } = value as { toJSON?: unknown };
  // What says itself how it is written says it to JSON.stringify in the end.
  if (typeof toJSON === "function") return ordered(toJSON.call(value));
  // Without a prototype, a key like `__proto__` is a key like any other.
  const copy: Record<string, unknown> = Object.create(null);
  for (const key of Object.keys(value).sort()) copy[key] = ordered((value as Record<string, unknown>)[key]);
  return copy;
}
