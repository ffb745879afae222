import { sha256 } from "../../base/index.js";
import { type EncodedMessage, type EncodedValue, encodeMessage, encodeValue } from "../../prompts/index.js";
import type { FileDiff, PromptMessage, ProviderEvent } from "../../providers/index.js";
import type { WorkedCall } from "../fold/events.js";

export type Call = NonNullable<PromptMessage["tool_calls"]>[number];
export type Result = Extract<ProviderEvent, { type: "tool_result" }>;

/** A stretch of a program's work: what it said, the tools it called meanwhile, and what came of each. */
export interface Stretch {
  readonly answer: PromptMessage;
  readonly results: readonly WorkedResult[];
  readonly thoughts_ms?: readonly number[];
}

export interface WorkedResult {
  readonly message: PromptMessage;
  readonly call: WorkedCall;
  readonly diffs?: readonly FileDiff[];
}

const NO_RESULT = "The program ended before it said what came of this call.";

export function resultOf({ id, name, arguments: given }: Call, result: Result | undefined): WorkedResult {
  const { output = NO_RESULT, failed = true, duration_ms, diffs } = result ?? {};
  const encoded = diffs && diffs.length > 0 ? encodeValue(diffs) : undefined;
  return {
    message: { role: "tool", tool_call_id: id, name, content: output },
    call: {
      call_id: id,
      name,
      arguments_hash: sha256(given),
      status: failed ? "failed" : "ok",
      ...(duration_ms !== undefined && { duration_ms }),
      ...(encoded && { diffs: encoded.ref }),
    },
    ...(encoded && diffs && { diffs }),
  };
}

/** A stretch as it is told and kept. */
export function encodeStretch({ answer, results }: Stretch): {
  messages: EncodedMessage[];
  diffs: EncodedValue[];
} {
  return {
    messages: [answer, ...results.map(({ message }) => message)].map(encodeMessage),
    diffs: results.flatMap(({ diffs }) => (diffs ? [encodeValue(diffs)] : [])),
  };
}
