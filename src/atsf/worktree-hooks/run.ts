import type { ProjectConfig } from "../schemas.js";
import { makeSymlink } from "./make-symlink.js";
import { type CommandEnd, runCommand } from "./run-command.js";

const DEFAULT_TIMEOUT_MS = 120_000;
const LONGEST_TIMEOUT_MS = 30 * 60_000;
const LABEL_LENGTH = 200;

export interface HookStep {
  readonly kind: "symlink" | "command";
  readonly label: string;
  readonly status: "done" | "skipped" | "failed" | "timed_out";
  readonly reason?: string;
  readonly exitCode?: number;
  /** The end of what the command wrote; `outputBytes` says how much there was. */
  readonly output?: string;
  readonly outputBytes?: number;
  readonly durationMs?: number;
}

export interface HookProgress {
  /** From 1. */
  readonly step: number;
  readonly of: number;
  readonly label: string;
  readonly status: "running" | HookStep["status"];
  readonly output?: string;
}

export interface HooksToRun {
  readonly hooks: ProjectConfig["worktreeHooks"];
  /** Sources of links are relative to it. */
  readonly repository: string;
  /** Targets of links are relative to it, and commands run in it. */
  readonly worktree: string;
  readonly onProgress?: ((progress: HookProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly platform?: NodeJS.Platform | undefined;
  /** The environment of commands; default: this process's. */
  readonly env?: NodeJS.ProcessEnv | undefined;
}

export interface HooksEnd {
  /** Nothing failed, took too long or was cut short. */
  readonly ok: boolean;
  readonly steps: HookStep[];
}

/** Sets a worktree up: links, then commands, one after the other. It reports what went wrong and never throws. */
export async function runHooks(given: HooksToRun): Promise<HooksEnd> {
  const planned = plan(given);
  const steps: HookStep[] = [];
  let stopped: string | undefined;
  for (const [index, { kind, label, skip, mayFail, run }] of planned.entries()) {
    const tell = teller(given.onProgress, { step: index + 1, of: planned.length, label });
    if (given.signal?.aborted) stopped = "cancelled";
    const reason = skip ?? (kind === "command" || given.signal?.aborted ? stopped : undefined);
    if (reason === undefined) tell("running");
    const end: StepEnd =
      reason === undefined ? await run((output) => tell("running", output)) : { status: "skipped", reason };
    steps.push({ kind, label, ...end });
    tell(end.status, end.output);
    if (fell(end) && !mayFail) stopped ??= `an earlier command did not succeed: ${label}`;
  }
  return { ok: !steps.some(fell) && stopped === undefined, steps };
}

type StepEnd = Omit<HookStep, "kind" | "label">;

interface Planned {
  readonly kind: HookStep["kind"];
  readonly label: string;
  /** Why it is left out whatever happens before it. */
  readonly skip?: string | undefined;
  /** Its failure stops nothing after it. */
  readonly mayFail: boolean;
  run(onOutput: (tail: string) => void): Promise<StepEnd>;
}

function plan(given: HooksToRun): Planned[] {
  const { hooks, platform = process.platform } = given;
  const links = (hooks?.symlinks ?? []).map(
    ({ source, target }): Planned => ({
      kind: "symlink",
      label: cut(target === undefined || target === source ? source : `${source} -> ${target}`),
      mayFail: true,
      run: () =>
        makeSymlink({ source, target, platform, repository: given.repository, worktree: given.worktree }),
    }),
  );
  const commands = (hooks?.postSetupCommands ?? []).map(
    (hook): Planned => ({
      kind: "command",
      label: cut(hook.label ?? hook.command),
      skip: isFor(hook.platforms, platform) ? undefined : `not for ${platform}`,
      mayFail: hook.continueOnError ?? false,
      run: (onOutput): Promise<CommandEnd> =>
        runCommand({
          command: hook.command,
          cwd: given.worktree,
          timeoutMs: timeoutOf(hook.timeout),
          env: given.env,
          signal: given.signal,
          onOutput,
        }),
    }),
  );
  return [...links, ...commands];
}

function isFor(platforms: readonly string[] | undefined, platform: string): boolean {
  return platforms === undefined || platforms.length === 0 || platforms.includes(platform);
}

/** No command runs for ever: 0, which others read as "no limit", means the longest we allow. */
export function timeoutOf(timeout = DEFAULT_TIMEOUT_MS): number {
  return timeout === 0 ? LONGEST_TIMEOUT_MS : Math.min(timeout, LONGEST_TIMEOUT_MS);
}

function fell({ status }: StepEnd): boolean {
  return status === "failed" || status === "timed_out";
}

/** A listener that throws must not stop the set-up it is told of. */
function teller(
  onProgress: HooksToRun["onProgress"],
  step: Pick<HookProgress, "step" | "of" | "label">,
): (status: HookProgress["status"], output?: string) => void {
  return (status, output) => {
    try {
      onProgress?.({ ...step, status, ...(output === undefined ? {} : { output }) });
    } catch {
      // The step goes on; there is nobody else to tell.
    }
  };
}

function cut(label: string): string {
  return label.length > LABEL_LENGTH ? `${label.slice(0, LABEL_LENGTH - 1)}…` : label;
}
