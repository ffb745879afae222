import type { Message, Run, RunUsage } from "../../protocol/index.js";
import type { CallMethod } from "../inside/caller.js";
import { BETWEEN, textOf, thinkingOf } from "./recorded.js";

export interface Answer {
  readonly text: string;
  readonly thinking: string;
  readonly finish: "stop" | "length" | "content_filter";
}

const PAGE = 50;

/** What a run that has ended said, from its thread. */
export async function answerOf(call: CallMethod, run: Run): Promise<Answer> {
  const { workspace_id, thread_id } = run;
  const { data } = await call("thread/messages", { workspace_id, thread_id, limit: PAGE });
  const said = data.filter(({ role, run_id }) => role === "agent" && run_id === run.id).reverse();
  const joined = (read: (message: Message) => string) => said.map(read).filter(Boolean).join(BETWEEN);
  return { text: joined(textOf), thinking: joined(thinkingOf), finish: finishOf(said.at(-1)?.stopReason) };
}

function finishOf(reason: unknown): Answer["finish"] {
  if (reason === "max_tokens") return "length";
  return reason === "refusal" ? "content_filter" : "stop";
}

/** Tokens as the provider counted them, over all steps; none are known of some. */
export function usageOf(usage: RunUsage | undefined) {
  const { input = 0, output = 0, cached_input = 0, reasoning = 0 } = usage ?? {};
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached_input },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}
