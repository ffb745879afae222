import type { Command } from "commander";

const ASKING = new Set(["-h", "--help"]);

/**
 * `heddle help a b` is `heddle a b --help`. Of words that are no commands the parser would show the help of what is above them,
 * and never name them: without the wish for help it refuses the first of them.
 */
export function helpWords(given: readonly string[], program: Command): readonly string[] {
  const words =
    given[0] === "help" ? [...given.slice(1).filter((word) => !ASKING.has(word)), "--help"] : given;
  if (!words.some((word) => ASKING.has(word))) return words;
  let command = program;
  for (const [index, word] of words.entries()) {
    if (command.commands.length === 0 || word.startsWith("-")) break;
    const next = command.commands.find((each) => each.name() === word);
    if (!next) return words.slice(0, index + 1);
    command = next;
  }
  return words;
}
