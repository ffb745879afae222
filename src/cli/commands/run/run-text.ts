import type { Run, RunStatus, RunUsage, Thread } from "../../../protocol/index.js";
import { paint, visible } from "../../output.js";

const STATUS_PAINT: Readonly<Record<RunStatus, (text: string) => string>> = {
  queued: paint.dim,
  running: paint.cyan,
  waiting: paint.yellow,
  completed: paint.green,
  failed: paint.red,
  cancelled: paint.yellow,
  interrupted: paint.red,
};

export const RUN_STATUSES = Object.keys(STATUS_PAINT) as RunStatus[];

export function statusText(status: RunStatus): string {
  return STATUS_PAINT[status](status);
}

/** Tokens as the provider counted them. */
export function usageText({ input, output, cached_input, reasoning }: RunUsage): string {
  const cached = cached_input ? ` (${number(cached_input)} cached)` : "";
  const thought = reasoning ? ` (${number(reasoning)} reasoning)` : "";
  return `${number(input)} tokens in${cached}, ${number(output)} out${thought}`;
}

/** Digits in groups of three, the same everywhere. */
export function number(value: number): string {
  return value.toLocaleString("en-US");
}

/** A run in one line: where to go on, and what it took. */
export function runLine({ number: count, status, model, usage }: Run, { id }: Thread): string {
  const parts = [
    `thread ${id}`,
    `run ${count}${status === "completed" ? "" : ` ${status}`}`,
    ...(model === undefined ? [] : [visible(model)]),
    ...(usage ? [usageText(usage)] : []),
  ];
  return parts.join(" · ");
}
