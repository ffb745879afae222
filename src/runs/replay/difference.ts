import { createTwoFilesPatch } from "diff";
import { canonicalJson } from "../../base/index.js";
import type { ReplayResult } from "../../protocol/index.js";

/** Where a record and what was made of it again are not the same. */
export type Difference = NonNullable<ReplayResult["first_difference"]>;

export function difference(
  check: Difference["check"],
  where: string,
  message: string,
  diff?: string,
): Difference {
  return { check, where, message, ...(diff !== undefined && { diff }) };
}

/** Keys in one order: two values that say the same must not differ by how they were made. */
export function diffOf(recorded: object, replayed: object): string {
  const text = (value: object) => `${JSON.stringify(JSON.parse(canonicalJson(value)), null, 2)}\n`;
  return createTwoFilesPatch("recorded", "replayed", text(recorded), text(replayed), "", "", { context: 2 });
}

/** What a blob holds; undefined when it is not there or no JSON any more. */
export function parsed<T>(content: Uint8Array | undefined): T | undefined {
  try {
    return content && (JSON.parse(Buffer.from(content).toString()) as T);
  } catch {
    return undefined;
  }
}

export function hashOf(ref: string): string {
  return ref.slice("sha256:".length);
}
