/** What is done when no verb is named. Done here and not by the argument parser, which would take a misspelt verb for an argument of the default one. */
const DEFAULT_VERBS: Readonly<Record<string, string>> = {
  workspaces: "list",
  folders: "list",
  threads: "list",
  runs: "list",
  prompts: "status",
};

const ABOUT_HEDDLE = new Set(["-h", "--help", "-V", "--version"]);

/** `heddle` alone serves, `heddle folders` lists. */
export function withDefaultVerb(args: readonly string[]): string[] {
  const [command, verb] = args;
  if (isMissing(command)) return ["serve", ...args];
  const group = command as string;
  const otherwise = Object.hasOwn(DEFAULT_VERBS, group) ? DEFAULT_VERBS[group] : undefined;
  return otherwise !== undefined && isMissing(verb) ? [group, otherwise, ...args.slice(1)] : [...args];
}

function isMissing(word: string | undefined): boolean {
  return word === undefined || (word.startsWith("-") && !ABOUT_HEDDLE.has(word));
}
