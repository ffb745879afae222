import type { FileDiff } from "../../provider.js";
import type { Change } from "./protocol.js";

/**
 * What codex says of a changed file, as texts: a new or a deleted file whole, one that was changed as a text for each place
 * in it, with the lines around.
 */
export function diffsOf(changes: readonly Change[]): FileDiff[] {
  return changes.flatMap(({ path, kind, diff }) => {
    if (kind.type === "add") return [{ path, oldText: "", newText: diff }];
    if (kind.type === "delete") return [{ path, oldText: diff, newText: "" }];
    return hunksOf(diff).map((lines) => ({
      path: kind.move_path ?? path,
      oldText: side(lines, "-"),
      newText: side(lines, "+"),
    }));
  });
}

/** The lines of each hunk, without its header. */
function hunksOf(diff: string): string[][] {
  const hunks: string[][] = [];
  for (const line of diff.replace(/\n$/, "").split("\n")) {
    if (/^@@ .*@@/.test(line)) hunks.push([]);
    else hunks.at(-1)?.push(line);
  }
  return hunks;
}

function side(lines: readonly string[], sign: "-" | "+"): string {
  let text = "";
  for (const [index, line] of lines.entries()) {
    const first = line.charAt(0);
    if (first !== sign && first !== " " && line !== "") continue;
    // "\ No newline at end of file" stands below the line that it is about.
    text += lines[index + 1]?.startsWith("\\") ? line.slice(1) : `${line.slice(1)}\n`;
  }
  return text;
}
