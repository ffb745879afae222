import { encodeMessage, type ToTell } from "../prompts/index.js";
import type { PromptMessage } from "../providers/index.js";
import type { RunsDeps } from "./deps.js";
import type { EffectReceipt } from "./fold/events.js";
import type { ActiveRun, Intent } from "./fold/state.js";
import { commitEvents } from "./session/commit.js";
import type { ThreadSession } from "./session/session.js";
import { toolContext } from "./tool-context.js";

type Call = NonNullable<PromptMessage["tool_calls"]>[number];

/** Carries out the calls of the last answer, side by side. Each is answered, whatever comes of it. */
export async function callTools(deps: RunsDeps, session: ThreadSession): Promise<void> {
  const active = session.active as ActiveRun;
  const asked = session.answer?.tool_calls ?? [];
  const intents = active.intents.filter(({ kind }) => kind === "tool.call");
  const calls = await Promise.allSettled(
    intents.map((intent, at) =>
      intent.status === "open" ? callOne(deps, session, intent, asked[at] as Call) : undefined,
    ),
  );
  // A run does not end while one of its tools is still at work.
  const failed = calls.find((call) => call.status === "rejected");
  if (failed) throw failed.reason;
  tellAnswers(session, intents);
}

/** All of them have answered: they are told with the next step, in the order they were asked for, whichever ended first. */
export function tellAnswers(session: ThreadSession, intents: readonly Intent[]): void {
  for (const { intent_id } of intents) session.toTell.push(session.toolAnswers.get(intent_id) as ToTell);
  session.toolAnswers.clear();
}

async function callOne(deps: RunsDeps, session: ThreadSession, intent: Intent, call: Call): Promise<void> {
  const { id, name } = call;
  session.live?.tool({ tool_call_id: id, name, status: "running" });
  const outcome = await carryOut(deps, session, call);
  const { output, duration_ms } = outcome;
  const cancelled = session.stop.signal.aborted;
  const status = outcome.status === "completed" ? "ok" : cancelled ? "cancelled" : "failed";
  await answerCall(deps, session, { intent, call, output, status, duration_ms });
}

/** Only what was offered is called: a model may ask for anything. */
async function carryOut(deps: RunsDeps, session: ThreadSession, { name, arguments: given }: Call) {
  const listed = session.prepared?.inputs.tools.find((tool) => tool.name === name);
  if (listed && !listed.offered)
    return {
      status: "failed",
      output: `The tool ${name} is not available to you: ${listed.reason}.`,
      duration_ms: 0,
    };
  const context = await toolContext(deps, session.key, session.stop.signal);
  return deps.tools.call(name, given, context);
}

export interface Answered {
  readonly intent: Intent;
  readonly call: Call;
  readonly output: string;
  readonly status: EffectReceipt["status"];
  readonly duration_ms?: number;
}

/** Journals what came of a call. */
export async function answerCall(deps: RunsDeps, session: ThreadSession, answered: Answered): Promise<void> {
  const { intent, call, output, status, duration_ms } = answered;
  const message: PromptMessage = { role: "tool", tool_call_id: call.id, name: call.name, content: output };
  const encoded = encodeMessage(message);
  const { run_id, agent_message_id } = session.active as ActiveRun;
  const receipt: EffectReceipt = {
    type: "effect.receipt",
    at: deps.clock.now(),
    run_id,
    intent_id: intent.intent_id,
    status,
    result: encoded.ref,
    ...(duration_ms !== undefined && { duration_ms }),
  };
  await session.change(async () => {
    await commitEvents(deps, session, [receipt], { blobs: [encoded] });
    session.transcript.toolAnswered(call.id, message, receipt);
    session.toolAnswers.set(intent.intent_id, { encoded, message_id: agent_message_id });
  });
  session.live?.tool({
    tool_call_id: call.id,
    name: call.name,
    status: status === "ok" ? "completed" : "failed",
    output: output.slice(0, OUTPUT_CHARS),
    ...(duration_ms !== undefined && { duration_ms }),
  });
}

const OUTPUT_CHARS = 4_096;
