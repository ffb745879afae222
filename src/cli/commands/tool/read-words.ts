import { type CommandOption, nearest } from "../../../tools/index.js";
import { UsageError } from "../../errors.js";

type Values = Record<string, unknown>;

/** A tool's arguments from the words behind its name. What its schema does not know is refused here, with what was meant. */
export function readWords(tool: string, words: readonly string[], options: readonly CommandOption[]): Values {
  const values = new Map<string, unknown>();
  const left = [...words];
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    const { name, attached } = splitWord(tool, word);
    const found = findOption(options, name) ?? negated(options, name);
    if (!found) throw unknownOption(tool, name, options);
    const { option, no } = found;
    const text = attached ?? (no || option.kind === "flag" ? truthOf(left) : left.shift());
    const value = no ? !flag(option, text) : readValue(option, text, attached !== undefined);
    add(values, option, value);
  }
  return Object.fromEntries(values);
}

/** An option that has to be there and is not is a mistake like one that is unknown. */
export function assertComplete(tool: string, values: Values, options: readonly CommandOption[]): void {
  const missing = options.filter(({ required, key }) => required && !Object.hasOwn(values, key));
  if (missing.length === 0) return;
  const named = missing.map(({ name, key }) => name ?? `${JSON.stringify(key)} within --arguments`);
  throw new UsageError(`${tool} needs ${named.join(", ")}`);
}

function splitWord(tool: string, word: string): { name: string; attached: string | undefined } {
  if (!/^--[^-=]/.test(word)) {
    throw new UsageError(`${tool} takes options only, but got '${word}'. Write --name value`);
  }
  const at = word.indexOf("=");
  return at === -1
    ? { name: word, attached: undefined }
    : { name: word.slice(0, at), attached: word.slice(at + 1) };
}

/** `--agent-id`, `--agent_id` and `--agentId` are the same. */
function findOption(options: readonly CommandOption[], given: string) {
  const bare = (name: string) => name.replaceAll(/[-_]/g, "").toLowerCase();
  const option =
    options.find(({ name }) => name === given) ??
    options.find(({ name, key }) => name !== undefined && key === given.slice(2)) ??
    options.find(({ name }) => name !== undefined && bare(name) === bare(given));
  return option && { option, no: false };
}

function negated(options: readonly CommandOption[], given: string) {
  const found = given.startsWith("--no-") ? findOption(options, `--${given.slice(5)}`) : undefined;
  return found?.option.kind === "flag" ? { option: found.option, no: true } : undefined;
}

/** A flag stands alone, but `--pinned true` is what many write. */
function truthOf(left: string[]): string | undefined {
  return left[0] === "true" || left[0] === "false" ? left.shift() : undefined;
}

function flag(option: CommandOption, text: string | undefined): boolean {
  if (text === undefined || text === "true") return true;
  if (text === "false") return false;
  throw new UsageError(`${option.name} is true or false, not '${text}'`);
}

function readValue(option: CommandOption, text: string | undefined, attached: boolean): unknown {
  const { kind, name, choices } = option;
  if (kind === "flag") return flag(option, text);
  if (text === undefined || (!attached && text.startsWith("--"))) {
    throw new UsageError(`${name} needs a value; one that begins with dashes is written ${name}=…`);
  }
  if (kind === "text") return text;
  if (kind === "choice") {
    if (choices.includes(text)) return text;
    throw new UsageError(`${name} is one of ${choices.join(", ")}, not '${text}'`);
  }
  if (kind === "json") return json(option, text);
  const number = text.trim() === "" ? Number.NaN : Number(text);
  if (Number.isFinite(number) && (kind === "number" || Number.isSafeInteger(number))) return number;
  throw new UsageError(`${name} is a ${kind === "whole" ? "whole number" : "number"}, not '${text}'`);
}

function json({ name }: CommandOption, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${name} is given as JSON, and this is none: ${(error as Error).message}`);
  }
}

function add(values: Map<string, unknown>, option: CommandOption, value: unknown): void {
  const { key, name, several, kind } = option;
  if (several) {
    // A list of what is JSON anyway may come whole.
    const added = kind === "json" && Array.isArray(value) ? value : [value];
    values.set(key, [...((values.get(key) as unknown[]) ?? []), ...added]);
    return;
  }
  if (values.has(key)) throw new UsageError(`${name} is given more than once, and takes one value`);
  values.set(key, value);
}

const OF_THE_GATEWAY = ["--data", "--url", "--token"];

function unknownOption(tool: string, given: string, options: readonly CommandOption[]): UsageError {
  if (OF_THE_GATEWAY.includes(given)) {
    return new UsageError(`${given} comes before the tool's name: heddle tool ${given} … ${tool}`);
  }
  const within = options.find(({ name, key }) => name === undefined && key === given.slice(2));
  if (within)
    return new UsageError(
      `${given} can be given within --arguments only: --arguments '{"${within.key}": …}'`,
    );
  const names = options.flatMap(({ name }) => name ?? []);
  const near = nearest(given, names);
  return new UsageError(
    `${tool} has no option ${given}. ${near === undefined ? "It takes none" : `Did you mean ${near}?`}`,
  );
}
