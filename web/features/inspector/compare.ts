import type { Manifest } from "../../../src/protocol/index.js";
import { counted } from "../../ui/format.js";
import { DEFINITIONS, HISTORY, type Row, rowsOf, type Section } from "./told.js";

export interface Change {
  readonly same: boolean;
  readonly isNew: boolean;
  /** Tokens more, or fewer; an estimate. */
  readonly delta: number;
  /** What it is about: `v2 to v3`, `2 messages`. */
  readonly words: string;
}

export interface Comparison {
  /** By row id. */
  readonly changes: ReadonlyMap<string, Change>;
  /** What the other one was told and this one was not. */
  readonly gone: readonly Row[];
  readonly delta: number;
  /** Titles of what differs, in the order sent. */
  readonly differing: readonly string[];
  readonly prefix: { readonly same: number; readonly of: number; readonly restartsAt?: string };
}

/** What a step was told otherwise than another one. */
export function compare(now: Manifest, before: Manifest): Comparison {
  const rows = rowsOf(now);
  const were = new Map(rowsOf(before).map((row) => [row.id, row]));
  const changes = new Map(rows.map((row) => [row.id, changeOf(row, were.get(row.id), { now, before })]));
  const ids = new Set(rows.map(({ id }) => id));
  const gone = [...were.values()].filter(({ id }) => !ids.has(id));
  return {
    changes,
    gone,
    delta: now.window.tokens_estimate - before.window.tokens_estimate,
    differing: [...rows.filter(({ id }) => !changes.get(id)?.same), ...gone].map(({ title }) => title),
    prefix: prefixOf(rows, changes, { now, before }),
  };
}

interface Both {
  readonly now: Manifest;
  readonly before: Manifest;
}

function changeOf(row: Row, was: Row | undefined, both: Both): Change {
  if (!was) return { same: false, isNew: true, delta: row.tokens, words: "new" };
  const change = { isNew: false, delta: row.tokens - was.tokens };
  if (row.kind === "history") return { ...change, ...historyChange(both) };
  if (row.kind === "definitions") {
    const same = both.now.tools_ref === both.before.tools_ref;
    return { ...change, same, words: same ? "" : toolWords(both) };
  }
  const same = row.section?.source.ref === was.section?.source.ref;
  return { ...change, same, words: same ? "" : versionWords(row.section, was.section) };
}

function historyChange({ now, before }: Both): { same: boolean; words: string } {
  const [is, was] = [now.history, before.history];
  const same = is.list_hash === was.list_hash && is.messages === was.messages;
  const more = is.messages - was.messages;
  if (same) return { same, words: "" };
  if (more === 0) return { same, words: "other messages" };
  return { same, words: `${counted(Math.abs(more), "message")}${more < 0 ? " fewer" : ""}` };
}

function toolWords({ now, before }: Both): string {
  const names = ({ tools }: Manifest) => tools.filter(({ offered }) => offered).map(({ name }) => name);
  const [is, was] = [new Set(names(now)), new Set(names(before))];
  const added = [...is].filter((name) => !was.has(name)).length;
  const removed = [...was].filter((name) => !is.has(name)).length;
  const parts = [added > 0 && `${added} added`, removed > 0 && `${removed} removed`].filter(Boolean);
  return parts.join(", ") || "described otherwise";
}

/** A document of a section, where it says which. */
export interface SourceDocument {
  readonly kind: string;
  readonly id: string;
  readonly version?: number;
}

export function documentsOf(section: Section | undefined): readonly SourceDocument[] {
  const documents = section?.source.documents;
  return Array.isArray(documents) ? (documents as SourceDocument[]) : [];
}

function versionWords(is: Section | undefined, was: Section | undefined): string {
  const [now] = documentsOf(is);
  const [before] = documentsOf(was);
  if (!now || !before) return "changed";
  if (now.id !== before.id) return "another document";
  return now.version === before.version ? "changed" : `v${before.version} to v${now.version}`;
}

/** What a model's cache can keep: all before the first section that differs. */
function prefixOf(rows: readonly Row[], changes: ReadonlyMap<string, Change>, { now, before }: Both) {
  const prefix = rows.filter(({ id }) => id !== HISTORY);
  const of = prefix.reduce((sum, { tokens }) => sum + tokens, 0);
  if (now.stable_prefix_hash === before.stable_prefix_hash) return { same: of, of };
  const sections = prefix.filter(({ id }) => id !== DEFINITIONS);
  const first = sections.find(({ id }, at) => !changes.get(id)?.same || before.sections[at]?.id !== id);
  if (!first)
    return { same: 0, of, restartsAt: now.tools_ref === before.tools_ref ? "the model" : "the tools" };
  const same = prefix.slice(0, prefix.indexOf(first)).reduce((sum, { tokens }) => sum + tokens, 0);
  return { same, of, restartsAt: first.title };
}
