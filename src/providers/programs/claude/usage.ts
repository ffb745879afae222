import type { ProviderEvent } from "../../provider.js";
import type { LineOf } from "./lines.js";

type Usage = Extract<ProviderEvent, { type: "usage" }>;

/** What the turn took, those of subagents included where the program counts them. Nothing where nothing was counted. */
export function usageOf(line: LineOf<"result">): Usage | undefined {
  const { input, output, cached, reasoning } = sums(line);
  if (input + output === 0) return undefined;
  return {
    type: "usage",
    input,
    output,
    cached_input: cached,
    ...(reasoning > 0 && { reasoning }),
  };
}

function sums({ usage, model_usage_since_last_result: byModel }: LineOf<"result">) {
  const models = Object.values(byModel ?? {});
  const sum = (of: (model: (typeof models)[number]) => number | null | undefined) =>
    models.reduce((all, model) => all + (of(model) ?? 0), 0);
  const cached =
    models.length > 0 ? sum((model) => model.cacheReadInputTokens) : (usage?.cache_read_input_tokens ?? 0);
  if (models.length > 0) {
    return {
      input: sum((model) => model.inputTokens) + sum((model) => model.cacheCreationInputTokens) + cached,
      output: sum((model) => model.outputTokens),
      cached,
      reasoning: sum((model) => model.thinkingTokens),
    };
  }
  return {
    input: (usage?.input_tokens ?? 0) + (usage?.cache_creation_input_tokens ?? 0) + cached,
    output: usage?.output_tokens ?? 0,
    cached,
    reasoning: usage?.output_tokens_details?.thinking_tokens ?? 0,
  };
}
