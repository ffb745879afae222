import { createTwoFilesPatch } from "diff";
import type { Manifest, Result, Run } from "../../../protocol/index.js";

/** What one step of a run was told, with its words. */
export interface Told {
  readonly run: Run;
  readonly manifest: Manifest;
  readonly context: Result<"run/context">;
}

export interface SectionChange {
  readonly id: string;
  readonly title: string;
  readonly change: "same" | "changed" | "new" | "gone";
  /** A unified diff, before against now. */
  readonly diff?: string;
}

export interface Comparison {
  readonly before: { readonly id: string; readonly number: number };
  /** Agent, provider, model and parameters that are others now. */
  readonly settings: readonly { readonly name: string; readonly before: string; readonly now: string }[];
  readonly sections: readonly SectionChange[];
  readonly tools: { readonly added: readonly string[]; readonly removed: readonly string[] };
  /** Messages of the history: so many at its beginning are the same, then so many are new, and so many are gone. */
  readonly history: { readonly same: number; readonly added: number; readonly removed: number };
}

/** What a run was told otherwise than the run before it. */
export function compare(before: Told, now: Told): Comparison {
  return {
    before: { id: before.run.id, number: before.run.number },
    settings: changedSettings(before.manifest, now.manifest),
    sections: changedSections(before, now),
    tools: {
      added: missingFrom(offered(before.manifest), offered(now.manifest)),
      removed: missingFrom(offered(now.manifest), offered(before.manifest)),
    },
    history: changedHistory(historyRefs(before.manifest), historyRefs(now.manifest)),
  };
}

function changedSettings(before: Manifest, now: Manifest): Comparison["settings"] {
  const all = (manifest: Manifest) =>
    new Map<string, unknown>([
      ["agent", manifest.agent_id],
      ["provider", manifest.provider],
      ["model", manifest.model],
      ...Object.entries(manifest.params),
    ]);
  const [was, is] = [all(before), all(now)];
  return [...new Set([...was.keys(), ...is.keys()])]
    .map((name) => ({ name, before: settingText(was.get(name)), now: settingText(is.get(name)) }))
    .filter((setting) => setting.before !== setting.now);
}

export function settingText(value: unknown): string {
  if (value === undefined) return "none";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function changedSections(before: Told, now: Told): SectionChange[] {
  const earlier = new Map(before.manifest.sections.map((section) => [section.id, section]));
  const present = now.manifest.sections.map(({ id, title, source }): SectionChange => {
    const was = earlier.get(id);
    earlier.delete(id);
    if (!was) return { id, title, change: "new" };
    if (was.source.ref === source.ref) return { id, title, change: "same" };
    return { id, title, change: "changed", diff: sectionDiff(before, now, id) };
  });
  return [
    ...present,
    ...[...earlier.values()].map(({ id, title }) => ({ id, title, change: "gone" as const })),
  ];
}

function sectionDiff(before: Told, now: Told, id: string): string {
  const name = ({ run }: Told) => `run ${run.number}`;
  const [was, is] = [textOf(before, id), textOf(now, id)];
  return createTwoFilesPatch(name(before), name(now), was, is, "", "", { context: 3 });
}

/** The words of a section, which may be several messages. */
export function textOf({ context }: Told, id: string): string {
  return context.messages
    .filter(({ section_id }) => section_id === id)
    .map(({ content }) => wordsIn(content))
    .join("\n\n");
}

function wordsIn(content: Told["context"]["messages"][number]["content"]): string {
  if (typeof content === "string") return content;
  return content.map((part) => (typeof part.text === "string" ? part.text : `[${part.type}]`)).join("");
}

function offered({ tools }: Manifest): string[] {
  return tools.filter((tool) => tool.offered).map(({ name }) => name);
}

function missingFrom(some: readonly string[], others: readonly string[]): string[] {
  return others.filter((name) => !some.includes(name));
}

function historyRefs({ message_refs, history }: Manifest): readonly string[] {
  return message_refs.slice(message_refs.length - history.messages);
}

function changedHistory(before: readonly string[], now: readonly string[]): Comparison["history"] {
  const differs = now.findIndex((ref, at) => ref !== before[at]);
  const same = differs === -1 ? Math.min(now.length, before.length) : differs;
  return { same, added: now.length - same, removed: before.length - same };
}
