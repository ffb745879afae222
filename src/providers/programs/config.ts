import { z } from "zod";
import { readConfig } from "../config.js";
import type { ProgramId } from "../provider.js";

/** How a program is started. */
export interface ProgramConfig {
  /** A name on the PATH, or a path. */
  readonly command: string;
  /** Put before the program's own arguments: for ACP agents all of them. */
  readonly args: readonly string[];
  /** All of the environment it sees. */
  readonly env: NodeJS.ProcessEnv;
  readonly timeouts: ProgramTimeouts;
}

interface ProgramTimeouts {
  /** Until it can be asked. */
  readonly startMs: number;
  /** Between two events of a turn, while nobody is asked for a permission. */
  readonly silenceMs: number;
  /** How long a process is kept for the next turn. */
  readonly keepMs: number;
}

const milliseconds = z.number().int().min(1).max(86_400_000);

const programConfigSchema = z.looseObject({
  command: z.string().min(1).optional(),
  args: z.array(z.string()).default([]),
  /** Where it works instead of the thread's directory. Whoever asks decides: it is only looked at here. */
  cwd: z.string().min(1).optional(),
  env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string()).default({}),
  timeouts: z
    .looseObject({
      startMs: milliseconds.default(60_000),
      silenceMs: milliseconds.default(3_600_000),
      keepMs: milliseconds.default(300_000),
    })
    .prefault({}),
});

const commands: Readonly<Record<Exclude<ProgramId, "acp">, string>> = {
  "claude-cli": "claude",
  "codex-cli": "codex",
  "pi-cli": "pi",
};

/** `env` is what the program sees beside what the configuration names. */
export function programConfig(provider: ProgramId, given: unknown, env: NodeJS.ProcessEnv): ProgramConfig {
  const schema =
    provider === "acp"
      ? programConfigSchema.extend({ command: z.string({ error: "must name the program" }).min(1) })
      : programConfigSchema;
  const { command, args, env: own, timeouts } = readConfig(provider, schema, given);
  const named = command ?? commands[provider as keyof typeof commands];
  return { command: named, args, env: reachingUs({ ...env, ...own }), timeouts };
}

const HERE = ["127.0.0.1", "localhost", "::1"];

/** The bridge is on this machine: a proxy would be told its token, and could not reach it. */
function reachingUs(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { NO_PROXY, no_proxy } = env;
  // Programs differ in which of the two they read first.
  return { ...env, NO_PROXY: withUs(NO_PROXY || no_proxy), no_proxy: withUs(no_proxy || NO_PROXY) };
}

function withUs(given: string | undefined): string {
  const named = (given ?? "").split(",").map((one) => one.trim());
  // It means everything only as long as it stands alone.
  if (given?.trim() === "*") return given;
  return [...(given ? [given] : []), ...HERE.filter((one) => !named.includes(one))].join(",");
}
