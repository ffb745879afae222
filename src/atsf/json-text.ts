import { applyEdits, type JSONPath, modify } from "jsonc-parser";

/** A value at a path; undefined removes it. */
export interface JsonChange {
  readonly path: JSONPath;
  readonly value: unknown;
}

const FORMAT = { formattingOptions: { insertSpaces: true, tabSize: 2 } };

/**
 * Changes values in a JSON text and leaves every other byte as it is: the order of keys, numbers that a program could not
 * hold, and fields of other programs survive.
 */
export function changeJson(text: string, changes: readonly JsonChange[]): string {
  return changes.reduce((so, { path, value }) => applyEdits(so, modify(so, path, value, FORMAT)), text);
}
