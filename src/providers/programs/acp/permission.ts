import type { RequestPermissionOutcome } from "@agentclientprotocol/sdk";
import type { PermissionAnswer } from "../../provider.js";
import type { PermissionOptions } from "./protocol.js";

const kinds: Readonly<Record<PermissionAnswer, readonly string[]>> = {
  allow: ["allow_once"],
  always: ["allow_always", "allow_once"],
  deny: ["reject_once", "reject_always"],
};

/** The option that says what was answered, and no more. Without one, nothing is allowed. */
export function outcomeOf(answer: PermissionAnswer, options: PermissionOptions): RequestPermissionOutcome {
  const chosen = pick(kinds[answer], options) ?? pick(kinds.deny, options);
  return chosen === undefined ? { outcome: "cancelled" } : { outcome: "selected", optionId: chosen };
}

function pick(wanted: readonly string[], options: PermissionOptions): string | undefined {
  const found = wanted.flatMap((kind) => options.filter((option) => option.kind === kind));
  return found[0]?.optionId;
}
