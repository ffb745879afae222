import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Row } from "./harness.js";
import { type EntryReport, ratioText, toJson, toMarkdown } from "./report.js";
import type { Spread } from "./statistics.js";

/** What a release measured. */
export interface Recorded {
  readonly version: string;
  readonly node: string;
  readonly entries: readonly EntryReport[];
}

/** A row whose ratio is worse than the record says, by more than both spreads explain. */
export interface Regression {
  readonly entry: string;
  readonly row: string;
  readonly was: Spread;
  readonly is: Spread;
}

/** Another machine has other ratios, within reason: what is worse by less than half may be the machine. */
const LEAST = 1.5;

/** Writes what was measured for a version, for programs and for people; what was not measured now stays. Answers the files. */
export function record(
  directory: string,
  version: string,
  measured: { quick: boolean; entries: readonly EntryReport[] },
): string[] {
  mkdirSync(directory, { recursive: true });
  const files = { json: join(directory, `${version}.json`), md: join(directory, `${version}.md`) };
  const before = existsSync(files.json) ? readRecord(files.json) : [];
  const isNew = ({ name }: EntryReport) => !before.some((entry) => entry.name === name);
  const now = (entry: EntryReport) => measured.entries.find(({ name }) => name === entry.name) ?? entry;
  const entries = [...before.map(now), ...measured.entries.filter(isNew)];
  writeFileSync(files.json, toJson(measured, entries));
  writeFileSync(files.md, toMarkdown(`Heddle ${version}`, measured, entries));
  return Object.values(files);
}

function readRecord(file: string): readonly EntryReport[] {
  return JSON.parse(readFileSync(file, "utf8")).entries;
}

/** The newest release's figures; undefined when none was recorded. */
export function newest(directory: string): Recorded | undefined {
  if (!existsSync(directory)) return undefined;
  const versions = readdirSync(directory)
    .filter((name) => name.endsWith(".json"))
    .map((name) => name.slice(0, -".json".length))
    .sort(byVersion);
  const version = versions.at(-1);
  if (version === undefined) return undefined;
  const { node, entries } = JSON.parse(readFileSync(join(directory, `${version}.json`), "utf8"));
  return { version, node, entries };
}

function byVersion(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}

/** Ratios of one line of Node say little about another: its drivers and its compiler are others. */
export function comparable({ node }: Recorded, here = process.version): boolean {
  const line = (version: string) => version.split(".")[0];
  return line(node) === line(here);
}

/** Every row that is in both, and worse now. */
export function regressions(recorded: Recorded, entries: readonly EntryReport[]): Regression[] {
  return entries.flatMap(({ name, rows }) => {
    const before = recorded.entries.find((entry) => entry.name === name)?.rows ?? [];
    return rows.flatMap((row) => {
      const was = before.find((other) => other.name === row.name)?.ratio;
      return was && row.ratio && isWorse(row, was, row.ratio)
        ? [{ entry: name, row: row.name, was, is: row.ratio }]
        : [];
    });
  });
}

/** Judged by the quartile that speaks for the new figure against the one that speaks against the old. */
function isWorse({ unit }: Row, was: Spread, is: Spread): boolean {
  const reach = Math.max(LEAST, was.q3 / was.q1);
  return unit === "/s" ? is.q3 < was.q1 / reach : is.q1 > was.q3 * reach;
}

/** What is said of them. */
export function worse(found: readonly Regression[], version: string): string {
  return found
    .map(
      ({ entry, row, was, is }) =>
        `slower than ${version}: ${entry}: ${row}: ${ratioText(is)}, was ${ratioText(was)}\n`,
    )
    .join("");
}
