import type { Result } from "../../../protocol/index.js";
import { note, paint, paintErr, print, printJson, printTable, visible } from "../../output.js";
import { withSession } from "../../session.js";
import type { ToolOptions } from "./options.js";
import { toolPlace } from "./place.js";

type Tool = Result<"tool/list">["data"][number];

/** The tools there are; in a thread, which of them its agent is offered, and why not the others. */
export async function listTools(options: ToolOptions): Promise<void> {
  const { place, result } = await withSession(options, async (session) => {
    const place = await toolPlace(session, options);
    return { place, result: await session.call("tool/list", place) };
  });
  if (options.json) return printJson(result);
  for (const { name, state, problem } of result.servers ?? [])
    if (problem !== undefined) note(paintErr.yellow(visible(`MCP server ${name} (${state}): ${problem}`)));
  if (result.data.length === 0) return print(paint.dim("There are no tools here."));
  const inThread = place.thread_id !== undefined;
  const heading = [
    "NAME",
    "PLUGIN",
    ...(inThread ? ["STATE"] : []),
    inThread ? "WHAT IT DOES, OR WHY NOT" : "WHAT IT DOES",
  ];
  printTable(
    heading,
    result.data.map((tool) => row(tool, inThread)),
  );
}

function row(
  { name, plugin = "", description, offered, reason, approval }: Tool,
  inThread: boolean,
): string[] {
  const about = inThread && !offered ? paint.dim(visible(reason ?? "")) : summaryOf(description);
  const state = offered ? STATES[approval ?? "allow"] : "–";
  return [visible(name), visible(plugin), ...(inThread ? [state] : []), about];
}

const STATES = { allow: "offered", ask: "asks first", deny: "denied" } as const;

const MOST_SHOWN = 80;

/** Descriptions are for models, and can be long: the help of a tool shows its whole. */
function summaryOf(description: string): string {
  const line = visible(description.replace(/\s+/g, " ").trim());
  const letters = [...line];
  return letters.length <= MOST_SHOWN ? line : `${letters.slice(0, MOST_SHOWN - 1).join("")}…`;
}
