import { readFile, realpath, stat } from "node:fs/promises";
import { isAbsolute, relative, resolve } from "node:path";
import type { FileDiff } from "../../provider.js";
import { type Fields, listOf, textIn } from "./fields.js";

const READING = new Set(["read", "grep", "find", "ls"]);
const WRITING = new Set(["edit", "write"]);
const MOST_FILE = 1024 * 1024;

/** Where a call of pi's own tools works. */
export interface Place {
  readonly directory: string;
  readonly home: string | undefined;
}

/** Only reading, and nothing outside the directory, also not through a link: nobody has to be asked. */
export async function isHarmless(name: string, input: Fields, place: Place): Promise<boolean> {
  if (!READING.has(name)) return false;
  try {
    const [directory, path] = await Promise.all([realpath(place.directory), realpath(pathIn(input, place))]);
    return isInside(directory, path);
  } catch {
    // What is not there can't be judged.
    return false;
  }
}

/** What a call that was allowed is about to change, while it still is as it was. */
export async function diffsOf(
  name: string,
  input: Fields,
  place: Place,
): Promise<readonly FileDiff[] | undefined> {
  if (!WRITING.has(name) || textIn(input.path) === "") return undefined;
  const path = pathIn(input, place);
  const before = await textBefore(path);
  if (before === undefined) return undefined;
  const shown = isInside(place.directory, path) ? relative(place.directory, path) : path;
  const diff = (oldText: string, newText: string): FileDiff => ({ path: shown, oldText, newText });
  if (name === "write") return [diff(before, textIn(input.content))];
  const edits = [...listOf(input.edits), input].filter(({ oldText }) => textIn(oldText) !== "");
  const after = edits.reduce<string | undefined>((text, edit) => replaced(text, edit), before);
  if (after !== undefined) return [diff(before, after)];
  return edits.map((edit) => diff(textIn(edit.oldText), textIn(edit.newText)));
}

/** Undefined when it does not stand there word for word: pi is more lenient than we are. */
function replaced(text: string | undefined, { oldText, newText }: Fields): string | undefined {
  const at = text?.indexOf(textIn(oldText)) ?? -1;
  if (text === undefined || at === -1) return undefined;
  return text.slice(0, at) + textIn(newText) + text.slice(at + textIn(oldText).length);
}

/** Empty for a file that is not there yet, undefined for one that can't be shown. */
async function textBefore(path: string): Promise<string | undefined> {
  try {
    const { size } = await stat(path);
    if (size > MOST_FILE) return undefined;
    const text = await readFile(path, "utf8");
    return text.includes("\0") ? undefined : text;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? "" : undefined;
  }
}

/** As pi reads a path. */
function pathIn({ path }: Fields, { directory, home }: Place): string {
  const given = textIn(path).replace(/^@/, "");
  const whole = home !== undefined && /^~(?=$|\/)/.test(given) ? home + given.slice(1) : given;
  return resolve(directory, whole);
}

function isInside(directory: string, path: string): boolean {
  const way = relative(directory, path);
  return way !== ".." && !way.startsWith("../") && !isAbsolute(way);
}
