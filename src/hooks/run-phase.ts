import { type Accepted, acceptAnswer, originOf } from "./accept-answer.js";
import type { Background } from "./background.js";
import { type CallLimits, callHook, GivenUp } from "./call.js";
import { contextFor, frozenContext, type TurnContext } from "./context.js";
import type { PhaseContribution, PhaseDiagnostic } from "./contribution.js";
import { asCallFailure, CallFailure, failureReasons, hookError } from "./errors.js";
import type { FailureRecords } from "./failure-records.js";
import type { Planned } from "./order.js";
import type { AcceptedSubscription } from "./package.js";
import type { HookPhase } from "./phases.js";
import { remember, remembered } from "./remembered.js";

export interface PhaseResult {
  readonly contributions: readonly PhaseContribution[];
  readonly diagnostics: readonly PhaseDiagnostic[];
}

export interface PhaseRun {
  readonly phase: HookPhase;
  readonly plan: readonly Planned[];
  readonly context: TurnContext;
  /** Ends the phase early. */
  readonly stop: AbortController;
  /** How long a hook without a deadline may take. */
  readonly longestMs: number;
  readonly failures: FailureRecords;
  readonly background: Background;
  readonly straggler: CallLimits["straggler"];
  /** Told what hooks in the background found. */
  readonly onDiagnostic: (diagnostic: PhaseDiagnostic) => void;
}

/**
 * Calls the hooks of a phase, each as soon as those it waits for have ended, and merges what they gave in the order of
 * the plan, whichever ended first. The first failure of a hook that fails closed ends the phase at once.
 */
export async function runPhase(run: PhaseRun): Promise<PhaseResult> {
  const context = frozenContext(run.context);
  const ends = new Map<string, Accepted | Promise<Accepted>>();
  for (const { subscription, waitsFor } of run.plan) {
    const turn = () =>
      Promise.all(waitsFor.map((id) => ends.get(id))).then(() => takeTurn(run, subscription, context));
    ends.set(subscription.subscription_id, known(run, subscription, context) ?? turn());
  }
  const results = await Promise.all(ends.values());
  return {
    contributions: results.flatMap(({ contributions }) => contributions),
    diagnostics: results.flatMap(({ diagnostics }) => diagnostics),
  };
}

/** What needs no turn: whatever the others do, it would be the same. */
function known(
  { stop }: PhaseRun,
  subscription: AcceptedSubscription,
  context: TurnContext,
): Accepted | undefined {
  if (stop.signal.aborted || subscription.execution === "background") return undefined;
  return remembered(subscription, context);
}

const NOTHING: Accepted = { contributions: [], diagnostics: [] };

async function takeTurn(
  run: PhaseRun,
  subscription: AcceptedSubscription,
  context: TurnContext,
): Promise<Accepted> {
  if (subscription.execution === "background") return inBackground(run, subscription, context);
  const { signal } = run.stop;
  const limitMs = subscription.deadline_ms ?? run.longestMs;
  try {
    const limits = { limitMs, signal, straggler: run.straggler };
    const accepted = await ask(subscription, contextFor(context, run.phase, subscription.hook_id), limits);
    return remember(subscription, context, accepted);
  } catch (error) {
    if (error instanceof GivenUp) throw cancelled(run);
    const failure = asCallFailure(error);
    run.failures.add(subscription, failure);
    if (subscription.failure_policy === "best_effort")
      return { ...NOTHING, diagnostics: [noteOf(subscription, failure)] };
    const closed = failedClosed(subscription, failure);
    run.stop.abort(closed);
    throw closed;
  }
}

async function ask(
  subscription: AcceptedSubscription,
  context: ReturnType<typeof contextFor>,
  limits: CallLimits,
): Promise<Accepted> {
  return acceptAnswer(await callHook(subscription.run, context, limits), subscription);
}

function inBackground(run: PhaseRun, subscription: AcceptedSubscription, context: TurnContext): Accepted {
  const work = async (signal: AbortSignal) => {
    try {
      const own = contextFor(context, run.phase, subscription.hook_id);
      const limits = { limitMs: run.longestMs, signal, straggler: run.straggler };
      for (const diagnostic of (await ask(subscription, own, limits)).diagnostics)
        run.onDiagnostic(diagnostic);
    } catch (error) {
      if (error instanceof GivenUp) return;
      const failure = asCallFailure(error);
      run.failures.add(subscription, failure);
      run.onDiagnostic(noteOf(subscription, failure));
    }
  };
  if (run.stop.signal.aborted) throw cancelled(run);
  if (run.background.start(work)) return NOTHING;
  const failure = new CallFailure("overloaded", "too many hooks are at work in the background");
  run.failures.add(subscription, failure);
  return { ...NOTHING, diagnostics: [noteOf(subscription, failure)] };
}

function noteOf(subscription: AcceptedSubscription, { reason, message }: CallFailure): PhaseDiagnostic {
  return {
    ...originOf(subscription),
    level: "warning",
    message: `Hook ${subscription.hook_id} ${failureReasons[reason]}: ${message}`,
  };
}

/** Without the hook's words: this goes where a prompt, a client or a log may pick it up. */
function failedClosed(subscription: AcceptedSubscription, { reason }: CallFailure) {
  const { hook_id, package_id, subscription_id, phase } = subscription;
  return hookError(
    { kind: "hook.failed", hook_id, package_id, subscription_id, phase, reason },
    `Hook ${hook_id} of package ${package_id} ${failureReasons[reason]}, and nothing may go on without it. hook/list shows what it said.`,
  );
}

/** Why the phase was stopped, where that is known: the same for every hook that it stopped. */
function cancelled({ stop, phase }: PhaseRun) {
  const { reason } = stop.signal;
  if (reason instanceof Error && "kind" in reason) return reason;
  return hookError(
    { kind: "hook.cancelled", phase },
    `The hooks of ${phase} were stopped before they had ended.`,
  );
}
