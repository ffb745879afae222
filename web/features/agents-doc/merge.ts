import { diffIndices } from "node-diff3";
import type { Choice, Choices } from "./doc-state.js";

/** A stretch of the document, top to bottom: what each side has there, in lines. */
export interface Region {
  /** `agreed`: both made the same change. `overlap`: somebody has to decide. */
  readonly kind: "same" | "mine" | "theirs" | "agreed" | "overlap";
  readonly base: readonly string[];
  readonly mine: readonly string[];
  readonly theirs: readonly string[];
  /** The same for the same stretch when the other side changes elsewhere: a choice made stays made. */
  readonly key: string;
}

interface Hunk {
  readonly side: "mine" | "theirs";
  /** Lines of the base that are replaced, and of the side that replace them. */
  readonly start: number;
  readonly end: number;
  readonly from: number;
  readonly to: number;
}

/** Three texts as stretches: what only one side changed is merged already, what both changed is an overlap. */
export function regionsOf(base: string, mine: string, theirs: string): Region[] {
  const lines = { base: base.split("\n"), mine: mine.split("\n"), theirs: theirs.split("\n") };
  const hunks = [
    ...hunksOf("mine", lines.base, lines.mine),
    ...hunksOf("theirs", lines.base, lines.theirs),
  ].sort((a, b) => a.start - b.start || a.end - b.end);
  const regions: Region[] = [];
  const seen = new Map<string, number>();
  const add = (region: Omit<Region, "key">) => {
    const text = `${region.kind}\n${region.base.join("\n")}\n\0${region.mine.join("\n")}\n\0${region.theirs.join("\n")}`;
    const times = seen.get(text) ?? 0;
    seen.set(text, times + 1);
    regions.push({ ...region, key: `${times}${text}` });
  };
  const same = (from: number, to: number) => {
    const part = lines.base.slice(from, to);
    if (part.length > 0) add({ kind: "same", base: part, mine: part, theirs: part });
  };
  let at = 0;
  for (const group of grouped(hunks)) {
    same(at, group.start);
    add(changed(lines, group));
    at = group.end;
  }
  same(at, lines.base.length);
  return regions;
}

function hunksOf(side: Hunk["side"], base: string[], other: string[]): Hunk[] {
  return diffIndices(base, other).map(({ buffer1, buffer2 }) => {
    const [start, length] = buffer1;
    const [from, count] = buffer2;
    return { side, start, end: start + length, from, to: from + count };
  });
}

interface Group {
  start: number;
  end: number;
  readonly hunks: Hunk[];
}

/** Changes that touch the same or adjoining lines belong together. */
function grouped(hunks: readonly Hunk[]): Group[] {
  const groups: Group[] = [];
  for (const hunk of hunks) {
    const last = groups.at(-1);
    if (last && hunk.start <= last.end) {
      last.hunks.push(hunk);
      last.end = Math.max(last.end, hunk.end);
    } else groups.push({ start: hunk.start, end: hunk.end, hunks: [hunk] });
  }
  return groups;
}

type Lines = Record<"base" | "mine" | "theirs", readonly string[]>;

function changed(lines: Lines, group: Group): Omit<Region, "key"> {
  const base = lines.base.slice(group.start, group.end);
  const part = (side: Hunk["side"]) => {
    const own = group.hunks.filter((hunk) => hunk.side === side);
    const [first, last] = [own[0], own.at(-1)];
    if (!first || !last) return base;
    return lines[side].slice(first.from - (first.start - group.start), last.to + (group.end - last.end));
  };
  const [mine, theirs] = [part("mine"), part("theirs")];
  return { kind: kindOf(group, mine.join("\n") === theirs.join("\n")), base, mine, theirs };
}

function kindOf({ hunks }: Group, equal: boolean): Region["kind"] {
  if (equal) return "agreed";
  if (hunks.every(({ side }) => side === "mine")) return "mine";
  return hunks.every(({ side }) => side === "theirs") ? "theirs" : "overlap";
}

/** What stands in the merged text for a region, by whose lines they are. Undecided, both are shown. */
export function mergedLines(
  region: Region,
  choice: Choice | undefined,
): { line: string; by?: "mine" | "theirs" }[] {
  if (typeof choice === "object")
    return choice.text === "" ? [] : choice.text.split("\n").map((line) => ({ line }));
  const mine = region.mine.map((line) => ({ line, by: "mine" as const }));
  const theirs = region.theirs.map((line) => ({ line, by: "theirs" as const }));
  if (region.kind === "same" || region.kind === "agreed") return region.mine.map((line) => ({ line }));
  if (region.kind !== "overlap") return region.kind === "mine" ? mine : theirs;
  if (choice === "mine") return mine;
  return choice === "theirs" ? theirs : [...mine, ...theirs];
}

export function undecided(regions: readonly Region[], choices: Choices): number {
  return regions.filter(({ kind, key }) => kind === "overlap" && choices[key] === undefined).length;
}

export function mergedText(regions: readonly Region[], choices: Choices): string {
  return regions
    .flatMap((region) => mergedLines(region, choices[region.key]))
    .map(({ line }) => line)
    .join("\n");
}

/** How many changes found their place without anybody: `Two changes merged by themselves`. */
export function mergedByThemselves(regions: readonly Region[]): number {
  return regions.filter(({ kind }) => kind === "mine" || kind === "theirs" || kind === "agreed").length;
}
