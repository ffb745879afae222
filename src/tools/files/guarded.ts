import { sep } from "node:path";

const GUARDED = new Set([".git", ".agent"]);

/** Whether a path, relative to the tool's directory, is or lies in what no tool touches: git's own, or Heddle's threads. */
export function isGuarded(below: string): boolean {
  return below.split(sep).some((name) => GUARDED.has(folded(name)));
}

/** As the laxest file system compares names: without letter case, width, characters nobody sees, or dots at the end. */
function folded(name: string): string {
  return name
    .normalize("NFKC")
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
    .replace(/[. ]+$/, "")
    .toLowerCase();
}
