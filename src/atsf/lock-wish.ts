import { rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LOCK } from "./layout.js";

/** A wish is renewed while its owner waits; one that is older belongs to a program that is gone or stopped. */
const FRESH_MS = 1_000;
const GIVE_WAY_MS = 100;
const LOOK_EVERY_MS = 2;

/**
 * A sign beside a lock that someone waits for it. A kernel lock has no queue: a writer that lets go and takes again at once
 * would keep everyone else waiting for ever. The sign is a courtesy only; nothing depends on its being there or right.
 */
export function wish(dir: string): void {
  quietly(() => writeFileSync(signIn(dir), ""));
}

export function endWish(dir: string): void {
  quietly(() => rmSync(signIn(dir), { force: true }));
}

/** Waits while someone else wishes to have the lock, but not for long. */
export async function giveWay(dir: string): Promise<void> {
  const until = performance.now() + GIVE_WAY_MS;
  while (isWished(dir) && performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

function isWished(dir: string): boolean {
  const found = statSync(signIn(dir), { throwIfNoEntry: false });
  if (!found) return false;
  const isFresh = Math.abs(Date.now() - found.mtimeMs) < FRESH_MS;
  if (!isFresh) endWish(dir);
  return isFresh;
}

function signIn(dir: string): string {
  return join(dir, `${LOCK}-wanted`);
}

function quietly(work: () => void): void {
  try {
    work();
  } catch {
    // A sign that can't be put up only means a longer wait.
  }
}
