import { useEffect, useState } from "react";
import { colour, type Line } from "./highlight.js";
import { languageOf } from "./languages.js";

interface ColouredProps {
  readonly code: string;
  readonly language: string;
  /** Not yet: it is still being written. */
  readonly waits?: boolean;
}

/** Code in its language's colours, once they are known. Until then it stands there in ink, in the same place. */
export function Coloured({ code, language, waits = false }: ColouredProps) {
  const lines = useLines(code, language, waits);
  if (!lines) return code;
  return lines.map((line, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a line of a fixed text is known by its number
    <span key={at}>
      {at > 0 && "\n"}
      <Spans line={line} />
    </span>
  ));
}

export function Spans({ line }: { readonly line: Line }) {
  return line.map(({ text, kind }, at) =>
    kind === undefined ? (
      text
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: a piece of a fixed line is known by its number
      <span key={at} className={kind}>
        {text}
      </span>
    ),
  );
}

/** The lines of a text in their colours; undefined until they are known, or where nobody knows the language. */
export function useLines(code: string, language: string, waits = false): readonly Line[] | undefined {
  const [known, setKnown] = useState<{ readonly code: string; readonly lines: readonly Line[] }>();
  useEffect(() => {
    if (waits || languageOf(language) === undefined) return;
    const stop = new AbortController();
    colour(code, language, stop.signal).then(
      (lines) => lines && !stop.signal.aborted && setKnown({ code, lines }),
      () => {},
    );
    return () => stop.abort();
  }, [code, language, waits]);
  return known?.code === code ? known.lines : undefined;
}
