import { randomBytes } from "node:crypto";
import { monotonicFactory } from "ulid";
import type { Clock } from "./clock.js";

/** Makes ids that sort in the order they were made, also within one millisecond. */
export type MakeId = (prefix: string) => string;

export function idMaker(clock: Clock): MakeId {
  const next = monotonicFactory();
  let latest = 0;
  return (prefix) => {
    // A clock that is set back must not make a new id sort before an old one.
    latest = Math.max(latest, clock.now());
    return prefix + next(latest);
  };
}

/** A secret nobody can guess: 256 random bits. */
export function randomSecret(): string {
  return randomBytes(32).toString("base64url");
}
