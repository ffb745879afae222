import type { ReasoningEffort } from "../../provider.js";
import type { ProgramConfig } from "../config.js";
import type { Turn } from "../program.js";

/**
 * Heddle owns the instructions and the tools: what pi would find by itself is left out. An empty text in the place of a
 * prompt keeps pi from reading its SYSTEM.md and APPEND_SYSTEM.md.
 */
const ALONE = [
  "--no-extensions",
  "--no-skills",
  "--no-prompt-templates",
  "--no-themes",
  "--no-context-files",
  "--system-prompt",
  "",
  "--append-system-prompt",
  "",
];

const levels: Readonly<Record<ReasoningEffort, string>> = {
  none: "off",
  minimal: "minimal",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "xhigh",
  max: "xhigh",
};

/** What a process is started with. A later turn that would need other ones needs another process. */
export function startArguments(turn: Turn): string[] {
  const { model, params, session, work } = turn;
  const effort = params.reasoning_effort;
  return [
    "--mode",
    "rpc",
    ...ALONE,
    ...(work.ownTools ? [] : ["--no-builtin-tools"]),
    ...(model === undefined ? [] : ["--model", model]),
    ...(effort === undefined ? [] : ["--thinking", levels[effort]]),
    ...(session ? ["--session", session.id] : []),
  ];
}

/** Nothing is looked up, told or updated over the network, and no compiled copy of the extension is left behind. */
const QUIET = { PI_OFFLINE: "1", PI_SKIP_VERSION_CHECK: "1", PI_TELEMETRY: "0", JITI_FS_CACHE: "false" };

export function environment({ env }: ProgramConfig): NodeJS.ProcessEnv {
  return { ...env, ...QUIET };
}
