import type { ToolDefinition } from "./tool.js";

/** Tools that come and go together. Each is declared once: that gives the tool, its command, its schema and its docs. */
export interface Plugin {
  /** What `plugins.<id>` and `skillAllowlist` name. */
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly tools: readonly ToolDefinition[];
  /** For its SKILL.md, beside what is generated: how its tools are used together. Markdown. */
  readonly guide?: string;
}

/** A plugin as lists, prompts and skills see it. */
export interface ListedPlugin extends Omit<Plugin, "tools"> {
  /** Names, sorted. */
  readonly tools: readonly string[];
}
