import { Check, Copy } from "lucide-react";
import { memo, useEffect, useState } from "react";
import { IconButton } from "../button.js";
import { count } from "../format.js";
import { useShowsAll } from "../sought.js";
import { Coloured } from "./coloured.js";
import { languageOf } from "./languages.js";

interface CodeBlockProps {
  readonly code: string;
  readonly language: string;
  /** More lines are coming. */
  readonly open?: boolean;
}

const SHOWN_LINES = 400;
const SHOWN_CHARS = 40_000;
const COPIED_MS = 1_500;

/** Code in its frame. The frame is there with the first fence and does not change when the last one comes. */
export const CodeBlock = memo(function CodeBlock({ code, language, open = false }: CodeBlockProps) {
  const [all, setAll] = useShowsAll(() => code.slice(beginningOf(code).length));
  const lines = code.split("\n").length;
  const cut = !all && (lines > SHOWN_LINES || code.length > SHOWN_CHARS);
  const shown = cut ? beginningOf(code) : code;
  return (
    <figure className="code">
      <figcaption>
        <span className="grow cut">{languageOf(language)?.name ?? language}</span>
        <CopyButton text={code} />
      </figcaption>
      <pre tabIndex={0}>
        <code>
          <Coloured code={shown} language={language} waits={open} />
        </code>
      </pre>
      {cut && (
        <button type="button" className="link code-all" onClick={() => setAll(true)}>
          Show all {count(lines)} lines
        </button>
      )}
    </figure>
  );
});

function beginningOf(code: string): string {
  return code.slice(0, SHOWN_CHARS).split("\n").slice(0, SHOWN_LINES).join("\n");
}

export function CopyButton({ text, label = "Copy" }: { readonly text: string; readonly label?: string }) {
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => setDone(false), COPIED_MS);
    return () => clearTimeout(timer);
  }, [done]);
  const copy = () => void navigator.clipboard.writeText(text).then(() => setDone(true));
  return <IconButton small icon={done ? Check : Copy} label={done ? "Copied" : label} onClick={copy} />;
}
