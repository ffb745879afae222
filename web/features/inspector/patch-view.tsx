interface PatchLine {
  readonly sign: "" | "−" | "+";
  readonly at: number | undefined;
  readonly text: string;
}

/** The lines of a unified diff, without its heads. */
function patchLines(patch: string): PatchLine[] {
  const lines: PatchLine[] = [];
  let [was, is] = [0, 0];
  let inside = false;
  for (const line of patch.split("\n")) {
    const head = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(line);
    if (head) {
      [was, is, inside] = [Number(head[1]), Number(head[2]), true];
    } else if (!inside || line === "" || line.startsWith("\\")) {
    } else if (line.startsWith("-")) {
      lines.push({ sign: "−", at: was++, text: line.slice(1) });
    } else if (line.startsWith("+")) {
      lines.push({ sign: "+", at: is++, text: line.slice(1) });
    } else {
      lines.push({ sign: "", at: is++, text: line.slice(1) });
      was++;
    }
  }
  return lines;
}

const CLASSES = { "": "", "−": "d", "+": "a" };

export function PatchView({ patch }: { readonly patch: string }) {
  return (
    <div className="diff patch" tabIndex={0} role="region" aria-label="First difference">
      {patchLines(patch).map(({ sign, at, text }, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines of a text have nothing else
        <div key={line} className={CLASSES[sign]}>
          <i>{at}</i>
          <s>{sign}</s>
          <span>{text}</span>
        </div>
      ))}
    </div>
  );
}
