import { readBlob, readPrompt } from "../prompts/index.js";
import type { ParsedParams, Result, RunContent } from "../protocol/index.js";
import type { RunRow, Unit } from "../store/index.js";
import type { RunsDeps } from "./deps.js";
import { runsError } from "./errors.js";
import { eventsOfRun, requestOf, requireRun } from "./find.js";
import type { RunEvent } from "./fold/events.js";
import { runsToWire } from "./wire.js";

export async function getRun(deps: RunsDeps, params: ParsedParams<"run/get">): Promise<Result<"run/get">> {
  const { tool_call_id, with_content } = params;
  return deps.store.read(function* () {
    const row = yield* requireRun(params);
    const [run] = yield* runsToWire([row]);
    const call = tool_call_id === undefined ? undefined : yield* requireCall(row, tool_call_id);
    const content = with_content && row.status === "queued" ? yield* askedContent(row) : undefined;
    return { run, ...(call && { call }), ...(content && { content }) } as Result<"run/get">;
  });
}

/** In the form it was given in, so that it can be edited and given back. */
function* askedContent(row: RunRow): Unit<RunContent | undefined> {
  const [message] = yield* readPrompt((yield* requestOf(row)).input);
  const parts = message?.content;
  if (parts === undefined || typeof parts === "string") return parts;
  return parts.filter(({ type }) => type !== "thinking") as RunContent;
}

/** From the answer that asked for it: what is shown is what will be carried out, to the letter. */
function* requireCall(row: RunRow, tool_call_id: string): Unit<Result<"run/get">["call"]> {
  const events = (yield* eventsOfRun(row)) as unknown as RunEvent[];
  for (const event of events.toReversed()) {
    if (event.type === "program.asked" && event.call.call_id === tool_call_id) {
      const given = JSON.parse(Buffer.from(yield* readBlob(event.given)).toString());
      return { tool_call_id, name: event.call.name, arguments: given };
    }
    if (event.type !== "effect.receipt" || event.result === undefined) continue;
    if (!event.calls?.some(({ call_id }) => call_id === tool_call_id)) continue;
    const [answer] = yield* readPrompt(event.result);
    const call = answer?.tool_calls?.find(({ id }) => id === tool_call_id);
    if (call) return { tool_call_id, name: call.name, arguments: call.arguments };
  }
  throw runsError(
    { kind: "run.not_asking", run_id: row.id, tool_call_id, status: row.status },
    `Run ${row.number} has asked for no such call (${row.status}). \`approvals\` of the run has the ids of those that wait.`,
  );
}
