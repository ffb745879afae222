import { dirname } from "node:path";
import { atsfError } from "./errors.js";
import { writeAtomic } from "./files.js";
import { agentDir } from "./layout.js";
import { LARGEST_JSON, readRegular } from "./regular-file.js";

/** A JSON file of the format as text. A byte order mark is no part of the text, and is kept when it is written again. */
export interface JsonFile {
  readonly file: string;
  readonly mark: string;
  readonly text: string;
}

const MARK = "\uFEFF";
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Undefined when there is none. What is not UTF-8 is refused: written again, it would not be the same file. */
export async function readJsonFile(file: string): Promise<JsonFile | undefined> {
  const bytes = readRegular(file, { largest: LARGEST_JSON, within: ownerOf(file) });
  if (!bytes) return undefined;
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw unusable(file, "not_utf8", "it is not UTF-8");
  }
  const mark = text.startsWith(MARK) ? MARK : "";
  return { file, mark, text: text.slice(mark.length) };
}

/** How far links may lead: those of a thread within the thread, those of `.agent` within the project. */
function ownerOf(file: string): string {
  const dir = dirname(file);
  return dir === agentDir(dirname(dir)) ? dirname(dir) : dir;
}

export async function rewriteJsonFile({ file, mark, text }: JsonFile, next: string): Promise<void> {
  if (next !== text) await writeAtomic(file, mark + next);
}

export function parseObject({ file, text }: JsonFile): Record<string, unknown> {
  try {
    const value = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Told below: empty and half-written files end here.
  }
  throw unusable(file, "not_json", text.trim() === "" ? "it is empty" : "it is not a JSON object");
}

export function unusable(file: string, problem: string, why: string) {
  return atsfError({ kind: "atsf.invalid_file", file, problem }, `${file} can't be used: ${why}.`);
}
