import type { Run } from "../../../protocol/index.js";
import { count, paint, visible } from "../../output.js";
import type { Comparison, SectionChange } from "./compare.js";
import { diffLines } from "./diff-text.js";

/** What is other than in the run before, section by section. */
export function comparisonLines(run: Run, comparison: Comparison | undefined): string[] {
  if (!comparison) return [`Run ${run.number} is the first of its thread: there is none to compare it with.`];
  const { before, settings, sections, tools, history } = comparison;
  return [
    `${paint.bold(`Run ${run.number} against run ${before.number}`)}  ${paint.dim(run.id)}`,
    ...settings.map(({ name, before: was, now }) => `${visible(name)}: ${visible(was)} → ${visible(now)}`),
    ...sections.map(
      (section) => `${MARKS[section.change]}  ${visible(section.title)}  ${paint.dim(visible(section.id))}`,
    ),
    ...toolLines(tools),
    historyLine(history),
    ...sections.flatMap(changeLines),
  ];
}

const MARKS: Readonly<Record<SectionChange["change"], string>> = {
  same: paint.dim("same   "),
  changed: paint.yellow("changed"),
  new: paint.green("new    "),
  gone: paint.red("gone   "),
};

function toolLines({ added, removed }: Comparison["tools"]): string[] {
  const lines = [
    ...(added.length > 0 ? [`offered now: ${added.map(visible).join(", ")}`] : []),
    ...(removed.length > 0 ? [`no longer offered: ${removed.map(visible).join(", ")}`] : []),
  ];
  return lines.length === 0 ? ["tools: the same"] : lines.map((line) => `tools ${line}`);
}

function historyLine({ same, added, removed }: Comparison["history"]): string {
  const parts = [
    `the same ${count(same, "message")}`,
    ...(added > 0 ? [`then ${added} new`] : []),
    ...(removed > 0 ? [`${removed} gone`] : []),
  ];
  return `history: ${parts.join(", ")}`;
}

function changeLines({ title, diff }: SectionChange): string[] {
  return diff === undefined ? [] : ["", paint.bold(visible(title)), ...diffLines(diff)];
}
