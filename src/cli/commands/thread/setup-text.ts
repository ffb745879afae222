import type { ThreadSetup } from "../../../protocol/index.js";
import { oneLine } from "../../message-text.js";
import type { paint as Paint } from "../../output.js";
import { count, visible } from "../../output.js";

const OUTPUT_LINES = 8;

/** How the set-up of a worktree went: a verdict, then what did not go well, each with the end of what it printed. */
export function setupLines(
  { status, steps = [], initial_prompt }: ThreadSetup,
  paint: typeof Paint,
): string[] {
  const fell = steps.filter((step) => step.status === "failed" || step.status === "timed_out");
  const skipped = steps.filter((step) => step.status === "skipped");
  return [
    verdict({ status, steps }, paint),
    ...fell.flatMap((step) => [
      `${paint.red(step.status === "failed" ? "failed" : "took too long")}  ${visible(step.label)}${why(step.reason)}`,
      ...lastLines(step.output).map((line) => paint.dim(`  ${line}`)),
    ]),
    ...skipped.map((step) => paint.dim(`skipped  ${visible(step.label)}${why(step.reason)}`)),
    ...(initial_prompt === undefined ? [] : [`first prompt: ${oneLine(initial_prompt)}`]),
  ];
}

function verdict({ status, steps = [] }: ThreadSetup, paint: typeof Paint): string {
  switch (status) {
    case "done":
      return `${paint.green("done")}, ${stepsText(steps)}`;
    case "failed":
      return `${paint.red("failed")}; the thread works all the same`;
    case "running":
      return "under way";
    case "interrupted":
      return `${paint.yellow("interrupted")}: the gateway stopped before its end`;
    case "untrusted":
      return `${paint.yellow("not run")}: the project's worktree hooks are not trusted; \`heddle trust\` shows what they do`;
  }
}

/** What was skipped did not run, and does not count as if it had. */
function stepsText(steps: NonNullable<ThreadSetup["steps"]>): string {
  const skipped = steps.filter(({ status }) => status === "skipped").length;
  const ran = count(steps.length - skipped, "step");
  return skipped === 0 ? ran : `${ran}, ${skipped} skipped`;
}

function why(reason: string | undefined): string {
  return reason === undefined ? "" : `: ${oneLine(reason)}`;
}

function lastLines(output: string | undefined): string[] {
  return (output ?? "").trimEnd().split("\n").slice(-OUTPUT_LINES).map(visible).filter(Boolean);
}
