import type { Accepted } from "./accept-answer.js";
import { isLasting, type TurnContext } from "./context.js";
import type { AcceptedSubscription } from "./package.js";

interface Given {
  readonly facts: readonly unknown[];
  readonly accepted: Accepted;
}

/** By subscription, then by the first of the facts it looks at. */
const known = new WeakMap<AcceptedSubscription, WeakMap<object, Given>>();

/** What a hook gave for the very facts it looks at; asked again, it would give the same. */
export function remembered(subscription: AcceptedSubscription, context: TurnContext): Accepted | undefined {
  const facts = lastingFacts(subscription, context);
  const given = facts && known.get(subscription)?.get(facts[0] as object);
  return given?.facts.every((fact, at) => fact === facts?.[at]) ? given.accepted : undefined;
}

export function remember(
  subscription: AcceptedSubscription,
  context: TurnContext,
  accepted: Accepted,
): Accepted {
  const facts = lastingFacts(subscription, context);
  if (!facts) return accepted;
  const byFact = known.get(subscription) ?? new WeakMap<object, Given>();
  known.set(subscription, byFact);
  byFact.set(facts[0] as object, { facts, accepted });
  return accepted;
}

/** Undefined where one of them may be another value the next time although nobody could tell. */
function lastingFacts(
  { looks_at = [] }: AcceptedSubscription,
  context: TurnContext,
): readonly unknown[] | undefined {
  const facts = looks_at.map((name) => context[name]);
  if (!isLasting(facts[0])) return undefined;
  return facts.every((fact) => typeof fact !== "object" || isLasting(fact)) ? facts : undefined;
}
