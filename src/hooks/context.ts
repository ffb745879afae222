import type { HookPhase } from "./phases.js";

/** What a run tells its hooks. The phases after the compilation add `manifest` and `outcome`. Values are JSON. */
export interface TurnContext {
  readonly workspace_id: string;
  readonly thread_id: string;
  readonly [fact: string]: unknown;
}

export interface HookContext extends TurnContext {
  readonly hook_id: string;
  readonly phase: HookPhase;
}

/**
 * A copy of what is given that nobody can change: hooks run side by side, and one must not write what the next reads
 * or what the run goes on with. It is plain JSON, so that modules, commands and built-in hooks see the same.
 */
export function frozenCopy<T>(given: T): T {
  return freeze(JSON.parse(JSON.stringify(given)));
}

const lasting = new WeakSet<object>();

/** A fact that is the same from run to run: copied and frozen here, once, and then told as it is. */
export function lastingFact<T extends object>(given: T): T {
  const copy = frozenCopy(given);
  lasting.add(copy);
  return copy;
}

export function isLasting(fact: unknown): boolean {
  return typeof fact === "object" && fact !== null && lasting.has(fact);
}

/** As `frozenCopy`, without copying what lasts. */
export function frozenContext(given: TurnContext): TurnContext {
  const facts = Object.entries(given).filter(([, fact]) => fact !== undefined);
  const told = facts.map(([name, fact]) => [name, isUnchangeable(fact) ? fact : frozenCopy(fact)]);
  return Object.freeze(Object.fromEntries(told));
}

/** Nothing that is written as JSON is another then. */
function isUnchangeable(fact: unknown): boolean {
  return typeof fact === "string" || typeof fact === "boolean" || isLasting(fact);
}

export function contextFor(shared: TurnContext, phase: HookPhase, hook_id: string): HookContext {
  return Object.freeze({ ...shared, hook_id, phase });
}

function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    for (const part of Object.values(value)) freeze(part);
    Object.freeze(value);
  }
  return value;
}
