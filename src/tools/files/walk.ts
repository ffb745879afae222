import { type Dirent, opendir } from "node:fs";
import { join, sep } from "node:path";
import { promisify } from "node:util";
import { confined, type Found } from "./find.js";
import { isGuarded } from "./guarded.js";
import { openDirectory } from "./open.js";

export interface Entry {
  /** Below the tool's directory, as the start was asked for, with slashes. */
  readonly path: string;
  /** Below the start, with slashes. */
  readonly within: string;
  readonly found: Found;
  readonly kind: "file" | "directory" | "link" | "other";
}

export interface Wish {
  /** 1: what is in the directory itself. */
  readonly depth: number;
  readonly signal: AbortSignal;
}

/** What was not looked at. */
export interface Gaps {
  /** There was more than is ever looked at. */
  more: boolean;
  /** Directories that could not be opened. */
  closed: number;
}

const MOST_ENTRIES = 100_000;
/** Others' code, of any size: only who names them looks into them. */
const OTHERS = new Set(["node_modules", ".venv", "__pycache__"]);

/** What is in a directory and below it, level by level, each sorted. No link is followed, and nothing of `.git` or `.agent` told. */
export async function* walk(start: Found, { depth, signal }: Wish, gaps: Gaps): AsyncGenerator<Entry> {
  let left = MOST_ENTRIES;
  let level: Pick<Entry, "found" | "path" | "within">[] = [
    { found: start, path: slashed(start.below), within: "" },
  ];
  for (let deep = 0; deep < depth && level.length > 0; deep++) {
    const below: Entry[] = [];
    for (const parent of level) {
      signal.throwIfAborted();
      const names = await namesIn(parent.found, left, gaps);
      left -= names.length;
      for (const entry of names.map((name) => entryOf(parent, name))) {
        if (entry.kind === "directory" && !OTHERS.has(entry.found.real.split(sep).at(-1) ?? "")) {
          below.push(entry);
        }
        yield entry;
      }
    }
    level = below;
  }
}

async function namesIn(found: Found, most: number, gaps: Gaps): Promise<Dirent[]> {
  const directory = await openDirectory(found);
  if ("refusal" in directory) {
    gaps.closed++;
    return [];
  }
  try {
    const names: Dirent[] = [];
    for await (const name of await openForNames(directory.at(), { bufferSize: 256 })) {
      const real = join(found.real, name.name);
      if (isGuarded(name.name) || confined({ ...found, real })) continue;
      if (names.length === most) {
        gaps.more = true;
        break;
      }
      names.push(name);
    }
    return names.sort((a, b) => (a.name < b.name ? -1 : 1));
  } finally {
    await directory.close();
  }
}

const openForNames = promisify(opendir);

function entryOf({ found, path, within }: Pick<Entry, "found" | "path" | "within">, name: Dirent): Entry {
  const real = join(found.real, name.name);
  const below = join(found.below, name.name);
  return {
    path: path === "" ? name.name : `${path}/${name.name}`,
    within: within === "" ? name.name : `${within}/${name.name}`,
    found: { base: found.base, keptOut: found.keptOut, real, below, shown: JSON.stringify(name.name) },
    kind: kindOf(name),
  };
}

function kindOf(name: Dirent): Entry["kind"] {
  if (name.isFile()) return "file";
  if (name.isDirectory()) return "directory";
  return name.isSymbolicLink() ? "link" : "other";
}

function slashed(path: string): string {
  return path.split(sep).join("/");
}
