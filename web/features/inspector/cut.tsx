import { Scissors } from "lucide-react";
import type { Manifest } from "../../../src/protocol/index.js";
import { count } from "../../ui/format.js";
import { Icon } from "../../ui/icon.js";
import { documentsOf } from "./compare.js";
import { useHooks } from "./data.js";
import { useSectionText } from "./source.js";
import type { Row, Section, Told } from "./told.js";

/** What was cut of a row and by which limit, or nothing. */
export function Cut({ told, row, show }: CutProps) {
  if (row.kind === "history") return <LeftOut manifest={told.manifest} show={show} />;
  if (!row.section || row.section.truncation === "none") return null;
  return <CutSection told={told} section={row.section} show={show} />;
}

interface CutProps {
  readonly told: Told;
  readonly row: Row;
  /** Leads to what was cut, where that can be shown. */
  readonly show?: (() => void) | undefined;
}

interface CutSectionProps extends Pick<CutProps, "told" | "show"> {
  readonly section: Section;
}

function CutSection({ told, section, show }: CutSectionProps) {
  const words = useCutWords(told, section);
  return <Snip words={words} show={isCutKept(section) ? show : undefined} />;
}

function Snip({ words, show }: { readonly words: string; readonly show: CutProps["show"] }) {
  return (
    <span className="snip">
      <Icon of={Scissors} size={12} />
      {words}
      {show && (
        <button type="button" className="link" onClick={show}>
          Show what was cut
        </button>
      )}
    </span>
  );
}

/** Kept with the run; of a document also where there is no run, by its version. */
export function isCutKept(section: Section): boolean {
  return section.source.cut_ref !== undefined || documentsOf(section).length > 0;
}

/** `1,212 characters cut, hook budget 4,000` */
export function useCutWords(told: Told, section: Section): string {
  const text = useSectionText(told, section);
  const { data: hooks } = useHooks(section.truncation === "hook");
  const missing = text === undefined ? undefined : cutIn(text);
  const budget = hooks?.find(({ hook_id }) => hook_id === section.source.hook_id)?.budget;
  const amount = missing === undefined ? "Cut" : `${count(missing)} characters cut`;
  if (section.truncation === "prompt") return `${amount}, prompt limit`;
  return budget === undefined ? `${amount}, hook budget` : `${amount}, hook budget ${count(budget)}`;
}

const MARK = /\n\[… (\d+) characters cut\]/g;

/** By the mark that stands where it was cut: the last one, since a text may hold the same words. */
export function cutIn(text: string): number | undefined {
  const found = [...text.matchAll(MARK)].at(-1)?.[1];
  return found === undefined ? undefined : Number(found);
}

/** Whether a line is such a mark. */
export function isCutMark(line: string): boolean {
  return /^\[… \d+ characters cut\]$/.test(line);
}

/** A text up to and with the mark, and what comes behind it. */
export function splitAtCut(text: string): readonly [before: string, after: string] {
  const mark = [...text.matchAll(MARK)].at(-1);
  const end = mark ? mark.index + mark[0].length : text.length;
  return [text.slice(0, end), text.slice(end)];
}

function leftOutWords({ dropped = [], window }: Manifest): string {
  const [one, verb] = [`${count(dropped.length)} oldest`, "left out"];
  return `${one} ${verb}, context window ${count(window.context)}`;
}

interface LeftOutProps extends Pick<CutProps, "show"> {
  readonly manifest: Manifest;
}

function LeftOut({ manifest, show }: LeftOutProps) {
  return manifest.dropped?.length ? <Snip words={leftOutWords(manifest)} show={show} /> : null;
}
