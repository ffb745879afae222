import type { RunApproval } from "../../../protocol/index.js";
import { count, visible } from "../../output.js";
import type { Session } from "../../session.js";

/** A terminal full and then some: nobody reads more before they answer a question. */
const MOST_LINES = 200;
const MOST_CHARS = 20_000;
const MARGIN = "  | ";

/** A call that waits, with all of its arguments: nobody allows what they were not shown. */
export async function wholeCall(
  { call }: Pick<Session, "call">,
  workspace_id: string,
  approval: RunApproval,
): Promise<RunApproval> {
  if (!approval.truncated) return approval;
  const { run_id, tool_call_id } = approval;
  const { call: asked } = await call("run/get", { workspace_id, run_id, tool_call_id });
  if (asked === undefined) {
    throw new Error("The gateway is of an older version and does not tell all of what it asks. Update it.");
  }
  const { truncated: _, arguments_chars: __, ...rest } = approval;
  return { ...rest, name: asked.name, arguments: asked.arguments };
}

/** Who wants to call what, and with what. What is longer than a person reads is cut, and says so. */
export function askedLines(approval: RunApproval, { whole = false } = {}): string[] {
  const { agent_id, name, run_id, tool_call_id } = approval;
  const heading = `[approval] ${onOneLine(agent_id)} wants to call ${onOneLine(name)}:`;
  const text = argumentText(approval);
  const shown = whole ? text : beginningOf(text);
  const missing = text.length - shown.length;
  const lines = shown.split("\n").map((line) => MARGIN + harmless(line));
  if (missing === 0) return [heading, ...lines];
  const where = `\`heddle runs approve ${run_id} ${visible(tool_call_id)} --show\` shows all of it.`;
  return [heading, ...lines, `[approval] Cut here: ${count(missing, "character")} more. ${where}`];
}

/** A command as it would be typed; everything else as JSON. What is no JSON, as it is. */
function argumentText({ name, arguments: given }: RunApproval): string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(given);
  } catch {
    return given;
  }
  const { command, ...rest } = Object(parsed) as { command?: unknown };
  if (name !== "bash" || typeof command !== "string") return JSON.stringify(parsed, undefined, 2);
  const others = Object.keys(rest).length === 0 ? "" : `\n\n(and ${JSON.stringify(rest)})`;
  return command + others;
}

function beginningOf(text: string): string {
  const lines = text.slice(0, MOST_CHARS).split("\n");
  return lines.slice(0, MOST_LINES).join("\n");
}

/** What steers a terminal, can't be seen or turns the order of letters around is written out: a command reads as it runs. */
function harmless(line: string): string {
  return visible(line.replaceAll("\t", "    ")).replace(
    /[\p{Cf}\p{Zl}\p{Zp}]/gu,
    (char) => `\\u{${(char.codePointAt(0) as number).toString(16)}}`,
  );
}

function onOneLine(text: string): string {
  return harmless(text.replaceAll(/\s+/g, " "));
}
