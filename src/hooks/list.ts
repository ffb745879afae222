import type { FailureRecords, Failures } from "./failure-records.js";
import type { Planned } from "./order.js";
import type { AcceptedPackage, AcceptedSubscription } from "./package.js";
import type { HookPhase } from "./phases.js";

type Unlisted = "run" | "package_id" | "contributes" | "looks_at";

export interface ListedSubscription extends Omit<AcceptedSubscription, Unlisted> {
  /** Its place in the order of its phase, from 1. */
  readonly position: number;
  readonly failures: Failures;
}

export interface ListedPackage extends Omit<AcceptedPackage, "close" | "subscriptions"> {
  readonly subscriptions: readonly ListedSubscription[];
}

/** Packages by id, with their subscriptions and what went wrong of late. Plain values. */
export function listPackages(
  packages: readonly AcceptedPackage[],
  plans: ReadonlyMap<HookPhase, readonly Planned[]>,
  failures: FailureRecords,
): ListedPackage[] {
  const positionOf = ({ phase, subscription_id }: AcceptedSubscription) =>
    (plans.get(phase) ?? []).findIndex(
      ({ subscription }) => subscription.subscription_id === subscription_id,
    ) + 1;
  return packages
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .map(({ close: _, subscriptions, ...rest }) => ({
      ...rest,
      subscriptions: subscriptions.map((subscription) => {
        const {
          run: _run,
          package_id: _package,
          contributes: _made,
          looks_at: _facts,
          ...listed
        } = subscription;
        return {
          ...listed,
          position: positionOf(subscription),
          failures: failures.of(subscription.subscription_id),
        };
      }),
    }));
}
