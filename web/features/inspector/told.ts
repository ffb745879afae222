import type { Manifest, Result } from "../../../src/protocol/index.js";

export type Section = Manifest["sections"][number];
export type ContextMessage = Result<"run/context">["messages"][number];

/** What one step was told, or would be: what the inspector shows in all its forms. */
export interface Told {
  /** Undefined: would be sent now. */
  readonly run_id: string | undefined;
  readonly step: number;
  readonly manifest: Manifest;
  /** With the words, where they are at hand: those of a preview are kept nowhere. */
  readonly messages?: readonly ContextMessage[];
}

/** A row of the list: everything that was sent, in its order. */
export interface Row {
  readonly id: string;
  readonly title: string;
  /** The class that gives it its colour. */
  readonly tone: string;
  readonly tokens: number;
  readonly chars?: number;
  readonly kind: "section" | "definitions" | "history";
  readonly section?: Section;
}

const TONES: Readonly<Record<string, string>> = {
  agents_md: "s-agents-md",
  tools: "s-tools",
  skills: "s-skills",
  artifact_items: "s-items",
  message_context: "s-context",
  artifact_panels: "s-panels",
  agents: "s-agents",
};

export function toneOf(section_id: string): string {
  if (/^base(\.\d+)?$/.test(section_id)) return "s-base";
  return TONES[section_id] ?? "s-own";
}

/** Base prompt, sections, the tools as the model is given them, history. */
export function rowsOf(manifest: Manifest): Row[] {
  const { sections, history, window, tools } = manifest;
  const rows: Row[] = sections.map((section) => ({
    id: section.id,
    title: titleOf(section),
    tone: toneOf(section.id),
    tokens: section.tokens_estimate,
    chars: section.chars,
    kind: "section",
    section,
  }));
  const named = rows.reduce((sum, { tokens }) => sum + tokens, 0) + history.tokens_estimate;
  const rest = Math.max(0, window.tokens_estimate - named);
  const offered = tools.some((tool) => tool.offered);
  if (offered)
    rows.push({
      id: DEFINITIONS,
      title: "Tool definitions",
      tone: "s-tools",
      tokens: rest,
      kind: "definitions",
    });
  rows.push({
    id: HISTORY,
    title: "History",
    tone: "s-history",
    tokens: history.tokens_estimate + (offered ? 0 : rest),
    chars: history.chars,
    kind: "history",
  });
  return rows;
}

/** Ids that no section has: theirs are letters and underscores. */
export const DEFINITIONS = "+definitions";
export const HISTORY = "+history";

function titleOf({ id, title }: Section): string {
  if (id === "base") return "Base prompt";
  const part = /^base\.(\d+)$/.exec(id)?.[1];
  if (part) return `Base prompt, part ${part}`;
  // Titles of 002 are in title case; the page's are not.
  return title === "AGENTS.md"
    ? title
    : title.charAt(0) + title.slice(1).replace(/ ([A-Z])(?=[a-z])/g, lower);
}

function lower(letters: string): string {
  return letters.toLowerCase();
}

/** Whole percents, and none for what is nothing. */
export function shareOf(tokens: number, total: number): string {
  if (total === 0) return "0%";
  const percent = (100 * tokens) / total;
  return percent > 0 && percent < 0.5 ? "<1%" : `${Math.round(percent)}%`;
}

/** The words of a message, without its images. */
export function textOf(content: ContextMessage["content"]): string {
  if (typeof content === "string") return content;
  return content.map((part) => (typeof part.text === "string" ? part.text : "")).join("");
}

export function refusedIn({ tools }: Manifest) {
  return tools.filter(({ offered }) => !offered);
}
export function offeredIn({ tools }: Manifest) {
  return tools.filter(({ offered }) => offered);
}
