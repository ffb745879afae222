/** Sessions are written by other programs, in versions nobody has listed: every value is looked at before it is used. */

export type Json = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An object, or one without anything in it. */
export function objectOf(value: unknown): Json {
  return isObject(value) ? value : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** ISO 8601 in UTC, out of such a text or of unix milliseconds. */
export function timeOf(value: unknown): string | undefined {
  const usable = typeof value === "string" || numberOf(value) !== undefined;
  const at = usable ? new Date(value as string | number) : undefined;
  return at && !Number.isNaN(at.getTime()) ? at.toISOString() : undefined;
}

/** JSON as it would be read by people; undefined for what has none. */
export function jsonText(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** A word to compare with or to show. An object may claim to have a text of its own, and have none: it is no word. */
export function wordOf(value: unknown): string {
  return typeof value === "object" || typeof value === "function" ? "" : String(value);
}
