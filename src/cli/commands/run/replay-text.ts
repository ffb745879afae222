import type { ReplayResult, Run } from "../../../protocol/index.js";
import { count, paint, visible } from "../../output.js";
import { diffLines } from "../explain/diff-text.js";

export interface Replayed {
  readonly run: Run;
  readonly replay?: ReplayResult;
  /** Why it could not even be looked at. */
  readonly error?: { readonly kind: string; readonly message: string };
}

type Check = "integrity" | "fold" | "compile";

/** One run, check by check. */
export function replayLines({ run, replay }: Replayed): string[] {
  if (!replay) return [];
  return [
    `${verdict(replay)}  run ${run.number} of ${run.thread_id}  ${paint.dim(run.id)}`,
    ...(["integrity", "fold", "compile"] as const).map(
      (check) => `${check.padEnd(9)}  ${checkText(replay, check)}`,
    ),
    ...differenceLines({ run, replay }),
  ];
}

/** One run in one line, among many. */
export function replayLine({ run, replay, error }: Replayed): string {
  const what = replay ? verdict(replay) : paint.red("failed");
  const checks = replay ? paint.dim(`${count(replay.events, "event")}, ${count(replay.steps, "step")}`) : "";
  const why = error ? visible(error.message) : checks;
  return `${paint.dim(run.id)}  run ${run.number}  ${what}  ${why}`;
}

/** What is not as it was recorded, with the words of both. */
export function differenceLines({ replay }: Replayed): string[] {
  if (replay?.compile === "other_version" && !replay.first_difference)
    return [paint.yellow("Another version of the compiler made its prompts; this one can't prove them.")];
  const first = replay?.first_difference;
  if (!first) return [];
  return [
    `${paint.red("first difference")}  ${first.check}, ${visible(first.where)}: ${visible(first.message)}`,
    ...(first.diff === undefined ? [] : diffLines(first.diff)),
  ];
}

function verdict({ verified }: ReplayResult): string {
  return verified ? paint.green("verified") : paint.red("not verified");
}

function checkText(replay: ReplayResult, check: Check): string {
  const state = replay[check];
  const shown =
    state === "ok" ? paint.green("ok") : paint.red(state === "failed" ? "failed" : "other version");
  return `${shown}  ${paint.dim(WHAT[check](replay))}`;
}

const WHAT: Readonly<Record<Check, (replay: ReplayResult) => string>> = {
  integrity: ({ events }) => `the hash chain of ${count(events, "event")}, and every blob they name`,
  fold: () => "state and effects, after every event",
  compile: ({ steps }) => `${count(steps, "prompt")}, compiled again from what was recorded`,
};
