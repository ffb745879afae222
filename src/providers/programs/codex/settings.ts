import type { Bridge, WorkPlace } from "../../provider.js";
import type { ProgramConfig } from "../config.js";
import type { Turn } from "../program.js";
import { spoken } from "../words.js";
import { BRIDGE } from "./items.js";

type Settings = Readonly<Record<string, unknown>>;

/** Without these it looks names up on the network whenever it starts. */
const QUIET: Settings = {
  "features.plugins": false,
  "features.apps": false,
  "analytics.enabled": false,
  check_for_update_on_startup: false,
};

/** Nobody is asked about what is typed into a terminal that somebody allowed. */
const NO_TERMINAL: Settings = { "features.unified_exec_tty": false };

/** Every tool of its own that an option switches off. What is left, `apply_patch`, has no place to work in: see `turnParams`. */
const TOOLS_OFF: Settings = {
  "features.shell_tool": false,
  "features.unified_exec": false,
  "features.view_image": false,
  "features.multi_agent": false,
  "features.multi_agent_v2": { enabled: false, disable_native_tools: true },
  "agents.enabled": false,
  "features.goals": false,
  "features.image_generation": false,
  "features.browser_use": false,
  "features.browser_use_external": false,
  "features.in_app_browser": false,
  "features.computer_use": false,
  "features.tool_suggest": false,
  "features.memories": false,
  "features.skill_search": false,
  "features.sleep_tool": false,
  "features.hooks": false,
  "features.shell_snapshot": false,
  "skills.include_instructions": false,
  "skills.bundled.enabled": false,
  web_search: "disabled",
  include_permissions_instructions: false,
  include_environment_context: false,
  include_collaboration_mode_instructions: false,
};

const SHARED: Settings = {
  // Heddle owns the instructions of the project.
  project_doc_max_bytes: 0,
  // Nobody answers its questions.
  "tools.experimental_request_user_input": { enabled: false },
};

/** The policy that asks before every command and every change, but for what the user's own rules for codex allow. */
export const ASKS = "untrusted";

/** How a session was begun: the instructions stand in another place of it. */
export function sourceOf({ ownTools }: WorkPlace): string {
  return ownTools ? "heddle" : "heddle-limited";
}

/** Nothing that anybody wrote stands in the arguments. */
export function argumentsOf({ args }: ProgramConfig, { work }: Turn): string[] {
  const settings = { ...QUIET, ...(work.ownTools ? NO_TERMINAL : TOOLS_OFF) };
  const given = Object.entries(settings).flatMap(([key, value]) => ["-c", `${key}=${toml(value)}`]);
  return [...args, ...given, "app-server"];
}

function toml(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{${Object.entries(value).map(([key, inner]) => `${key}=${toml(inner)}`)}}`;
}

/** What `thread/start` and `thread/resume` say beside the settings: who is asked, and the instructions. */
export function threadParams(turn: Turn): object {
  const { model, session, instructions, work } = turn;
  const place = work.ownTools ? "developerInstructions" : "baseInstructions";
  return {
    ...(session ? { threadId: session.id, excludeTurns: true } : { threadSource: sourceOf(work) }),
    cwd: work.directory,
    ...(model === undefined ? {} : { model }),
    approvalPolicy: ASKS,
    approvalsReviewer: "user",
    // Every command and change is asked for, so a sandbox would only keep what was allowed from being done: in codex's a
    // command fails at its first write, or is carried out a second time outside.
    sandbox: work.ownTools ? "danger-full-access" : "read-only",
    ...(instructions === "" ? {} : { [place]: instructions.toWellFormed() }),
  };
}

/** The settings of a thread. `others`: MCP servers that the user has configured for codex. Holds the bridge's token. */
export function threadSettings({ work }: Turn, others: readonly string[]): Settings {
  const off = work.ownTools ? [] : others.map((name) => [name, { enabled: false }]);
  const heddle = work.bridge ? { [BRIDGE]: bridged(work.bridge) } : {};
  // A name may hold dots, which a key would be cut at.
  const mcp_servers = { ...Object.fromEntries(off), ...heddle };
  return { ...SHARED, ...(work.ownTools ? {} : TOOLS_OFF), mcp_servers };
}

function bridged({ url, token }: Bridge): Settings {
  return {
    url,
    http_headers: { Authorization: `Bearer ${token}` },
    enabled: true,
    required: true,
    // Heddle decides in the bridge.
    default_tools_approval_mode: "approve",
    // As long as somebody thinks about an approval there.
    tool_timeout_sec: 86_400,
  };
}

/** What `turn/start` says beside the thread's id. */
export function turnParams(turn: Turn): object {
  const { reasoning_effort } = turn.params;
  return {
    input: spoken(turn, { withInstructions: false }).map((part) =>
      part.type === "text"
        ? { type: "text", text: part.text.toWellFormed(), text_elements: [] }
        : { type: "image", url: `data:${part.mimeType};base64,${part.data}` },
    ),
    ...(reasoning_effort === undefined ? {} : { effort: reasoning_effort }),
    // A resumed thread has forgotten it: without a place every tool that works on files or starts programs refuses.
    ...(turn.work.ownTools ? {} : { environments: [] }),
  };
}

const ADDS_ALWAYS = [
  "the AGENTS.md of its own home folder (`CODEX_HOME`), if there is one",
  "tools for the resources of MCP servers",
] as const;

/** What codex adds by itself, for people. */
export function addsOf({ work, instructions }: Turn): string[] {
  if (work.ownTools) {
    return [
      "its own system prompt for the model",
      "its skills, its rules for permissions, and an environment block (folder, shell, date)",
      "its own tools with their descriptions, and MCP servers of its own configuration",
      ...ADDS_ALWAYS,
    ];
  }
  return [
    ...(instructions === "" ? ["its own system prompt for the model"] : []),
    "the description of `apply_patch`, which it refuses to carry out, with models that know it",
    "for some models a tool that runs JavaScript without files or network, to call the others",
    ...ADDS_ALWAYS,
  ];
}
