import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { ToolSpec } from "../../provider.js";
import type { ProgramConfig } from "../config.js";
import { ProgramProblem, type Turn } from "../program.js";
import type { CallSaid } from "./protocol.js";

/** How a process is started, and what is to be cleared away once its session is open. */
export interface Start {
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  clear(): Promise<void>;
}

/** What is known of one agent beyond the protocol. */
export interface Known {
  /** As it names itself. Undefined: any agent. */
  readonly name: string | undefined;
  /** What it adds by itself. */
  readonly adds: readonly string[];
  /** Rejects where its own tools can't be switched off although they have to be. */
  start(turn: Turn, config: ProgramConfig): Promise<Start>;
  /**
   * The name of the tool, from the first that is heard of a call. The title is often a sentence, or, when a permission is
   * asked for, the model's own text: who took it for a name would let the model choose one.
   */
  toolName(call: CallSaid, first: "told" | "asked"): string | undefined;
  /** A call's first words come without its arguments. */
  readonly argumentsFollow: boolean;
  /** Its own "always" allows more than was asked for. */
  readonly alwaysIsTooMuch: boolean;
  /** The mode that a session without tools of its own must be in. */
  readonly limitedMode: string | undefined;
  /** Its process knows by name which tools it may call. */
  readonly toolsByName: boolean;
}

const anyAgent: Known = {
  name: undefined,
  adds: [
    "its own system prompt and tools",
    "what it reads by itself, such as AGENTS.md files in the directory",
  ],
  async start({ work }, { args, env }) {
    if (!work.ownTools)
      throw new ProgramProblem("program.unlimited", "has tools of its own that ACP can't switch off");
    return { args, env, clear: async () => {} };
  },
  toolName: ({ _meta }) => namedIn(_meta),
  argumentsFollow: false,
  alwaysIsTooMuch: false,
  limitedMode: undefined,
  toolsByName: false,
};

const LIMITED = "heddle-limited";
/** By itself it asks for nothing. What only reads stays free, as in other agents. */
const ASKING = { edit: "ask", bash: "ask", webfetch: "ask", websearch: "ask", external_directory: "ask" };

const opencode: Known = {
  name: "OpenCode",
  adds: [
    "its own system prompt and tools",
    "a description of the environment",
    "AGENTS.md in its configuration directory",
  ],
  async start({ work }, { args, env }) {
    const given = jsonOf(env.OPENCODE_CONFIG_CONTENT);
    const agents = recordOf(given.agent);
    const limited = { mode: "primary", permission: { "*": "deny", "heddle_*": "allow" } };
    const content = {
      ...given,
      autoupdate: false,
      share: "disabled",
      // A title is made by a request of its own, with all that was said in it.
      agent: { ...agents, title: { disable: true }, ...(work.ownTools ? {} : { [LIMITED]: limited }) },
      ...(work.ownTools
        ? { permission: { ...recordOf(given.permission), ...ASKING } }
        : { permission: limited.permission, default_agent: LIMITED }),
    };
    const quiet = {
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      OPENCODE_DISABLE_PROJECT_CONFIG: "1",
      OPENCODE_DISABLE_CLAUDE_CODE: "1",
    };
    return {
      args,
      env: {
        ...quiet,
        ...env,
        OPENCODE_CONFIG_CONTENT: JSON.stringify(content),
        ...(work.ownTools ? {} : { OPENCODE_PERMISSION: undefined }),
      },
      clear: async () => {},
    };
  },
  toolName: ({ title, status }, first) =>
    first === "told" && status === "pending" && title && isName(title) ? title : undefined,
  argumentsFollow: true,
  alwaysIsTooMuch: false,
  limitedMode: LIMITED,
  toolsByName: false,
};

const gemini: Known = {
  name: "gemini-cli",
  adds: [
    "its own system prompt and tools",
    "a description of the environment with the names of the directory's files",
    "GEMINI.md files, and MCP servers such as Heddle's tools, only in a folder that it trusts",
  ],
  async start({ work, tools }, { args, env }) {
    if (work.ownTools) return { args, env, clear: async () => {} };
    const directory = await mkdtemp(join(tmpdir(), "heddle-acp-"));
    await chmod(directory, 0o700);
    const policy = join(directory, "policy.toml");
    await writeFile(policy, policyOf(tools), { mode: 0o600 });
    return {
      args: [...args, "--policy", policy, "--admin-policy", policy],
      env,
      clear: () => rm(directory, { recursive: true, force: true }),
    };
  },
  // The id is made of the tool's name and the model's own id.
  toolName: ({ toolCallId }) => /^([A-Za-z]\w*?)__/.exec(toolCallId)?.[1],
  argumentsFollow: false,
  // One "always" lets it edit every file, and fails in a folder that it does not trust.
  alwaysIsTooMuch: true,
  limitedMode: undefined,
  toolsByName: true,
};

const byCommand: readonly (readonly [RegExp, Known])[] = [
  [/^(?:gemini(?:\.(?:js|cmd))?|@google\/gemini-cli(?:@.*)?)$/, gemini],
  [/^(?:opencode(?:\.(?:exe|cmd))?|opencode-ai(?:@.*)?)$/, opencode],
];

/** Told by the command, or by the package that a runner such as npx is given. */
export function knownAgent({ command, args }: Pick<ProgramConfig, "command" | "args">): Known {
  const words = [basename(command), ...args];
  return byCommand.find(([pattern]) => words.some((word) => pattern.test(word)))?.[1] ?? anyAgent;
}

/** A rule for each tool: one with a pattern hides the others, but then forbids these too when they are called. */
function policyOf(tools: readonly ToolSpec[]): string {
  const names = tools.map(({ name }) => JSON.stringify(`mcp_heddle_${name}`));
  const allow = `\n[[rule]]\ntoolName = [${names.join(", ")}]\ndecision = "allow"\npriority = 999\n`;
  const deny = `[[rule]]\ntoolName = "*"\ndecision = "deny"\npriority = 998\n`;
  return names.length > 0 ? deny + allow : deny;
}

function namedIn(meta: unknown): string | undefined {
  const places = [recordOf(meta), ...Object.values(recordOf(meta)).map(recordOf)];
  const name = places.map((place) => place.toolName).find((one) => typeof one === "string");
  return typeof name === "string" && isName(name) ? name : undefined;
}

function isName(text: string): boolean {
  return /^[A-Za-z][\w.-]{0,127}$/.test(text);
}

export function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

function jsonOf(text: string | undefined): Record<string, unknown> {
  try {
    return recordOf(JSON.parse(text ?? "{}"));
  } catch {
    return {};
  }
}
