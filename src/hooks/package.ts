import { z } from "zod";
import { plainWords } from "../base/index.js";
import type { HookContext } from "./context.js";
import type { Contribution } from "./contribution.js";
import { hookError, problemsOf } from "./errors.js";
import {
  contributionKinds,
  executions,
  type HookPhase,
  hookPhases,
  reservedPhases,
  visibilities,
} from "./phases.js";

export const DEFAULT_BUDGET = 16_000;
const MOST_BUDGET = 1_000_000;
const LONGEST_DEADLINE_MS = 10 * 60_000;
const FURTHEST_PRIORITY = 1_000_000;

/** What a hook answers; nothing at all is an answer too. A command writes the same as JSON. */
export interface HookAnswer {
  readonly contributions: readonly Contribution[];
}

/**
 * A hook. The context can't be changed. The signal fires when its answer is not wanted any more: it is late, the run
 * was cancelled, or another hook ended the phase. What it answers after that is ignored.
 */
export type HookRun = (
  context: HookContext,
  call: { readonly signal: AbortSignal },
) => HookAnswer | undefined | Promise<HookAnswer | undefined>;

const idSchema = z
  .string()
  .max(200)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, "must be letters, digits, dots, dashes and underscores");

/** A subscription without the function behind it: what a configuration can say. */
export const subscriptionShape = {
  hook_id: idSchema,
  /** Default: the hook's id, `@` and the phase. */
  subscription_id: idSchema.optional(),
  phase: z.string(),
  /** The smaller comes first. */
  priority: z.int().min(-FURTHEST_PRIORITY).max(FURTHEST_PRIORITY).default(100),
  /** Ids of hooks of the same phase. */
  after: z.array(idSchema).max(64).default([]),
  before: z.array(idSchema).max(64).default([]),
  execution: z.enum(executions).default("blocking"),
  deadline_ms: z.int().min(1).max(LONGEST_DEADLINE_MS).optional(),
  failure_policy: z.enum(["fail_closed", "best_effort"]).default("best_effort"),
  visibility: z.enum(visibilities).default("internal"),
  /** The most code points a section may have, its wrapper included. */
  budget: z.int().min(64).max(MOST_BUDGET).default(DEFAULT_BUDGET),
};

export const packageShape = {
  id: idSchema,
  /** What it is about; default: its id. */
  domain: idSchema.optional(),
  /** The kinds of contributions it may make. */
  contributes: z.array(z.enum(contributionKinds)).max(contributionKinds.length),
};

const callable = (value: unknown) => typeof value === "function";

const packageSchema = z.strictObject({
  ...packageShape,
  source: z
    .discriminatedUnion("kind", [
      z.strictObject({ kind: z.literal("built_in") }),
      z.strictObject({ kind: z.literal("module"), path: z.string() }),
      z.strictObject({ kind: z.literal("command"), command: z.string() }),
    ])
    .default({ kind: "built_in" }),
  subscriptions: z
    .array(
      z.strictObject({
        ...subscriptionShape,
        run: z.custom<HookRun>(callable, "must be a function"),
        /** For a hook whose answer follows from these facts alone, whenever and by whomever it is asked. */
        looks_at: z.array(z.string()).min(1).optional(),
      }),
    )
    .min(1)
    .max(64),
  /** Lets go of what the package holds; called once, when no call of it is under way any more. */
  close: z.custom<() => Promise<void>>(callable, "must be a function").optional(),
});

export type HookPackage = z.input<typeof packageSchema>;
type ParsedPackage = z.output<typeof packageSchema>;

export interface AcceptedSubscription
  extends Readonly<Omit<ParsedPackage["subscriptions"][number], "phase" | "subscription_id">> {
  readonly subscription_id: string;
  readonly phase: HookPhase;
  readonly package_id: string;
  readonly contributes: ParsedPackage["contributes"];
}

export interface AcceptedPackage extends Readonly<Omit<ParsedPackage, "subscriptions" | "domain">> {
  readonly domain: string;
  readonly subscriptions: readonly AcceptedSubscription[];
}

/** Checks a package and fills in what it leaves open. */
export function acceptPackage(given: unknown): AcceptedPackage {
  const parsed = packageSchema.safeParse(given, { error: plainWords });
  if (!parsed.success) throw invalidPackage(given, problemsOf(parsed.error));
  const { subscriptions, ...rest } = parsed.data;
  return {
    ...rest,
    domain: rest.domain ?? rest.id,
    subscriptions: subscriptions.map((subscription) => {
      const phase = acceptPhase(subscription.phase, subscription.hook_id, rest.id);
      const contradiction = contradictionIn(subscription);
      if (contradiction) throw invalidPackage(rest, `${subscription.hook_id}: ${contradiction}`);
      const subscription_id = subscription.subscription_id ?? `${subscription.hook_id}@${phase}`;
      return { ...subscription, phase, subscription_id, package_id: rest.id, contributes: rest.contributes };
    }),
  };
}

function contradictionIn({ execution, deadline_ms, failure_policy }: ParsedPackage["subscriptions"][number]) {
  if ((execution === "deadline") !== (deadline_ms !== undefined)) {
    return 'deadline_ms goes with execution "deadline", and only with it';
  }
  if (execution === "background" && failure_policy === "fail_closed") {
    return "nobody waits for a hook in the background, so it can't fail closed";
  }
  return undefined;
}

function acceptPhase(phase: string, hook_id: string, package_id: string): HookPhase {
  const known = hookPhases.find((name) => name === phase);
  if (known) return known;
  if (reservedPhases.some((name) => name === phase)) {
    throw hookError(
      { kind: "hook.phase_reserved", package_id, hook_id, phase },
      `Hook ${hook_id} of package ${package_id} subscribes to ${phase}, a name that is reserved for later: nothing would call it. Use one of ${hookPhases.join(", ")}.`,
    );
  }
  throw invalidPackage(
    { id: package_id },
    `${hook_id}: there is no phase ${phase}; there are ${hookPhases.join(", ")}`,
  );
}

/** The id is told where there is a usable one. */
export function invalidPackage(given: unknown, problem: string) {
  const id = idSchema.safeParse((given as { id?: unknown } | null | undefined)?.id).data;
  return hookError(
    { kind: "hook.invalid_package", ...(id === undefined ? {} : { package_id: id }), problem },
    `The hook package ${id ?? "(without a usable id)"} can't be installed: ${problem}`,
  );
}
