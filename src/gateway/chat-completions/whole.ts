import type { CallMethod, InsideDeps } from "../inside/caller.js";
import { runEnd } from "../inside/run-end.js";
import { answerOf, usageOf } from "./answer-of.js";
import type { Begun } from "./begin.js";
import { apiErrorOfRun, errorResponse } from "./errors.js";

interface Waiting {
  readonly call: CallMethod;
  readonly model: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Fires when the client has gone: nobody wants the answer then. */
  readonly gone: AbortSignal;
}

/** The answer in one piece. */
export async function answerWhole(deps: InsideDeps, { run }: Begun, waiting: Waiting): Promise<Response> {
  const { call, model, headers, gone } = waiting;
  const row = await runEnd(deps.domain, run.id, gone);
  if (!row) {
    await call("run/cancel", { run_id: run.id });
    return errorResponse(apiErrorOfRun({ status: "cancelled" }), headers);
  }
  const { run: ended } = await call("run/get", { run_id: run.id });
  if (ended.status !== "completed") return errorResponse(apiErrorOfRun(ended), headers);
  const { text, thinking, finish } = await answerOf(call, ended);
  const message = {
    role: "assistant",
    content: text,
    refusal: null,
    ...(thinking !== "" && { reasoning_content: thinking }),
  };
  const body = {
    id: `chatcmpl-${run.id}`,
    object: "chat.completion",
    created: run.created_at,
    model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finish }],
    usage: usageOf(ended.usage),
  };
  return new Response(JSON.stringify(body), { headers: { ...headers, "Content-Type": "application/json" } });
}
