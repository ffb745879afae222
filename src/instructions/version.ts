import type { AgentsDocRow } from "../store/index.js";
import { instructionsError } from "./errors.js";

/** Refuses a change that was built on another version than the current one. `0` stands for "no file yet". */
export function assertVersion(expected: number | undefined, explicit: AgentsDocRow | undefined): void {
  if (expected === undefined || expected === (explicit?.version ?? 0)) return;
  const actual = explicit
    ? `the current version is ${explicit.version}`
    : "there is no file yet (actual version: none)";
  throw instructionsError(
    { kind: "version_conflict", expected_version: expected, actual_version: explicit?.version ?? null },
    `Version conflict: expected version ${expected}, but ${actual}. Read the document again and redo the change.`,
  );
}
