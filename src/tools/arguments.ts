import type { z } from "zod";
import { plainWords } from "../base/index.js";
import { nearest } from "./nearest.js";
import { clipped, quoted } from "./quoted.js";
import type { ToolDefinition } from "./tool.js";

type Values = Record<string, unknown>;

/** A model's arguments, checked; or what is wrong with them, in words it can act on. */
export async function readArguments(
  tool: ToolDefinition,
  given: string | Values,
): Promise<{ values: Values } | { problem: string }> {
  const refused = (problem: string) => ({
    problem: `${tool.name} was not called: ${problem} ${keysOf(tool)}`,
  });
  const object = typeof given === "string" ? parse(given) : given;
  if (object instanceof SyntaxError) {
    return refused(`its arguments are not JSON (${clipped(object.message, MOST_WORDS)}).`);
  }
  if (!isObject(object)) return refused("its arguments are no JSON object.");
  const parsed = await tool.parameters.safeParseAsync(await withoutNulls(tool.parameters, object), {
    error: plainWords,
  });
  if (parsed.success) return { values: parsed.data };
  return refused(`its arguments do not fit. ${parsed.error.issues.slice(0, 5).map(told(tool)).join(" ")}`);
}

const MOST_WORDS = 300;
const MOST_KEYS = 32;

/** Models that have nothing to say to a tool without parameters say nothing. */
function parse(text: string): unknown {
  try {
    return text.trim() === "" ? {} : JSON.parse(text);
  } catch (error) {
    return error;
  }
}

function isObject(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `null` for a key that may be left out means the same, as everywhere in params: some models write every key. */
async function withoutNulls({ shape }: z.ZodObject, object: Values): Promise<Values> {
  const kept: [string, unknown][] = [];
  for (const [key, value] of Object.entries(object)) {
    const schema = Object.hasOwn(shape, key) ? (shape[key] as z.ZodType) : undefined;
    if (value === null && schema && (await isOptionalOnly(schema))) continue;
    kept.push([key, value]);
  }
  return Object.fromEntries(kept);
}

async function isOptionalOnly(schema: z.ZodType): Promise<boolean> {
  const [absent, nothing] = await Promise.all([
    schema.safeParseAsync(undefined),
    schema.safeParseAsync(null),
  ]);
  return absent.success && !nothing.success;
}

function told(tool: ToolDefinition): (issue: z.core.$ZodIssue) => string {
  return (issue) => {
    const at = issue.path.map(String).join(".");
    if (issue.code === "unrecognized_keys") return issue.keys.slice(0, 3).map(unknownKey(tool, at)).join(" ");
    const problem = clipped(issue.message, MOST_WORDS);
    return at === "" ? `${problem}.` : `${quoted(at)} ${problem}.`;
  };
}

/** Only the keys at the top are known here by name. */
function unknownKey(tool: ToolDefinition, at: string): (key: string) => string {
  return (key) => {
    if (at !== "") return `${quoted(at)} has no key ${quoted(key)}.`;
    const near = nearest(key, Object.keys(tool.parameters.shape));
    return `There is no key ${quoted(key)}${near === undefined ? "" : `; the nearest is ${quoted(near)}`}.`;
  };
}

function keysOf({ parameters: { shape } }: ToolDefinition): string {
  const keys = Object.keys(shape);
  if (keys.length === 0) return "It takes {}.";
  const more = keys.length > MOST_KEYS ? ", …" : "";
  return `Its keys are: ${keys.slice(0, MOST_KEYS).join(", ")}${more}.`;
}
