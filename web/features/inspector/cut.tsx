import { Scissors } from "lucide-react";
import type { Manifest } from "../../../src/protocol/index.js";
import { count } from "../../ui/format.js";
import { Icon } from "../../ui/icon.js";
import { useHooks } from "./data.js";
import { useSectionText } from "./source.js";
import type { Row, Section, Told } from "./told.js";

/** What was cut of a row and by which limit, or nothing. */
export function Cut({ told, row }: { readonly told: Told; readonly row: Row }) {
  if (row.kind === "history") return <LeftOut manifest={told.manifest} />;
  if (!row.section || row.section.truncation === "none") return null;
  return <CutSection told={told} section={row.section} />;
}

function CutSection({ told, section }: { readonly told: Told; readonly section: Section }) {
  const words = useCutWords(told, section);
  return (
    <span className="snip">
      <Icon of={Scissors} size={12} />
      {words}
    </span>
  );
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

export function leftOutWords({ dropped = [], window }: Manifest): string {
  const [one, verb] = [`${count(dropped.length)} oldest`, "left out"];
  return `${one} ${verb}, context window ${count(window.context)}`;
}

function LeftOut({ manifest }: { readonly manifest: Manifest }) {
  if (!manifest.dropped?.length) return null;
  return (
    <span className="snip">
      <Icon of={Scissors} size={12} />
      {leftOutWords(manifest)}
    </span>
  );
}
