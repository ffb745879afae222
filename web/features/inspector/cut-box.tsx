import { Scissors } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import type { ThreadRoute } from "../../state/router.js";
import { count } from "../../ui/format.js";
import { Icon } from "../../ui/icon.js";
import { visibleExactly } from "../../ui/markdown/visible.js";
import { isCutKept, splitAtCut, useCutWords } from "./cut.js";
import { useCutText, useLeftOut } from "./cut-text.js";
import { useSectionText } from "./source.js";
import type { Section, Told } from "./told.js";

interface CutBoxProps {
  readonly route: ThreadRoute;
  readonly told: Told;
  readonly section: Section;
  /** Somebody asked for it elsewhere: it is open and in view. */
  readonly opens?: boolean;
}

/** What was cut of a section, where it was, as far as it is kept. */
export function CutBox({ route, told, section, opens = false }: CutBoxProps) {
  const [open, toggle] = useOpened(opens);
  const words = useCutWords(told, section);
  const sent = useSectionText(told, section);
  const text = useCutText(route.ws, section, open ? sent : undefined);
  return (
    <>
      <Box
        words={`${words}.`}
        open={open}
        toggle={isCutKept(section) ? toggle : undefined}
        isWanted={opens}
      />
      {open && text !== undefined && (
        // The line end before it was cut with it: here it would be an empty line.
        <pre className="words cut-words">{visibleExactly(text.replace(/^\n/, ""))}</pre>
      )}
    </>
  );
}

function useOpened(opens: boolean): readonly [open: boolean, toggle: () => void] {
  const [open, setOpen] = useState(opens);
  useEffect(() => {
    if (opens) setOpen(true);
  }, [opens]);
  return [open, () => setOpen(!open)];
}

/** A section's text with such a box in it, if anything was cut. */
export function CutInto({ text, ...props }: CutBoxProps & { readonly text: string }) {
  if (props.section.truncation === "none") return text;
  const [before, after] = splitAtCut(text);
  return (
    <>
      {before}
      <CutBox {...props} />
      {after}
    </>
  );
}

/** Messages that had no room any more. */
export function LeftOutBox({ route, told, opens = false }: Omit<CutBoxProps, "section">) {
  const [open, toggle] = useOpened(opens);
  const { dropped = [], window } = told.manifest;
  const messages = useLeftOut(route, dropped, open);
  if (dropped.length === 0) return null;
  const words = `${count(dropped.length)} oldest messages, left out by the context window of ${count(window.context)}.`;
  return (
    <>
      <Box words={words} open={open} toggle={toggle} isWanted={opens} />
      {open && (
        <div className="diff wraps cut-words" aria-busy={messages === undefined}>
          <div className="diff-rows">
            {messages?.map(({ id, role, text }) => (
              <div key={id}>
                <i />
                <s />
                <span>
                  <span className="role">{role}</span> {visibleExactly(text)}
                </span>
              </div>
            ))}
          </div>
        </div>
      )}
    </>
  );
}

interface BoxProps {
  readonly words: string;
  readonly open: boolean;
  /** Undefined: nobody kept it. */
  readonly toggle: (() => void) | undefined;
  readonly isWanted: boolean;
}

function Box({ words, open, toggle, isWanted }: BoxProps) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isWanted) box.current?.scrollIntoView({ block: "center" });
  }, [isWanted]);
  return (
    <div ref={box} className="cutmark">
      <Icon of={Scissors} size={14} />
      <span className="grow">{words}</span>
      {toggle && (
        <button type="button" aria-expanded={open} onClick={toggle}>
          {open ? "Hide" : "Show"}
        </button>
      )}
    </div>
  );
}
