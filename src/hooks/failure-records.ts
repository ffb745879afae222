import { type Clock, unixSeconds } from "../base/index.js";
import { bounded, type CallFailure, type FailureReason } from "./errors.js";
import type { AcceptedSubscription } from "./package.js";

const KEPT = 10;

export interface FailureRecord {
  /** Unix seconds. */
  readonly at: number;
  readonly reason: FailureReason;
  /** May hold the hook's own words. */
  readonly message: string;
  readonly detail?: string;
}

export interface Failures {
  /** Since it was installed. */
  readonly total: number;
  /** The newest first. */
  readonly last: readonly FailureRecord[];
}

/** The last failures of each subscription: as many as help, however often it fails. */
export class FailureRecords {
  readonly #clock: Clock;
  readonly #of = new Map<string, Failures>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add({ subscription_id }: AcceptedSubscription, { reason, message, detail }: CallFailure): void {
    const before = this.of(subscription_id);
    const record: FailureRecord = {
      at: unixSeconds(this.#clock),
      reason,
      message: bounded(message),
      ...(detail ? { detail: bounded(detail, 8_000) } : {}),
    };
    this.#of.set(subscription_id, {
      total: before.total + 1,
      last: [record, ...before.last].slice(0, KEPT),
    });
  }

  of(subscriptionId: string): Failures {
    return this.#of.get(subscriptionId) ?? { total: 0, last: [] };
  }

  /** Forgets the subscriptions that are gone. */
  keepOnly(subscriptionIds: ReadonlySet<string>): void {
    for (const id of this.#of.keys()) if (!subscriptionIds.has(id)) this.#of.delete(id);
  }
}
