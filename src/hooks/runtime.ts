import { setMaxListeners } from "node:events";
import { type Clock, systemClock } from "../base/index.js";
import { Background, within } from "./background.js";
import type { TurnContext } from "./context.js";
import type { PhaseDiagnostic } from "./contribution.js";
import { hookError } from "./errors.js";
import { FailureRecords } from "./failure-records.js";
import { type ListedPackage, listPackages } from "./list.js";
import { type Planned, planPhase } from "./order.js";
import { type AcceptedPackage, acceptPackage, type HookPackage } from "./package.js";
import { type HookPhase, hookPhases } from "./phases.js";
import { type PhaseResult, runPhase } from "./run-phase.js";

export interface HookRuntimeOptions {
  readonly clock?: Clock;
  /** How long a hook without a deadline may take; nothing holds a run for ever. Default: one minute. */
  readonly longestMs?: number;
  /** How many hooks run in the background at once, and how many more may wait for their turn. */
  readonly background?: { readonly atOnce: number; readonly waiting: number };
  /** How long closing waits for hooks in the background before it stops them. */
  readonly closeMs?: number;
  /** How long closing waits for what was told to stop; by default longer than it takes to end a group of processes. */
  readonly stopMs?: number;
  /** Told what hooks in the background found, which is too late for a phase's result. */
  readonly onDiagnostic?: (diagnostic: PhaseDiagnostic) => void;
}

type Plans = ReadonlyMap<HookPhase, readonly Planned[]>;

const DEFAULTS = { longestMs: 60_000, closeMs: 5_000, stopMs: 4_000, background: { atOnce: 8, waiting: 64 } };

/** The installed packages, and the phases they take part in. */
export class HookRuntime {
  readonly #options: HookRuntimeOptions;
  readonly #failures: FailureRecords;
  readonly #background: Background;
  readonly #stragglers = new Set<Promise<unknown>>();
  readonly #phases = new Map<AbortController, Promise<PhaseResult>>();
  #packages: ReadonlyMap<string, AcceptedPackage> = new Map();
  #plans: Plans = new Map();
  #closed: Promise<void> | undefined;

  constructor(options: HookRuntimeOptions = {}) {
    this.#options = options;
    this.#failures = new FailureRecords(options.clock ?? systemClock);
    this.#background = new Background(options.background ?? DEFAULTS.background);
  }

  /** All of them or none. A package that was refused stays the caller's, to be closed by it. */
  install(...packages: readonly HookPackage[]): void {
    this.#refuseClosed();
    const next = new Map(this.#packages);
    for (const accepted of packages.map(acceptPackage)) {
      if (next.has(accepted.id)) throw packageExists(accepted.id);
      next.set(accepted.id, accepted);
    }
    this.#adopt(next);
  }

  /** Puts a package in the place of the installed one of its id. Phases under way end with the old one, which is then closed. */
  async replace(given: HookPackage): Promise<void> {
    this.#refuseClosed();
    const accepted = acceptPackage(given);
    const old = this.#installed(accepted.id);
    this.#adopt(new Map(this.#packages).set(accepted.id, accepted));
    await this.#letGo(old);
  }

  /**
   * Takes packages out and puts others in, all of it or, with an error thrown, nothing. Answers when phases under way have
   * ended with what was taken out and it is closed. What was refused stays the caller's.
   */
  exchange({ out, put }: { out: readonly string[]; put: readonly HookPackage[] }): Promise<void> {
    this.#refuseClosed();
    const old = out.map((id) => this.#installed(id));
    const next = new Map([...this.#packages].filter(([id]) => !out.includes(id)));
    for (const accepted of put.map(acceptPackage)) {
      if (next.has(accepted.id)) throw packageExists(accepted.id);
      next.set(accepted.id, accepted);
    }
    this.#adopt(next);
    return Promise.all(old.map((one) => this.#letGo(one))).then(() => {});
  }

  /** Refused while a hook of another package names one of its own. */
  async uninstall(packageId: string): Promise<void> {
    this.#refuseClosed();
    const old = this.#installed(packageId);
    this.#adopt(new Map([...this.#packages].filter(([id]) => id !== packageId)));
    await this.#letGo(old);
  }

  /** Runs a phase with the packages as they are now. A failure that closes, and a signal, end it with an error. */
  async run(
    phase: HookPhase,
    context: TurnContext,
    { signal }: { signal?: AbortSignal } = {},
  ): Promise<PhaseResult> {
    this.#refuseClosed();
    const plan = this.#plans.get(phase) ?? [];
    if (plan.length === 0) return { contributions: [], diagnostics: [] };
    const stop = new AbortController();
    // Every hook of the phase listens to it, however many there are.
    setMaxListeners(0, stop.signal);
    const cancel = () => stop.abort();
    signal?.addEventListener("abort", cancel);
    if (signal?.aborted) cancel();
    const running = runPhase({
      phase,
      plan,
      context,
      stop,
      longestMs: this.#options.longestMs ?? DEFAULTS.longestMs,
      failures: this.#failures,
      background: this.#background,
      straggler: (work) => this.#follow(work),
      onDiagnostic: (diagnostic) => this.#tell(diagnostic),
    });
    this.#phases.set(stop, running);
    try {
      return await running;
    } finally {
      this.#phases.delete(stop);
      signal?.removeEventListener("abort", cancel);
    }
  }

  /** Whether anyone would be asked in a phase: what is costly to tell need not be put together for nobody. */
  listens(phase: HookPhase): boolean {
    return (this.#plans.get(phase) ?? []).length > 0;
  }

  /** Whether somebody's own code would be asked in a phase: what it does can't be taken back. */
  reachesOut(phase: HookPhase): boolean {
    return (this.#plans.get(phase) ?? []).some(
      ({ subscription }) => this.#packages.get(subscription.package_id)?.source.kind !== "built_in",
    );
  }

  list(): ListedPackage[] {
    return listPackages([...this.#packages.values()], this.#plans, this.#failures);
  }

  /** Stops phases, waits for what is in the background, bounded, and closes every package. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const phases = [...this.#phases];
    for (const [stop] of phases) stop.abort(closedError());
    await Promise.allSettled(phases.map(([, running]) => running));
    await this.#background.close(this.#options.closeMs ?? DEFAULTS.closeMs);
    await within(this.#options.stopMs ?? DEFAULTS.stopMs, Promise.all(this.#stragglers));
    await Promise.all([...this.#packages.values()].map(closePackage));
  }

  /** Nothing is changed unless every phase has an order. */
  #adopt(packages: ReadonlyMap<string, AcceptedPackage>): void {
    refuseTakenIds([...packages.values()]);
    const subscriptions = [...packages.values()].flatMap((one) => one.subscriptions);
    const plans = new Map(
      hookPhases.map((phase) => [
        phase,
        planPhase(
          phase,
          subscriptions.filter((one) => one.phase === phase),
        ),
      ]),
    );
    this.#packages = packages;
    this.#plans = plans;
    this.#failures.keepOnly(new Set(subscriptions.map(({ subscription_id }) => subscription_id)));
  }

  async #letGo(old: AcceptedPackage): Promise<void> {
    await Promise.allSettled(this.#phases.values());
    await this.#background.underWay();
    await closePackage(old);
  }

  #installed(id: string): AcceptedPackage {
    const found = this.#packages.get(id);
    if (found) return found;
    throw hookError(
      { kind: "hook.package_not_found", package_id: id },
      `No hook package ${id} is installed.`,
    );
  }

  #follow(work: Promise<unknown>): void {
    const followed = work.finally(() => this.#stragglers.delete(followed));
    this.#stragglers.add(followed);
  }

  #tell(diagnostic: PhaseDiagnostic): void {
    try {
      this.#options.onDiagnostic?.(diagnostic);
    } catch {
      // A listener that fails must not become the hook's failure; there is nobody else to tell.
    }
  }

  #refuseClosed(): void {
    if (this.#closed) throw closedError();
  }
}

function closedError() {
  return hookError({ kind: "hook.closed" }, "Hooks are not run any more: the gateway is stopping.");
}

function packageExists(id: string) {
  return hookError(
    { kind: "hook.package_exists", package_id: id },
    `A hook package ${id} is installed already. Give this one another id, or replace that one.`,
  );
}

/** Order and manifests tell hooks and subscriptions apart by their ids alone. */
function refuseTakenIds(packages: readonly AcceptedPackage[]): void {
  const hooks = new Map<string, string>();
  const subscriptions = new Map<string, string>();
  for (const { hook_id, subscription_id, package_id } of packages.flatMap((one) => one.subscriptions)) {
    const taken = hooks.get(hook_id) ?? package_id;
    if (taken !== package_id) throw idTaken(hook_id, package_id, taken);
    const holder = subscriptions.get(subscription_id);
    if (holder !== undefined) throw idTaken(subscription_id, package_id, holder);
    hooks.set(hook_id, package_id);
    subscriptions.set(subscription_id, package_id);
  }
}

function idTaken(id: string, package_id: string, taken_by: string) {
  return hookError(
    { kind: "hook.id_taken", id, package_id, taken_by },
    `The id ${id} in package ${package_id} is taken by package ${taken_by}. Choose another.`,
  );
}

async function closePackage({ close }: AcceptedPackage): Promise<void> {
  // What can't be let go of must not keep the others from being closed.
  await close?.().catch(() => {});
}
