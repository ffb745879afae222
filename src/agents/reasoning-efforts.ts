import type { GenerateRequest } from "../providers/index.js";

export type ReasoningEffort = NonNullable<NonNullable<GenerateRequest["params"]>["reasoning_effort"]>;

/** As a record, so that one the providers know and this does not is an error of types. */
const known: Readonly<Record<ReasoningEffort, true>> = {
  none: true,
  minimal: true,
  low: true,
  medium: true,
  high: true,
  xhigh: true,
  max: true,
};

export const reasoningEfforts = Object.keys(known) as ReasoningEffort[];
