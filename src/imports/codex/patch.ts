/** The two sides of a unified diff: what its hunks show, without what lies between them. */
export function textsOfPatch(patch: string): { readonly oldText: string; readonly newText: string } {
  const [before, after]: string[][] = [[], []];
  let within = false;
  for (const line of patch.split("\n")) {
    if (line.startsWith("@@")) within = true;
    else if (within && line[0] === "-") before?.push(line.slice(1));
    else if (within && line[0] === "+") after?.push(line.slice(1));
    else if (within && line[0] === " ") {
      before?.push(line.slice(1));
      after?.push(line.slice(1));
    }
  }
  const text = (lines: readonly string[] = []) => lines.map((line) => `${line}\n`).join("");
  return { oldText: text(before), newText: text(after) };
}
