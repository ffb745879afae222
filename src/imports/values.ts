import { isAbsolute } from "node:path";
import type { Lossy } from "./session.js";

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

/** Where an agent worked. A relative path would be one of the gateway's own directory, and says nothing. */
export function directoryOf(value: unknown): string | undefined {
  const path = textOf(value);
  return path !== undefined && isAbsolute(path) ? path : undefined;
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** ISO 8601 in UTC, out of such a text or of unix milliseconds. Years of five digits or below 0 are none of the format. */
export function timeOf(value: unknown): string | undefined {
  const usable = typeof value === "string" || numberOf(value) !== undefined;
  const at = usable ? new Date(value as string | number) : undefined;
  const year = at?.getUTCFullYear() ?? Number.NaN;
  return year >= 0 && year <= 9999 ? at?.toISOString() : undefined;
}

const TOO_DEEP = "[nested too deep to be imported]";

/** JSON as it would be read by people; undefined for what has none. What is read at any depth can't be written at any. */
export function jsonText(value: unknown, lossy: Lossy): string | undefined {
  if (value === undefined || typeof value === "string") return value;
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    lossy.add("values that are nested too deep");
    return TOO_DEEP;
  }
}

/** A word to compare with or to show. An object may claim to have a text of its own, and have none: it is no word. */
export function wordOf(value: unknown): string {
  return typeof value === "object" || typeof value === "function" ? "" : String(value);
}

/** The same as a name of a kind. */
export function kindOf(value: unknown): string {
  return wordOf(value).slice(0, LONGEST_KIND).toWellFormed();
}

const LONGEST_KIND = 40;
