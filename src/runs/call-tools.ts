import { encodeMessage, encodeValue, type ToTell } from "../prompts/index.js";
import type { PromptMessage } from "../providers/index.js";
import type { ToolOutcome } from "../tools/index.js";
import type { RunsDeps } from "./deps.js";
import type { EffectReceipt } from "./fold/events.js";
import type { ActiveRun, Intent } from "./fold/state.js";
import { Live } from "./live.js";
import { restorePrepared } from "./prepare.js";
import { commitEvents, type Extras } from "./session/commit.js";
import type { ThreadSession } from "./session/session.js";
import { toolContext } from "./tool-context.js";

type Call = NonNullable<PromptMessage["tool_calls"]>[number];

/**
 * Carries out the calls of the last answer, side by side; one that somebody allows meanwhile joins them. Each is answered,
 * whatever comes of it. It ends when all are, or when the rest waits for somebody.
 */
export async function callTools(deps: RunsDeps, session: ThreadSession): Promise<void> {
  const { run_id, inputs, step } = session.active as ActiveRun;
  // What it was offered decides what it may call, also where another gateway offered it.
  session.prepared ??= await restorePrepared(deps, inputs as string);
  session.live ??= new Live(session.key, run_id, (note) => deps.live.tell(note));
  session.live.begin(step);
  const begun = new Map<string, Promise<void>>();
  const atWork = new Set<Promise<void>>();
  for (;;) {
    for (const intent of openCalls(session, run_id)) {
      if (begun.has(intent.intent_id)) continue;
      const call = callOne(deps, session, intent);
      begun.set(intent.intent_id, call);
      atWork.add(call);
      const over = () => void atWork.delete(call);
      call.then(over, over);
    }
    if (atWork.size === 0) break;
    await Promise.race([Promise.race(atWork).catch(() => {}), session.changed()]);
  }
  // A run does not end while one of its tools is still at work.
  await Promise.all(begun.values());
}

function openCalls({ active }: ThreadSession, run_id: string): readonly Intent[] {
  if (active?.run_id !== run_id) return [];
  return active.intents.filter(({ kind, status }) => kind === "tool.call" && status === "open");
}

/** When all of them have answered they are told with the next step, in the order they were asked for, whichever ended first. */
export function tellAnswers(session: ThreadSession): void {
  if (session.toolAnswers.size === 0) return;
  const asked = session.answer?.tool_calls ?? [];
  for (const { id } of asked) session.toTell.push(session.toolAnswers.get(id) as ToTell);
  session.toolAnswers.clear();
}

export function callFor(session: ThreadSession, intent: Intent): Call | undefined {
  return session.answer?.tool_calls?.find(({ id }) => id === intent.call?.call_id);
}

async function callOne(deps: RunsDeps, session: ThreadSession, intent: Intent): Promise<void> {
  const call = callFor(session, intent) as Call;
  const { id, name } = call;
  session.live?.tool({ tool_call_id: id, name, status: "running" });
  const outcome = await carryOut(deps, session, intent, call);
  const { output, duration_ms } = outcome;
  const status = statusOf(session, outcome.status === "completed");
  const diff = "diff" in outcome ? outcome.diff : undefined;
  const told = status === "interrupted" ? UNKNOWN : output;
  await answerCall(deps, session, { intent, call, output: told, status, duration_ms, ...(diff && { diff }) });
}

function statusOf({ stop }: ThreadSession, done: boolean): EffectReceipt["status"] {
  if (done) return "ok";
  if (stop.signal.reason === "left") return "interrupted";
  return stop.signal.aborted ? "cancelled" : "failed";
}

/** Told of a call that a gateway left behind. */
export const UNKNOWN =
  "Interrupted: the gateway stopped while this tool was running. It may or may not have had its effect, and was not called again. Find out before you call it again.";

/** Only what was offered is called: a model may ask for anything. */
async function carryOut(
  deps: RunsDeps,
  session: ThreadSession,
  { intent_id }: Intent,
  { id, name, arguments: given }: Call,
) {
  const context = await toolContext(deps, session.key, session.stop.signal);
  await present(deps, session, name);
  // Nothing is waited for from here to the call: a tool that comes meanwhile was offered to nobody.
  const refusal = whyRefused(deps, session, name);
  if (refusal !== undefined) return { status: "failed" as const, output: refusal, duration_ms: 0 };
  return deps.tools.call(name, given, {
    ...context,
    run_id: (session.active as ActiveRun).run_id,
    call_key: intent_id,
    progress: (text) => session.live?.add("tool_output", id, text),
  });
}

/** A server that a tool comes from may not be connected yet, in a gateway that took the run up. */
async function present(deps: RunsDeps, { prepared, key: { workspace_id } }: ThreadSession, name: string) {
  const offered = prepared?.inputs.tools.some((tool) => tool.name === name && tool.offered);
  if (!offered || deps.tools.get(name, workspace_id)) return;
  await deps.surroundings.servers(workspace_id, { tried: true });
}

/** What the run was offered when it began counts: the configuration may have changed since. */
function whyRefused(deps: RunsDeps, session: ThreadSession, name: string): string | undefined {
  const listed = session.prepared?.inputs.tools.find((tool) => tool.name === name);
  if (listed && !listed.offered) return `The tool ${name} is not available to you: ${listed.reason}.`;
  if (!listed && deps.tools.get(name, session.key.workspace_id))
    return `The tool ${name} is not available to you: it was not there when this run began.`;
  if (listed && !deps.tools.get(name, session.key.workspace_id))
    return `The tool ${name} is not there now: the plugin or the server that it comes from is away. Nothing was done. Go on without it, or try again later.`;
  return undefined;
}

export interface Answered {
  readonly intent: Intent;
  readonly call: Call;
  readonly output: string;
  readonly status: EffectReceipt["status"];
  readonly duration_ms?: number;
  readonly diff?: ToolDiff;
  /** What somebody who was asked said, in place of the tool. */
  readonly decided?: Pick<EffectReceipt, "decision" | "by">;
}

export type ToolDiff = NonNullable<ToolOutcome["diff"]>;

/** Journals what came of a call. */
export async function answerCall(
  deps: RunsDeps,
  session: ThreadSession,
  answered: Answered,
  extras: Extras = {},
): Promise<void> {
  await session.change(() => recordAnswer(deps, session, answered, extras));
}

/** The same for a caller that has the session's turn. */
export async function recordAnswer(
  deps: RunsDeps,
  session: ThreadSession,
  { intent, call, output, status, duration_ms, diff, decided }: Answered,
  extras: Extras = {},
): Promise<void> {
  const message: PromptMessage = { role: "tool", tool_call_id: call.id, name: call.name, content: output };
  const encoded = encodeMessage(message);
  const changed = diff && encodeValue(diff);
  const { run_id, agent_message_id } = session.active as ActiveRun;
  const receipt: EffectReceipt = {
    type: "effect.receipt",
    at: deps.clock.now(),
    run_id,
    intent_id: intent.intent_id,
    status,
    result: encoded.ref,
    ...decided,
    ...(duration_ms !== undefined && { duration_ms }),
    ...(changed && { diff: changed.ref }),
  };
  await commitEvents(deps, session, [receipt], {
    ...extras,
    blobs: [encoded, ...(changed ? [changed] : [])],
  });
  const failed = decided?.decision === "deny";
  session.transcript.toolAnswered(call.id, message, {
    status: failed ? "failed" : status,
    duration_ms,
    diff,
  });
  session.toolAnswers.set(call.id, { encoded, message_id: agent_message_id });
  session.live?.tool({
    tool_call_id: call.id,
    name: call.name,
    status: status === "ok" && !failed ? "completed" : "failed",
    output,
    ...(duration_ms !== undefined && { duration_ms }),
    ...(diff && { diffs: [diff] }),
  });
}
