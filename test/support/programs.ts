import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { temporaryDirectory } from "./stores.js";

/** A deed of `programs/doer.mjs`, which says what each means. */
export type Deed = Readonly<Record<string, unknown>>;

/** The message that has the doer do something. */
export const doing = (...deeds: readonly Deed[]): string => `do ${JSON.stringify(deeds)}`;

export interface Doer {
  /** An agent of a configuration that is this program. */
  agent(agentId: string, more?: object): object;
  /** What it has received, in every process of it, in order. */
  heard(): Heard[];
  /** The texts of the messages it was given. */
  prompts(): string[];
  /** Processes that were started. */
  starts(): number[];
  /** Those of them of whose process group anything is left. */
  living(): number[];
  /** A file for the deed `wait`. */
  file(name: string): string;
}

interface Heard {
  readonly started?: number;
  readonly method?: string;
  readonly params?: { readonly prompt?: readonly { readonly text?: string }[]; readonly sessionId?: string };
  readonly headers?: Readonly<Record<string, string>>;
  readonly bridge?: string;
}

/** A program that does what it is told, and remembers its sessions unless it is to forget them. */
export function doer({ forgets = false, stubborn = false, timeouts = {} } = {}): Doer {
  const directory = temporaryDirectory();
  const log = join(directory, "log");
  const env = {
    DOER_LOG: log,
    ...(!forgets && { DOER_SESSIONS: join(directory, "sessions") }),
    ...(stubborn && { DOER_STUBBORN: "1" }),
  };
  const heard = (): Heard[] =>
    existsSync(log)
      ? readFileSync(log, "utf8")
          .split("\n")
          .filter(Boolean)
          .map((line) => JSON.parse(line))
      : [];
  const starts = () => heard().flatMap(({ started }) => started ?? []);
  return {
    heard,
    starts,
    living: () => {
      const groups = new Set(livingProcesses().map(({ group }) => group));
      return starts().filter((pid) => groups.has(pid));
    },
    prompts: () =>
      heard().flatMap(({ method, params }) =>
        method === "session/prompt" ? [(params?.prompt ?? []).map(({ text = "" }) => text).join("")] : [],
      ),
    file: (name) => join(directory, name),
    agent: (agentId, more = {}) => ({
      agentId,
      displayName: agentId.toUpperCase(),
      description: `The ${agentId} agent.`,
      chat: {
        provider: "acp",
        config: {
          command: process.execPath,
          args: [resolve("test/support/programs/doer.mjs")],
          env,
          timeouts,
        },
      },
      ...more,
    }),
  };
}

interface LivingProcess {
  readonly pid: number;
  readonly group: number;
  /** Its command line. */
  readonly words: readonly string[];
}

/** The processes of this machine: dead ones that nobody has collected yet do not count. */
export function livingProcesses(): LivingProcess[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      const [state, , group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      if (state === "Z" || state === "X") return [];
      const words = readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0").slice(0, -1);
      return [{ pid: Number(name), group: Number(group), words }];
    } catch {
      // Gone while it was looked at.
      return [];
    }
  });
}

/** Whether a process is there, dead ones that nobody has collected yet included: until then whoever started it does not know. */
export function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Whether anybody of a process group is alive. */
export function groupRuns(pid: number): boolean {
  return livingProcesses().some(({ group }) => group === pid);
}
