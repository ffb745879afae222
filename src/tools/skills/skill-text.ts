import type { ListedTool } from "../accept.js";
import type { ListedPlugin } from "../plugin.js";
import { optionRemarks, optionUsage, plain } from "./option-text.js";
import { type CommandOption, commandOptions } from "./options.js";

/** The SKILL.md of a plugin: the same bytes for the same tools. */
export function skillText(plugin: ListedPlugin, tools: readonly ListedTool[]): string {
  const { id, title, description, guide } = plugin;
  const parts = [
    `---\nname: ${JSON.stringify(id)}\ndescription: ${JSON.stringify(plain(description))}\n---`,
    `# ${plain(title)}`,
    plain(description),
    INTRODUCTION,
    guide?.trim() ?? "",
    ...tools.map(toolText),
  ];
  return `${parts.filter(Boolean).join("\n\n")}\n`;
}

const INTRODUCTION = `Run these commands with bash; \`heddle\` is on its PATH. They act for this thread: a tool that its agent may not use is refused.
Exit code 0: done, the result is on standard output. Anything else: not done, standard error says why.
\`heddle tool\` lists the tools, \`heddle tool NAME --help\` shows one. Instead of options, \`--arguments '{…}'\` takes all arguments as one JSON object, and \`--arguments -\` reads it from standard input.`;

function toolText({ name, description, parameters }: ListedTool): string {
  const options = commandOptions(parameters);
  const usage = [`heddle tool ${name}`, ...options.flatMap(usageOf)].join(" ");
  return [
    `## ${name}`,
    plain(description),
    fenced(usage),
    options.map(lineOf).join("\n"),
    options.some(({ required }) => required) ? `For example:\n\n${fenced(exampleOf(name, options))}` : "",
  ]
    .filter(Boolean)
    .join("\n\n");
}

function usageOf(option: CommandOption): readonly string[] {
  if (option.name === undefined) return [];
  const usage = `${optionUsage(option)}${option.several ? " …" : ""}`;
  return [option.required ? usage : `[${usage}]`];
}

function lineOf(option: CommandOption): string {
  const what =
    option.name === undefined ? `${plain(option.key)}\` within \`--arguments` : optionUsage(option);
  return `- ${[`\`${what}\``, optionRemarks(option)].filter(Boolean).join(": ")}`;
}

/** With what is required only. What has no option makes it one object. */
function exampleOf(name: string, options: readonly CommandOption[]): string {
  const required = options.filter((option) => option.required);
  if (required.some((option) => option.name === undefined)) {
    const values = required.map((option) => [
      option.key,
      option.several ? [sampleOf(option)] : sampleOf(option),
    ]);
    return `heddle tool ${name} --arguments ${quotedForShell(JSON.stringify(Object.fromEntries(values)))}`;
  }
  const words = required.flatMap((option) => {
    if (option.kind === "flag") return [option.name as string];
    const value = sampleOf(option);
    return [option.name as string, quotedForShell(typeof value === "string" ? value : JSON.stringify(value))];
  });
  return [`heddle tool ${name}`, ...words].join(" ");
}

function sampleOf({ kind, choices, key }: CommandOption): unknown {
  const values = { text: plain(`the ${key}`), whole: 1, number: 1, flag: true, json: {}, choice: choices[0] };
  return values[kind];
}

function quotedForShell(word: string): string {
  return /^[\w./:-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** A fence that its text can't close. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}sh\n${text}\n${fence}`;
}
