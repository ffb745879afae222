import { UsageError } from "../../errors.js";
import type { ToolOptions } from "./options.js";

export interface SplitWords {
  readonly options: ToolOptions;
  readonly help: boolean;
  /** The tool's own. */
  readonly rest: readonly string[];
}

const TAKING_VALUE = ["thread", "workspace", "arguments"] as const;

/** Behind a tool's name a few options are still the command's: they are needed before the tool's own are known. */
export function splitWords(words: readonly string[], before: ToolOptions): SplitWords {
  const found: Record<string, unknown> = { ...before };
  const rest: string[] = [];
  let help = false;
  const left = [...words];
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    const taking = TAKING_VALUE.find((name) => word === `--${name}` || word?.startsWith(`--${name}=`));
    if (word === "--help" || word === "-h") help = true;
    else if (word === "--json") found.json = true;
    else if (taking) found[taking] = valueBehind(taking, word, left);
    else {
      rest.push(word);
      // What stands behind an option of the tool is its value, whatever it looks like.
      const next = left[0];
      if (isOpen(word) && next !== undefined && !next.startsWith("--")) rest.push(left.shift() as string);
    }
  }
  return { options: found as ToolOptions, help, rest };
}

function isOpen(word: string): boolean {
  return word.startsWith("--") && !word.includes("=");
}

function valueBehind(name: string, word: string, left: string[]): string {
  if (word.includes("=")) return word.slice(word.indexOf("=") + 1);
  const next = left.shift();
  if (next === undefined) throw new UsageError(`option '--${name}' argument missing`);
  return next;
}
