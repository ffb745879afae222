import { counted } from "../../ui/format.js";
import type { Taken } from "./use-import.js";

const WORDS = {
  imported: "imported",
  updated: "brought up to date",
  exists: "unchanged",
  skipped: "left alone",
  invalid: "not readable",
} as const;

/** `12 threads imported, 3 unchanged` */
export function summaryOf({ data }: Taken): string {
  const parts = Object.entries(WORDS).flatMap(([status, words]) => {
    const { length } = data.filter((each) => each.status === status);
    return length === 0 ? [] : [{ length, words }];
  });
  const [first, ...rest] = parts;
  if (!first) return "There was nothing to import.";
  const more = rest.map(({ length, words }) => `, ${length} ${words}`);
  return `${counted(first.length, "thread")} ${first.words}${more.join("")}`;
}

/** How many threads of the import stand in which workspace; the most first. */
export function placesOf({ data }: Taken): { readonly ws: string; readonly threads: number }[] {
  const counts = new Map<string, number>();
  for (const { status, workspace_id } of data) {
    const has = status === "imported" || status === "updated" || status === "exists";
    if (has && workspace_id !== undefined) counts.set(workspace_id, (counts.get(workspace_id) ?? 0) + 1);
  }
  return [...counts].map(([ws, threads]) => ({ ws, threads })).sort((a, b) => b.threads - a.threads);
}

/** What was left behind, of all sessions together; the most first. */
export function lostIn({ data }: Taken): { readonly what: string; readonly count: number }[] {
  const counts = new Map<string, number>();
  for (const { lossy = [] } of data)
    for (const { what, count } of lossy) counts.set(what, (counts.get(what) ?? 0) + count);
  return [...counts].map(([what, count]) => ({ what, count })).sort((a, b) => b.count - a.count);
}

/** Those that need a word: why they were left alone, or could not be read. */
export function toldIn({
  data,
}: Taken): { readonly key: string; readonly title: string; readonly reason: string }[] {
  return data.flatMap(({ session_id = "", thread_id, title, reason }) =>
    reason === undefined ? [] : [{ key: `${session_id} ${thread_id}`, title: title ?? session_id, reason }],
  );
}
