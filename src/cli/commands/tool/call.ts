import type { Result } from "../../../protocol/index.js";
import { commandOptions, nearest } from "../../../tools/index.js";
import { cliError, UsageError } from "../../errors.js";
import { note, printJson, printText, visible } from "../../output.js";
import { EXIT_FAILED } from "../../report.js";
import { NO_HURRY, type Session, withSession } from "../../session.js";
import { readTextInput } from "../agents-md/text-file.js";
import { printToolHelp } from "./help.js";
import type { ToolOptions } from "./options.js";
import { type ToolPlace, toolPlace } from "./place.js";
import { assertComplete, readWords } from "./read-words.js";
import { splitWords } from "./split-words.js";

type Tool = Result<"tool/list">["data"][number];

/** Calls a tool and prints what it answers, or shows its help. */
export async function callTool(name: string, words: readonly string[], before: ToolOptions): Promise<void> {
  const { options, help, rest } = splitWords(words, before);
  const given = help ? {} : await readGiven(options.arguments);
  const result = await withSession(options, async (session) => {
    const place = await toolPlace(session, options);
    const tool = await findTool(session, place, name);
    if (help) return printToolHelp(tool);
    return session.call("tool/call", { ...place, name, arguments: argumentsOf(tool, given, rest) }, NO_HURRY);
  });
  if (result) tell(result, options);
}

async function findTool(session: Session, place: ToolPlace, name: string): Promise<Tool> {
  const { data } = await session.call("tool/list", place);
  const found = data.find((tool) => tool.name === name);
  if (found) return found;
  const near = nearest(
    name,
    data.map((tool) => tool.name),
  );
  throw cliError(
    { kind: "tool.unknown", name },
    `There is no tool ${name}.${near === undefined ? "" : ` The nearest is ${near}.`} \`heddle tool\` lists the ones there are.`,
  );
}

/** What is wrong with them is told with the help of this tool: that of `heddle tool` does not know its options. */
function argumentsOf(tool: Tool, given: Record<string, unknown>, words: readonly string[]) {
  const options = commandOptions(tool.parameters);
  try {
    const all = { ...given, ...readWords(tool.name, words, options) };
    // Why it is not offered comes first: no option would change that.
    if (tool.offered) assertComplete(tool.name, all, options);
    return all;
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(error.message, `heddle tool ${tool.name}`);
    throw error;
  }
}

async function readGiven(text: string | undefined): Promise<Record<string, unknown>> {
  if (text === undefined) return {};
  const json = text === "-" ? await readTextInput() : text;
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new UsageError(`--arguments must be a JSON object: ${(error as Error).message}`);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new UsageError('--arguments must be a JSON object, such as \'{"path": "README.md"}\'');
}

/** What a tool answers is printed as it is; why it did not is no result. */
function tell(result: Result<"tool/call">, { json }: ToolOptions): void {
  const failed = result.status === "failed";
  if (failed) process.exitCode = EXIT_FAILED;
  if (json) printJson(result);
  else if (failed) note(safeToShow(result.output.trimEnd()));
  else printText(result.output);
}

/** On a terminal nothing in it can steer the terminal. */
function safeToShow(text: string): string {
  return process.stderr.isTTY === true ? text.replace(/[^\n\t]+/g, visible) : text;
}
