import { paint, visible } from "../../output.js";

/** A unified diff for people. What it compares may hold anything: nothing in it steers the terminal. */
export function diffLines(diff: string): string[] {
  const lines = diff.replace(/\n$/, "").split("\n");
  return lines
    .filter((line) => !/^=+$/.test(line))
    .map((line) => paintLine(line.replace(/[^\t]+/g, visible)));
}

function paintLine(line: string): string {
  if (/^(\+\+\+|---) /.test(line)) return paint.bold(line.trimEnd());
  if (line.startsWith("@@")) return paint.cyan(line);
  if (line.startsWith("+")) return paint.green(line);
  return line.startsWith("-") ? paint.red(line) : line;
}
