import { dirname, resolve } from "node:path";
import { plainWords } from "../base/index.js";
import type { UserPackage } from "../hooks/index.js";
import { firstProblem } from "./config-problems.js";
import { type AgentEntry, type ConfigEntries, configSchema } from "./config-schema.js";
import { type ConfigText, readConfigText } from "./config-text.js";
import { type ConfigWarning, warningsFor } from "./config-warnings.js";
import { type AgentDefinition, defineAgent } from "./definition.js";
import { extendEntries } from "./extend.js";
import { Sealed } from "./sealed.js";
import { type Env, substituteVariables } from "./substitute.js";

export interface HeddleConfig {
  /** In the order of the file. */
  readonly agents: readonly AgentDefinition[];
  readonly plugins: Sealed<ConfigEntries["plugins"]>;
  readonly mcpServers: Sealed<ConfigEntries["mcpServers"]>;
  /** Relative paths are resolved. What a hook is started with is shown to people who list hooks. */
  readonly hooks: readonly UserPackage[];
  readonly limits: Readonly<ConfigEntries["limits"]>;
  /** Of these limits, those that the file names itself. */
  readonly ownLimits: Partial<ConfigEntries["limits"]>;
  /** The environment variables it was filled in from: what they hold may be secret. */
  readonly variables: readonly string[];
}

export interface ConfigSource {
  /** How the file is called in warnings and errors. */
  readonly file: string;
  /** What `${NAME}` stands for. */
  readonly env: Env;
  /** What relative paths are relative to; default: the directory of the file. */
  readonly directory?: string;
  /** The ids that an entry of `plugins` may have; without them none is looked at. */
  readonly plugins?: readonly string[];
}

export interface ParsedConfig {
  readonly config: HeddleConfig;
  readonly warnings: ConfigWarning[];
  /** What the file says, without its comments; no variable is filled in. */
  readonly written: unknown;
}

/**
 * Reads a configuration, or throws `config.invalid` or `config.missing_variable` with file, line and key. Neither they nor
 * warnings hold values of it.
 */
export function parseConfig(
  text: string,
  { file, env, directory = dirname(file), plugins }: ConfigSource,
): ParsedConfig {
  const config = readConfigText(text, file);
  const value = substituteVariables(config, env);
  const entries = checked(value, config);
  assertUniqueIds(entries, config);
  const agents = extendEntries(entries.agents, config);
  for (const [index, { type, external }] of agents.entries()) {
    if (type === "external" && !external) {
      throw config.fault(["agents", index], "is external, but has no `external.inputUrl`");
    }
  }
  return {
    config: {
      agents: agents.map((entry) => defineAgent(withCommand(entry, directory), "config")),
      plugins: new Sealed(entries.plugins),
      mcpServers: new Sealed(entries.mcpServers),
      hooks: entries.hooks.map((entry) => withPaths(entry, directory)),
      limits: entries.limits,
      ownLimits: ownLimits(value, entries),
      variables: [
        ...new Set([...text.matchAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g)].map(([, name]) => name as string)),
      ],
    },
    warnings: warningsFor(value, config, { plugins }),
    written: config.value,
  };
}

function ownLimits(value: unknown, { limits }: ConfigEntries): Partial<ConfigEntries["limits"]> {
  const named = Object.keys((value as { limits?: object }).limits ?? {});
  return Object.fromEntries(Object.entries(limits).filter(([name]) => named.includes(name)));
}

function checked(value: unknown, config: ConfigText): ConfigEntries {
  const parsed = configSchema.safeParse(value, { error: plainWords });
  if (parsed.success) return parsed.data;
  const { path, problem } = firstProblem(parsed.error, value);
  throw config.fault(path, problem);
}

function assertUniqueIds({ agents }: ConfigEntries, config: ConfigText): void {
  const lines = new Map<string, number>();
  for (const [index, { agentId }] of agents.entries()) {
    const path = ["agents", index, "agentId"];
    const line = lines.get(agentId);
    if (line !== undefined) throw config.fault(path, `is that of the agent in line ${line}, too`);
    lines.set(agentId, config.lineOf(path));
  }
}

/** A program works in a thread's directory: what the file means is beside the file. */
function withCommand(entry: AgentEntry, directory: string): AgentEntry {
  const command = entry.chat?.config?.command;
  if (command === undefined || !isBeside(command)) return entry;
  return {
    ...entry,
    chat: { ...entry.chat, config: { ...entry.chat?.config, command: resolve(directory, command) } },
  };
}

function isBeside(program: string): boolean {
  return /^\.{1,2}[\\/]/.test(program);
}

/** What `hooks` names in the file's directory is found there, wherever the program runs. */
function withPaths(entry: ConfigEntries["hooks"][number], directory: string): UserPackage {
  if ("module" in entry) return { module: resolve(directory, entry.module) };
  const { command, cwd, ...rest } = entry;
  const [program, ...args] = command ?? [];
  return {
    ...rest,
    ...(program !== undefined && {
      command: [isBeside(program) ? resolve(directory, program) : program, ...args],
    }),
    ...(cwd !== undefined && { cwd: resolve(directory, cwd) }),
  };
}
