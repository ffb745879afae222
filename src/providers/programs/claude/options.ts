import type { ModelParams } from "../../provider.js";
import type { ProgramConfig } from "../config.js";
import type { Turn } from "../program.js";
import { type SpokenPart, spoken } from "../words.js";

/** The name of the bridge in the program: its tools are `mcp__heddle__…` there. */
export const BRIDGE = "heddle";
export const BRIDGE_PREFIX = `mcp__${BRIDGE}__`;

const TALKING = [
  "-p",
  "--input-format=stream-json",
  "--output-format=stream-json",
  "--verbose",
  "--include-partial-messages",
  // Permissions are asked for on the same lines.
  "--permission-prompt-tool=stdio",
  "--permission-mode=default",
  // Settings of a project would be trusted unseen: they can allow tools and name commands.
  "--setting-sources=user",
  "--strict-mcp-config",
  "--no-chrome",
  // Otherwise a session keeps the instructions that it was begun with, whatever it is told later.
  "--system-prompt-snapshot=off",
];

/** Tools that outlive a turn, need somebody at a terminal, or leave the thread's place. */
const NEVER = [
  "AskUserQuestion",
  "CronCreate",
  "CronDelete",
  "CronList",
  "EnterWorktree",
  "ExitWorktree",
  "ListAgents",
  "Monitor",
  "PushNotification",
  "RemoteTrigger",
  "ScheduleWakeup",
  "SendMessage",
];

const WITHOUT_TOOLS = ["--tools", "", "--disable-slash-commands", '--settings={"disableAllHooks":true}'];

/** The arguments that a process is started with, whatever it is asked. */
export function optionsOf({ model, params, work }: Turn): string[] {
  return [
    ...TALKING,
    ...(model === undefined ? [] : [`--model=${model}`]),
    ...effortOf(params),
    ...(work.ownTools ? [`--disallowedTools=${NEVER.join(",")}`] : WITHOUT_TOOLS),
  ];
}

export function argumentsOf(turn: Turn, { args }: ProgramConfig): string[] {
  const { session } = turn;
  // In one argument: whatever the id is, it is no option.
  return [...args, ...optionsOf(turn), ...(session ? [`--resume=${session.id}`] : [])];
}

function effortOf({ reasoning_effort: effort }: ModelParams): string[] {
  if (effort === undefined) return [];
  if (effort === "none") return ["--thinking=disabled"];
  return [`--effort=${effort === "minimal" ? "low" : effort}`];
}

const QUIET: NodeJS.ProcessEnv = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_AUTOUPDATER: "1",
  DISABLE_ERROR_REPORTING: "1",
  DISABLE_TELEMETRY: "1",
  // Heddle owns the instructions: CLAUDE.md, AGENTS.md and what it remembers by itself stay out.
  CLAUDE_CODE_DISABLE_AUTO_MEMORY: "1",
  CLAUDE_CODE_DISABLE_CLAUDE_MDS: "1",
  // An `@path` in a message would be read without anybody being asked.
  CLAUDE_CODE_DISABLE_FILE_MENTIONS: "1",
  // What goes on after a turn has ended would begin turns of its own, which nobody hears.
  CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1",
  CLAUDE_CODE_DISABLE_CRON: "1",
  CLAUDE_CODE_DISABLE_WORKFLOWS: "1",
  // Heddle may itself have been started by one.
  CLAUDECODE: undefined,
  CLAUDE_CODE_ENTRYPOINT: undefined,
};

/** `scratch` is where it puts its temporary files. */
export function environmentOf({ params, work }: Turn, { env }: ProgramConfig, scratch: string) {
  return {
    ...env,
    ...QUIET,
    CLAUDE_CODE_TMPDIR: scratch,
    ...(work.ownTools ? {} : { ENABLE_TOOL_SEARCH: "false" }),
    ...(params.max_tokens === undefined ? {} : { CLAUDE_CODE_MAX_OUTPUT_TOKENS: String(params.max_tokens) }),
  };
}

/** With its own tools the program keeps its own system prompt, which says how to use them. */
export function initializeRequest({ instructions, work }: Turn): Record<string, unknown> {
  const said = work.ownTools ? { appendSystemPrompt: instructions } : { systemPrompt: [instructions] };
  return { subtype: "initialize", ...(instructions === "" ? {} : said) };
}

/** A day: a call may wait for somebody's approval. Without it the program gives up after a minute. */
const CALL_MS = 86_400_000;

export function bridgeRequest({ work }: Turn): Record<string, unknown> {
  const { bridge } = work;
  const server = bridge && {
    type: "http",
    url: bridge.url,
    headers: { Authorization: `Bearer ${bridge.token}` },
    timeout: CALL_MS,
    // Offered at once instead of being looked for.
    alwaysLoad: true,
  };
  return { subtype: "mcp_set_servers", servers: server ? { [BRIDGE]: server } : {} };
}

/** Which tools the bridge offers, and where: changed, it has to be connected anew. */
export function bridgeKey({ work, tools }: Turn): string {
  const { bridge } = work;
  return bridge ? JSON.stringify([bridge.url, bridge.token, tools]) : "";
}

export function messageLine(turn: Turn): string {
  const content = spoken(turn, { withInstructions: false }).map(contentPart);
  return JSON.stringify({ type: "user", message: { role: "user", content } });
}

function contentPart(part: SpokenPart): Record<string, unknown> {
  if (part.type === "image") {
    const { mimeType, data } = part;
    return { type: "image", source: { type: "base64", media_type: mimeType, data } };
  }
  // A text that begins with a slash would be carried out as a command of the program.
  return { type: "text", text: part.text.startsWith("/") ? `\n${part.text}` : part.text };
}

export function additions({ work }: Turn): string[] {
  const environment = "the environment (directory, platform, model) and the date";
  return work.ownTools
    ? [
        "its own system prompt, before the instructions",
        "descriptions of its own tools, agents and skills",
        environment,
        "how to attribute commits",
        "prompts of its own for subagents, which do not get the instructions",
      ]
    : ["that it is an agent built on the Claude Agent SDK", environment];
}
