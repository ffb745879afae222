import { z } from "zod";
import { onOneLine } from "../../base/index.js";
import { clipped, quoted } from "../quoted.js";
import type { TheirTool } from "./connection.js";

const MOST_TOOLS = 500;
const MOST_NAME = 256;
const MOST_TITLE = 200;
const MOST_DESCRIPTION = 4_000;
const MOST_SCHEMA = 64 * 1024;
const MOST_DEPTH = 32;
const MOST_NAMED = 3;

/** What is taken of a tool that a server offers. */
export interface ServerTool extends TheirTool {
  readonly title?: string;
  readonly description: string;
  readonly readOnly: boolean;
  readonly idempotent: boolean;
}

export interface ReadTools {
  /** By name. */
  readonly tools: readonly ServerTool[];
  /** What a person should know of the rest. */
  readonly problem?: string;
}

/** What can be used of a server's list. Everything in it is somebody else's: bounded, and nothing of it is trusted. */
export function readTools(listed: readonly unknown[], cut = false): ReadTools {
  const tools = new Map<string, ServerTool>();
  const bad: string[] = [];
  for (const one of listed) {
    const tool = readTool(one);
    if (typeof tool === "string") bad.push(tool);
    else if (!tools.has(tool.name)) tools.set(tool.name, tool);
  }
  const sorted = [...tools.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  const problems = [
    ...(sorted.length > MOST_TOOLS || cut
      ? [
          `offers ${cut ? "more than " : ""}${sorted.length} tools, of which the first ${MOST_TOOLS} by name are used`,
        ]
      : []),
    ...(bad.length > 0 ? [leftOut(bad)] : []),
  ];
  return {
    tools: sorted.slice(0, MOST_TOOLS),
    ...(problems.length > 0 && { problem: problems.join("; ") }),
  };
}

function leftOut(bad: readonly string[]): string {
  const more = bad.length > MOST_NAMED ? ` and ${bad.length - MOST_NAMED} more` : "";
  return `offers tools that are left out: ${bad.slice(0, MOST_NAMED).join(", ")}${more}`;
}

const toolSchema = z.object({
  name: z.string().min(1).max(MOST_NAME),
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  inputSchema: z.record(z.string(), z.unknown()),
  annotations: z
    .object({
      title: z.string().optional().catch(undefined),
      readOnlyHint: z.boolean().optional().catch(undefined),
      idempotentHint: z.boolean().optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
});

/** A tool, or why it can't be one. */
function readTool(given: unknown): ServerTool | string {
  const parsed = toolSchema.safeParse(given);
  if (!parsed.success) return nameOf(given);
  const { name, annotations, description = "" } = parsed.data;
  const inputSchema = readSchema(parsed.data.inputSchema);
  if (typeof inputSchema === "string") return `${quoted(name)} (${inputSchema})`;
  const title = parsed.data.title ?? annotations?.title;
  return {
    name,
    ...(title && { title: onOneLine(clipped(title, MOST_TITLE)) }),
    description: plain(clipped(description, MOST_DESCRIPTION)),
    inputSchema,
    readOnly: annotations?.readOnlyHint === true,
    idempotent: annotations?.idempotentHint === true,
  };
}

function nameOf(given: unknown): string {
  const name = (given as { name?: unknown } | null | undefined)?.name;
  return `${typeof name === "string" ? quoted(name) : "one without a name"} (it is no tool with a schema)`;
}

/** Lines are kept, other control characters are not. */
function plain(text: string): string {
  return text
    .replace(/[^\P{Cc}\n\t]/gu, "")
    .toWellFormed()
    .trim();
}

function readSchema(given: Record<string, unknown>): TheirTool["inputSchema"] | string {
  const { $schema: _, ...schema } = given;
  if (schema.type !== "object") return "its schema is not that of an object";
  const { properties } = schema;
  if (properties !== undefined && !isObject(properties)) return "its schema has no usable properties";
  if (isDeeper(schema, MOST_DEPTH)) return "its schema is too deep";
  if (JSON.stringify(schema).length > MOST_SCHEMA) return "its schema is too large";
  return schema;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((part) => isDeeper(part, levels - 1));
}
