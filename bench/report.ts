import type { Entry, Row, Unit } from "./harness.js";
import type { Spread, Target } from "./statistics.js";

export interface EntryReport {
  readonly name: string;
  readonly title: string;
  readonly rows: readonly Row[];
  /** What could not be measured, and why. */
  readonly leftOut?: readonly string[];
}

const COLUMNS = ["", "median [quartiles]", "baseline", "ratio [quartiles]", "target", ""];

/** The rows of an entry as a table for a person, and what is not among them. */
export function table(
  { title }: Pick<Entry, "title">,
  rows: readonly Row[],
  leftOut: readonly string[] = [],
): string {
  const cells = [COLUMNS, ...rows.map(cellsOf)];
  const widths = COLUMNS.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)));
  const lines = cells.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  const missing = leftOut.map((why) => `not measured: ${why}`);
  const told = [...(rows.length > 0 ? lines : []), ...missing];
  return `${title}\n${told.map((line) => `  ${line}`).join("\n")}\n`;
}

function cellsOf({ name, unit, value, baseline, ratio, target, verdict }: Row): string[] {
  return [
    name,
    `${amount(value.median, unit)} [${number(value.q1)}..${number(value.q3)}]`,
    baseline ? `${amount(baseline.value.median, unit)} ${baseline.name}` : "",
    ratio ? ratioText(ratio) : "",
    target ? limitOf(target, unit) : "",
    verdict?.text ?? "",
  ];
}

function limitOf(target: Target, unit: Unit): string {
  const [sign, limit] = "atMost" in target ? ["<=", target.atMost] : [">=", target.atLeast];
  return `${sign} ${target.of === "ratio" ? `${limit} x` : amount(limit, unit)}`;
}

/** A ratio with its spread. */
export function ratioText(ratio: Spread): string {
  return `${number(ratio.median)} x [${range(ratio)}]`;
}

function range({ q1, q3 }: Spread): string {
  return `${number(q1)}..${number(q3)}`;
}

function amount(value: number, unit: Unit): string {
  return unit === "/s" ? `${number(value)}/s` : `${number(value)} ${unit}`;
}

/** Three digits that count. */
function number(value: number): string {
  if (value >= 100) return String(Math.round(value));
  return value.toFixed(value >= 10 ? 1 : value >= 1 ? 2 : 3);
}

export function toJson(options: { quick: boolean }, entries: readonly EntryReport[]): string {
  return `${JSON.stringify({ format: 1, quick: options.quick, node: process.version, entries }, null, 2)}\n`;
}

/** The same figures as a document: what a release keeps of what it measured. */
export function toMarkdown(
  title: string,
  options: { quick: boolean },
  entries: readonly EntryReport[],
): string {
  const how = `Node ${process.version}, ${process.platform} ${process.arch}${options.quick ? ", quick" : ""}.`;
  const parts = entries.map(({ title, rows, leftOut = [] }) => {
    const lines = rows.map((row) => `| ${cellsOf(row).join(" | ")} |`);
    const head = `| ${COLUMNS.join(" | ")} |\n|${" --- |".repeat(COLUMNS.length)}`;
    const missing = leftOut.map((why) => `\nNot measured: ${why}.`);
    return [`## ${title}\n`, ...(rows.length > 0 ? [head, ...lines] : []), ...missing].join("\n");
  });
  return `# ${title}\n\n${how}\n\n${parts.join("\n\n")}\n`;
}

export function misses(entries: readonly EntryReport[]): string[] {
  return entries.flatMap(({ name, rows }) =>
    rows.filter((row) => row.verdict?.met === false).map((row) => `${name}: ${row.name}`),
  );
}

/** What is said at the end: targets that were missed, and what nobody knows because it was not measured. */
export function closing(entries: readonly EntryReport[]): string {
  const missed = misses(entries);
  const unknown = entries.flatMap(({ name, leftOut = [] }) => leftOut.map((why) => `${name}: ${why}`));
  const met = unknown.length === 0 ? "every target met" : "every target that was measured is met";
  return [
    missed.length === 0 ? met : `missed: ${missed.join("; ")}`,
    ...(unknown.length === 0 ? [] : [`not measured: ${unknown.join("; ")}`]),
  ]
    .map((line) => `${line}\n`)
    .join("");
}
