import { hookError } from "./errors.js";
import type { AcceptedSubscription } from "./package.js";
import type { HookPhase } from "./phases.js";

export interface Planned {
  readonly subscription: AcceptedSubscription;
  /** Ids of the subscriptions that must have ended before it starts. They stand before it in the plan. */
  readonly waitsFor: readonly string[];
}

/** The order of a phase: dependencies first, then the smaller priority, then the smaller id. It refuses what has no order. */
export function planPhase(phase: HookPhase, subscriptions: readonly AcceptedSubscription[]): Planned[] {
  const waits = dependencies(phase, subscriptions);
  const left = subscriptions.toSorted(byPriorityThenId);
  const placed = new Set<string>();
  const plan: Planned[] = [];
  while (left.length > 0) {
    const next = left.findIndex(({ subscription_id }) =>
      waitsOf(waits, subscription_id).every((id) => placed.has(id)),
    );
    if (next < 0) throw circular(phase, left, waits);
    const [subscription] = left.splice(next, 1) as [AcceptedSubscription];
    placed.add(subscription.subscription_id);
    plan.push({ subscription, waitsFor: waitsOf(waits, subscription.subscription_id) });
  }
  return plan;
}

type Waits = ReadonlyMap<string, ReadonlySet<string>>;

function waitsOf(waits: Waits, id: string): string[] {
  return [...(waits.get(id) ?? [])].sort();
}

function dependencies(phase: HookPhase, subscriptions: readonly AcceptedSubscription[]): Waits {
  const waits = new Map(subscriptions.map(({ subscription_id }) => [subscription_id, new Set<string>()]));
  const wait = (who: AcceptedSubscription, whom: AcceptedSubscription) => {
    // Nobody knows when a hook in the background has ended, so nothing can be made to come after it.
    if (whom.execution === "background" && who !== whom) throw waitsForBackground(phase, who, whom);
    waits.get(who.subscription_id)?.add(whom.subscription_id);
  };
  for (const subscription of subscriptions) {
    const named = (hook_id: string) => {
      const found = subscriptions.filter((other) => other.hook_id === hook_id);
      if (found.length === 0) throw unknownDependency(subscription, hook_id);
      return found;
    };
    for (const earlier of subscription.after.flatMap(named)) wait(subscription, earlier);
    for (const later of subscription.before.flatMap(named)) wait(later, subscription);
  }
  return waits;
}

/** By code units, not by a language's rules: the order must be the same on every machine. */
function byPriorityThenId(a: AcceptedSubscription, b: AcceptedSubscription): number {
  return a.priority - b.priority || (a.subscription_id < b.subscription_id ? -1 : 1);
}

/** Everyone left waits for someone left, so that walking from one to the next must come back to where it was. */
function circular(phase: HookPhase, left: readonly AcceptedSubscription[], waits: Waits) {
  const ids = new Set(left.map(({ subscription_id }) => subscription_id));
  const path: string[] = [];
  let at = [...ids].sort()[0] as string;
  while (!path.includes(at)) {
    path.push(at);
    at = waitsOf(waits, at).find((id) => ids.has(id)) as string;
  }
  const hookOf = (id: string) => left.find((one) => one.subscription_id === id)?.hook_id ?? id;
  const circle = [...path.slice(path.indexOf(at)), at].map(hookOf);
  return hookError(
    { kind: "hook.cycle", phase, cycle: circle },
    `Hooks of ${phase} wait for each other in a circle: ${circle.join(" after ")}. Take one "after" or "before" away.`,
  );
}

function unknownDependency({ package_id, hook_id, phase }: AcceptedSubscription, dependency: string) {
  return hookError(
    { kind: "hook.unknown_dependency", package_id, hook_id, phase, dependency },
    `Hook ${hook_id} of package ${package_id} is to run before or after ${dependency}, which is not installed for ${phase}. Install that first, or together with it.`,
  );
}

function waitsForBackground(phase: HookPhase, who: AcceptedSubscription, whom: AcceptedSubscription) {
  return hookError(
    { kind: "hook.waits_for_background", hook_id: who.hook_id, phase, dependency: whom.hook_id },
    `Hook ${who.hook_id} is to run after ${whom.hook_id}, which runs in the background: nobody waits for that. Make it blocking, or give it a deadline.`,
  );
}
