import { paint, visible } from "../../output.js";

/** Characters that are not seen, or turn the order of others around, are shown by their numbers. */
export function plainly(text: string): string {
  const hidden = /\p{Cf}|\p{Zl}|\p{Zp}/gu;
  return visible(text).replace(hidden, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`);
}

export function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [paint.dim(title), ...lines.map((line) => `  ${line}`)];
}
