import {
  Ban,
  FilePenLine,
  FileSearch,
  FileText,
  Funnel,
  ListChecks,
  type LucideIcon,
  NotebookPen,
  SquareTerminal,
  Terminal,
  Wrench,
} from "lucide-react";
import { differenceOf } from "../../ui/diff/lines.js";
import { count, counted } from "../../ui/format.js";
import { visibleExactly } from "../../ui/markdown/visible.js";
import type { Call } from "./parts.js";

const ICONS: readonly (readonly [RegExp, LucideIcon])[] = [
  [/^views?_/i, Funnel],
  [/^notes?_/i, NotebookPen],
  [/bash|shell|exec|command|terminal/i, Terminal],
  [/search|grep|find|glob/i, FileSearch],
  [/edit|write|patch|create_file|apply/i, FilePenLine],
  [/note/i, NotebookPen],
  [/todo|list/i, ListChecks],
  [/read|view|open|fetch|cat/i, FileText],
  [/run/i, SquareTerminal],
];

export function iconOf({ name, status, output }: Call): LucideIcon {
  if (status === "failed" && isRefused(output)) return Ban;
  return ICONS.find(([pattern]) => pattern.test(name))?.[1] ?? Wrench;
}

/** In the order in which they say most. */
const TELLING = [
  ...["command", "cmd", "path", "file_path", "file", "pattern", "title", "name", "query", "url", "agentId"],
  ...["id", "skill", "text", "content", "description", "what"],
];
const ARGUMENT_CHARS = 300;

/** The one argument that matters, on one line. */
export function argumentOf(input: string): string {
  const given = parsed(input);
  const value =
    typeof given === "object" && given !== null ? telling(given as Record<string, unknown>) : given;
  const shown =
    value === undefined ? partial(input) : typeof value === "string" ? value : JSON.stringify(value);
  return visibleExactly(shown.slice(0, ARGUMENT_CHARS)).replaceAll(/\s+/g, " ").trim();
}

export function parsed(input: string): unknown {
  try {
    return JSON.parse(input);
  } catch {
    return undefined;
  }
}

/** Each argument on lines of its own. */
export function prettyInput(input: string): string {
  const given = parsed(input);
  if (typeof given !== "object" || given === null) return input;
  return Object.entries(given)
    .map(([key, value]) => `${key}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join("\n");
}

function telling(given: Record<string, unknown>): unknown {
  const key = TELLING.find((name) => typeof given[name] === "string" && given[name] !== "");
  if (key !== undefined) return given[key];
  return (
    Object.values(given).find((value) => typeof value === "string" && value !== "") ??
    (Object.keys(given).length > 0 ? given : "")
  );
}

/** Of arguments that are still being written, or that are no JSON. */
function partial(input: string): string {
  const name = TELLING.join("|");
  const begun = new RegExp(`"(?:${name})"\\s*:\\s*"((?:[^"\\\\]|\\\\.)*)`).exec(input.slice(0, 2_000))?.[1];
  if (begun === undefined) return input.trimStart().startsWith("{") ? "" : input;
  return begun.replaceAll("\\n", " ").replaceAll(/\\(.)/g, "$1");
}

export interface Outcome {
  readonly words: string;
  readonly tone?: "ok" | "danger" | "warn";
  readonly added?: number;
  readonly removed?: number;
}

/** What came of it, in two or three words. */
export function outcomeOf(call: Call): Outcome {
  if (call.status === "waiting") return { words: "asks", tone: "warn" };
  if (call.status === "preparing" || call.status === "running") return { words: "" };
  if (call.status === "failed") return { words: failureOf(call.output), tone: "danger" };
  if (call.changes.length > 0) return { words: "", ...changed(call) };
  return doneOf(call);
}

function failureOf(output: string): string {
  const code = /\[exit code (\d+)\]/.exec(output)?.[1];
  if (code !== undefined) return `exit ${code}`;
  if (isRefused(output)) return "refused";
  if (/not allowed|denied|did not allow|not to be made/i.test(output.slice(0, 200))) return "denied";
  if (/^The run ended before|^Interrupted/.test(output)) return "not done";
  return "failed";
}

function isRefused(output: string): boolean {
  return /^The tool \S+ is not (available|there)/.test(output);
}

function doneOf({ name, output }: Call): Outcome {
  const passed = /(\d[\d,]*) (?:tests? )?pass(?:ed|ing)\b/.exec(output)?.[1];
  if (passed !== undefined) return { words: `${passed} passed`, tone: "ok" };
  const said = output.replace(/\n?\[exit code 0\]\s*$/, "").trim();
  if (said === "" || said === "(no output)") return { words: "no output" };
  const lines = said.split("\n").filter((line) => line !== "" && !line.startsWith("[")).length;
  if (/search|grep|find/i.test(name)) return { words: counted(lines, "match", "matches") };
  if (said.startsWith("{") || said.startsWith("[")) return { words: "" };
  return lines > 1 || said.length > 60 ? { words: counted(lines, "line") } : { words: "" };
}

const measured = new WeakMap<Call["changes"], { added: number; removed: number }>();

/** Lines that were added and removed, in all files. */
export function changed({ changes }: Pick<Call, "changes">): { added: number; removed: number } {
  const known = measured.get(changes);
  if (known) return known;
  const all = changes.map(({ oldText, newText }) => differenceOf(oldText, newText));
  const sum = {
    added: all.reduce((total, { added }) => total + added, 0),
    removed: all.reduce((total, { removed }) => total + removed, 0),
  };
  measured.set(changes, sum);
  return sum;
}

const OPEN_LINES = 12;

/** Small edits, failures and what asks are worth seeing without being asked for. */
export function opensByItself(call: Call): boolean {
  if (call.status === "failed") return !isRefused(call.output) && call.output !== "";
  if (call.status !== "completed" || call.changes.length === 0) return false;
  const { added, removed } = changed(call);
  return added + removed <= OPEN_LINES;
}

/** `Last 12 of 214 lines` */
export function tailWords(shown: number, all: number): string {
  return `Last ${count(shown)} of ${count(all)} lines`;
}
