/** A title as search compares it: the same on both stores, whatever they know of letters. */
export function foldTitle(title: string): string {
  return title.normalize("NFKC").toLowerCase();
}

/** Changes the given keys of a JSON object kept as text; `null` clears one. An object without keys is kept as null. */
export function mergeJson(
  stored: string | null,
  changes: Record<string, unknown> | undefined,
): string | null {
  if (!changes) return stored;
  const merged: Record<string, unknown> = { ...(stored === null ? {} : JSON.parse(stored)), ...changes };
  for (const [key, value] of Object.entries(merged))
    if (value === null || value === undefined) delete merged[key];
  return Object.keys(merged).length === 0 ? null : JSON.stringify(merged);
}
