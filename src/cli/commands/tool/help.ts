import type { Result } from "../../../protocol/index.js";
import { type CommandOption, commandOptions, optionRemarks, optionUsage } from "../../../tools/index.js";
import { paint, print, visible } from "../../output.js";

type Tool = Result<"tool/list">["data"][number];

/** What a tool does and takes, from its own description and schema. */
export function printToolHelp({ name, description, parameters, offered, reason, capabilities }: Tool): void {
  const options = commandOptions(parameters);
  print(`${paint.bold("Usage:")} heddle tool ${visible(name)} ${usageOf(options)}`.trimEnd(), "");
  print(...description.trim().split(/\r?\n/).map(visible), "");
  if (options.length > 0) print(paint.bold("Options:"), ...columns(options), "");
  print(
    paint.bold("Besides:"),
    "  --arguments <json>  arguments as one JSON object; - reads it from standard input",
    "  --thread <id>       as this thread's agent could",
    "  --workspace <id|path>",
    "  --json              print the whole result as JSON",
    "",
    paint.dim(`capabilities: ${capabilities.map(visible).join(", ") || "none needed"}`),
  );
  if (!offered) print(paint.red(`not offered: ${visible(reason ?? "to this thread's agent")}`));
}

function usageOf(options: readonly CommandOption[]): string {
  return options
    .filter(({ name }) => name !== undefined)
    .map((option) => (option.required ? optionUsage(option) : `[${optionUsage(option)}]`))
    .join(" ");
}

function columns(options: readonly CommandOption[]): string[] {
  const names = options.map((option) =>
    visible(option.name === undefined ? `"${option.key}" within --arguments` : optionUsage(option)),
  );
  const width = Math.max(...names.map((name) => name.length));
  return options.map((option, index) =>
    `  ${(names[index] as string).padEnd(width)}  ${visible(optionRemarks(option))}`.trimEnd(),
  );
}
