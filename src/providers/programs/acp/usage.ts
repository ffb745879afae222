import type { FinishReason, ProviderEvent } from "../../provider.js";
import { ProgramProblem } from "../program.js";
import { promptedSchema, type UsageSaid } from "./protocol.js";

type Usage = Extract<ProviderEvent, { type: "usage" }>;

const reasons: Readonly<Record<string, FinishReason>> = {
  end_turn: "stop",
  max_tokens: "length",
  max_turn_requests: "other",
  refusal: "content_filter",
};

/** How a turn ended, from the answer to its prompt. */
export function endOf(answer: unknown): { readonly reason: FinishReason; readonly usage: Usage | undefined } {
  const said = promptedSchema.safeParse(answer).data;
  if (!said) throw new ProgramProblem("program.unintelligible", "ended the turn without saying how");
  if (said.stopReason === "cancelled")
    throw new ProgramProblem("program.failed", "stopped the turn by itself");
  const counted = said._meta?.quota.token_count;
  const usage = said.usage
    ? usageOf(said.usage)
    : counted && usageEvent(counted.input_tokens, counted.output_tokens, {});
  return { reason: reasons[said.stopReason] ?? "other", usage };
}

/** Agents differ on whether cached and thought tokens are parts of the others; the total tells. */
function usageOf(said: UsageSaid): Usage | undefined {
  const { totalTokens, inputTokens, outputTokens, thoughtTokens = 0, cachedReadTokens = 0 } = said;
  const cached = cachedReadTokens + (said.cachedWriteTokens ?? 0);
  const apart =
    thoughtTokens + cached > 0 && totalTokens >= inputTokens + outputTokens + thoughtTokens + cached;
  return usageEvent(inputTokens + (apart ? cached : 0), outputTokens + (apart ? thoughtTokens : 0), {
    ...(cachedReadTokens > 0 ? { cached_input: cachedReadTokens } : {}),
    ...(thoughtTokens > 0 ? { reasoning: thoughtTokens } : {}),
  });
}

/** Nothing at all was counted, rather than nothing used. */
function usageEvent(
  input: number,
  output: number,
  parts: Pick<Usage, "cached_input" | "reasoning">,
): Usage | undefined {
  return input + output === 0 ? undefined : { type: "usage", input, output, ...parts };
}
