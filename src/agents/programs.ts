import { isProgram } from "../providers/index.js";
import type { AgentDefinition } from "./definition.js";
import { programs } from "./provider-facts.js";

/** How an agent's program is started. */
export interface ProgramStart {
  readonly provider: string;
  /** A name on the PATH, or a path. */
  readonly command: string;
  readonly args: readonly string[];
  /** What the configuration adds to its environment. It may hold secrets. */
  readonly env: Readonly<Record<string, string>>;
  /** Which of the programs that are known it is; undefined: another one. */
  readonly known: string | undefined;
}

/** What this machine says of programs. Nobody waits for it, and none of it throws. */
export interface ProgramsHere {
  /** Whether it would be found, and may be executed. */
  isThere(start: ProgramStart): boolean;
  /** Undefined: it is not known, or not yet. */
  versionOf(start: ProgramStart): string | undefined;
  /** Undefined: only the program itself could tell. */
  isSignedIn(start: ProgramStart): boolean | undefined;
}

const places = new WeakMap<AgentDefinition, ProgramsHere>();

/** Agents of one list share a machine. */
export function placeAgents(agents: readonly AgentDefinition[], here: ProgramsHere | undefined): void {
  if (here) for (const agent of agents) places.set(agent, here);
}

/** Undefined for an agent that is no program, and for one whose command nobody named. */
export function programStart({ type, chat }: AgentDefinition): ProgramStart | undefined {
  const { provider } = chat;
  if (type === "external" || !isProgram(provider)) return undefined;
  const config = chat.config.open();
  const command = config.command ?? (provider === "acp" ? undefined : programOf(provider));
  if (typeof command !== "string" || command === "") return undefined;
  return {
    provider,
    command,
    args: (config.args ?? []) as readonly string[],
    env: (config.env ?? {}) as Readonly<Record<string, string>>,
    known: knownProgram(provider, config),
  };
}

/** Which program a configuration starts. Of an ACP agent its file or package tells, as long as it is not started. */
export function knownProgram(
  provider: string,
  { command, args }: { readonly command?: unknown; readonly args?: unknown },
): string | undefined {
  if (provider !== "acp") return programOf(provider);
  const file = String(command ?? "")
    .split(/[\\/]/)
    .at(-1);
  const words = [file, ...(Array.isArray(args) ? args : [])].map(String);
  return Object.keys(programs).find((name) => words.some((word) => programs[name]?.word?.test(word)));
}

function programOf(provider: string): string | undefined {
  return Object.keys(programs).find((name) => programs[name]?.provider === provider);
}

/** Why an agent's program can't be started here; undefined when it can, or nobody has looked. */
export function whyNotThere(agent: AgentDefinition): string | undefined {
  const start = programStart(agent);
  if (!start || (places.get(agent)?.isThere(start) ?? true)) return undefined;
  const { command } = start;
  const problem = /[\\/]/.test(command)
    ? `The program ${command} is not there, or can't be executed`
    : `The program ${command} is not on the PATH`;
  return `${problem}: install it, or set \`chat.config.command\` to where it is.`;
}

export interface ProgramFacts {
  readonly version?: string;
  readonly signed_in?: boolean;
}

/** What a list of agents tells of a program. Asked anew each time: people install, update and sign in while we run. */
export function programFacts(agent: AgentDefinition): ProgramFacts {
  const start = programStart(agent);
  const here = places.get(agent);
  if (!start || !here?.isThere(start)) return {};
  const version = here.versionOf(start);
  const signed_in = here.isSignedIn(start);
  return { ...(version !== undefined && { version }), ...(signed_in !== undefined && { signed_in }) };
}

/** What to do about a program that nobody is signed in to, as far as that is certain. */
export function whySignedOut(agent: AgentDefinition): string | undefined {
  const start = programStart(agent);
  if (start?.known === undefined || places.get(agent)?.isSignedIn(start) !== false) return undefined;
  return `Not signed in: ${signInAdvice(start.known)}.`;
}

/** How somebody signs in to a program, in words that complete a sentence. */
export function signInAdvice(program: string): string {
  return programs[program]?.signIn ?? `run \`${program}\` and sign in`;
}
