import type { z } from "zod";
import { type PromptMessage, promptMessageSchema } from "../../providers/index.js";

export type ParsedPrompt =
  | { readonly messages: PromptMessage[] }
  | { readonly stage: "parse" | "validate"; readonly problem: string };

/** As deep as a request may be. What is deeper could not be hashed or sent. */
const MAX_DEPTH = 64;
const MOST_WORDS = 500;

/** Bytes as one prompt message or a list of them. Keys that nobody knows stay. */
export function parsePrompt(bytes: Uint8Array): ParsedPrompt {
  const read = readJson(bytes);
  if ("problem" in read) return { stage: "parse", problem: read.problem };
  const problem = problemOfPrompt(read.value);
  if (problem !== undefined) return { stage: "validate", problem };
  return { messages: (Array.isArray(read.value) ? read.value : [read.value]) as PromptMessage[] };
}

/** Why a value is neither a prompt message nor a list of at least one; undefined when it is. */
export function problemOfPrompt(value: unknown): string | undefined {
  if (deeperThan(value, MAX_DEPTH)) return `it is nested more than ${MAX_DEPTH} levels deep`;
  if (!Array.isArray(value)) return problemOfMessage(value);
  if (value.length === 0) return "it holds no message";
  for (const [index, message] of value.entries()) {
    const problem = problemOfMessage(message);
    if (problem !== undefined) return `message ${index + 1}: ${problem}`;
  }
  return undefined;
}

/** JSON as programs write it: UTF-8, with a byte order mark or without. */
export function readJson(bytes: Uint8Array): { value: unknown } | { problem: string } {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return { problem: "it is not UTF-8" };
  }
  if (text.trim() === "") return { problem: "it is empty" };
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { problem: `it is not JSON: ${whereIn(text, error)}` };
  }
}

/** The line a person has to look at: what the parser says is a number of characters. */
function whereIn(text: string, error: unknown): string {
  const words = error instanceof Error ? error.message : String(error);
  const [, position] = /\bposition (\d+)/.exec(words) ?? [];
  if (position === undefined) return bounded(words);
  const lines = text.slice(0, Number(position)).split("\n");
  const said = words.replace(/ in JSON at position.*$/s, "");
  return `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}: ${bounded(said)}`;
}

function problemOfMessage(message: unknown): string | undefined {
  const { error } = promptMessageSchema.safeParse(message);
  return error && bounded(wordsOf(error.issues));
}

/** Of several shapes that a value might have, the one that it fits furthest tells what is wrong. */
function wordsOf(issues: readonly z.core.$ZodIssue[], above: readonly PropertyKey[] = []): string {
  const [issue] = issues;
  if (!issue) return "it does not fit";
  const path = [...above, ...issue.path];
  const shapes = issue.code === "invalid_union" ? issue.errors : [];
  const furthest = shapes.find(([first]) => first !== undefined && first.path.length > 0);
  if (furthest) return wordsOf(furthest, path);
  const expected = shapes.map(([first]) => (first?.code === "invalid_type" ? first.expected : "another"));
  const words =
    expected.length > 0 ? `expected ${expected.join(" or ")}` : issue.message.replace(/^Invalid input: /, "");
  return path.length === 0 ? words : `${path.map(String).join(".")}: ${words}`;
}

function bounded(words: string): string {
  return (words.length > MOST_WORDS ? `${words.slice(0, MOST_WORDS)}…` : words).toWellFormed();
}

/** Goes level by level, so that no depth is too deep for it. */
function deeperThan(value: unknown, most: number): boolean {
  let level = [value].filter(isNested);
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= most) return true;
    level = level.flatMap((inner) => Object.values(inner).filter(isNested));
  }
  return false;
}

function isNested(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
