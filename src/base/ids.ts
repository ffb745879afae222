import { randomBytes, randomFillSync } from "node:crypto";
import { monotonicFactory } from "ulid";
import type { Clock } from "./clock.js";

/** Makes ids that sort in the order they were made, also within one millisecond. */
export type MakeId = (prefix: string) => string;

export function idMaker(clock: Clock): MakeId {
  const next = monotonicFactory(randomNumbers());
  let latest = 0;
  return (prefix) => {
    // A clock that is set back must not make a new id sort before an old one.
    latest = Math.max(latest, clock.now());
    return prefix + next(latest);
  };
}

/** From 0 up to 1, from many random bytes at a time: an id takes sixteen, and each call for one takes long. */
function randomNumbers(): () => number {
  const bytes = Buffer.alloc(1024);
  let at = bytes.length;
  return () => {
    if (at === bytes.length) {
      randomFillSync(bytes);
      at = 0;
    }
    return (bytes[at++] ?? 0) / 256;
  };
}

/** A secret nobody can guess: 256 random bits. */
export function randomSecret(): string {
  return randomBytes(32).toString("base64url");
}
