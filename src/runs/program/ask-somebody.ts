import { sha256 } from "../../base/index.js";
import { encodeValue } from "../../prompts/index.js";
import type { PermissionAnswer } from "../../providers/index.js";
import type { RunsDeps } from "../deps.js";
import type { EffectReceipt, ProgramAsked } from "../fold/events.js";
import type { ActiveRun, Intent } from "../fold/state.js";
import { askedWith, grantedTools } from "../grants.js";
import { commitEvents } from "../session/commit.js";
import type { ThreadSession } from "../session/session.js";

export interface ToAsk {
  readonly call_id: string;
  readonly name: string;
  readonly arguments: string;
  /** A tool of the program's own. */
  readonly own: boolean;
}

/**
 * Asks whoever is there whether a program may go on with a call, durably, and waits for the answer. When the run ends
 * first, or the signal fires, the answer is no, and nobody is asked any more.
 */
export async function askSomebody(
  deps: RunsDeps,
  session: ThreadSession,
  asked: ToAsk,
  signal: AbortSignal,
): Promise<PermissionAnswer> {
  const granted = await grantedTools(deps, session.key);
  if (granted.includes(grantName(asked) ?? "")) return "always";
  const intent_id = await record(deps, session, asked, signal);
  if (intent_id === undefined) return "deny";
  const { call_id: tool_call_id, name } = asked;
  session.live?.tool({ tool_call_id, name, status: "waiting" });
  const decision =
    (await decisionOn(session, intent_id, signal)) ?? (await withdraw(deps, session, intent_id));
  const status = statusAfter(decision, asked);
  if (status !== undefined) session.live?.tool({ tool_call_id, name, status });
  return decision;
}

/** Of its own tools a program tells what came of them; a tool of ours it knows under another id. */
function statusAfter(decision: PermissionAnswer, { own }: ToAsk): string | undefined {
  if (own) return decision === "deny" ? undefined : "running";
  return decision === "deny" ? "failed" : "completed";
}

/** What a program calls what it has no name for. */
const NAMELESS: ReadonlySet<string> = new Set(["", "tool", "other"]);

/**
 * What "always" is remembered under: a program's own tool may have the name of one of ours. Undefined for what has no name:
 * it could be anything, and only the program itself knows what else is meant.
 */
export function grantName({
  name,
  own,
}: {
  readonly name: string;
  readonly own?: boolean | undefined;
}): string | undefined {
  if (own && NAMELESS.has(name)) return undefined;
  return own ? `own:${name}` : name;
}

/** Answers the intent that somebody has to decide; undefined when the run does not wait for its program any more. */
async function record(
  deps: RunsDeps,
  session: ThreadSession,
  { call_id, name, arguments: given, own }: ToAsk,
  signal: AbortSignal,
): Promise<string | undefined> {
  return session.change(async () => {
    const working = workingIntent(session);
    if (!working || signal.aborted) return undefined;
    const encoded = encodeValue(given);
    const event: ProgramAsked = {
      type: "program.asked",
      at: deps.clock.now(),
      run_id: (session.active as ActiveRun).run_id,
      intent_id: working.intent_id,
      given: encoded.ref,
      call: {
        call_id,
        name,
        arguments_hash: sha256(given),
        ...askedWith(given),
        ...(own && { own: true as const }),
      },
    };
    await commitEvents(deps, session, [event], { blobs: [encoded] });
    return session.active?.intents.at(-1)?.intent_id;
  });
}

/** The program's turn, as long as it lasts. */
export function workingIntent({ active, stop }: ThreadSession): Intent | undefined {
  if (active?.phase !== "model" || stop.signal.aborted) return undefined;
  return active.intents.find(({ kind, status }) => kind === "llm.generate" && status === "open");
}

/** Undefined when nobody has answered in time. */
async function decisionOn(
  session: ThreadSession,
  intent_id: string,
  signal: AbortSignal,
): Promise<PermissionAnswer | undefined> {
  const gone = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  for (;;) {
    const intent = intentIn(session, intent_id);
    if (intent?.decision !== undefined) return intent.decision;
    if (intent?.status !== "open") return "deny";
    if (signal.aborted) return undefined;
    await Promise.race([session.changed(), gone]);
  }
}

function intentIn({ active }: ThreadSession, intent_id: string): Intent | undefined {
  return active?.intents.find((one) => one.intent_id === intent_id);
}

/** The program does not want to know any more, and goes on: its run must not wait. One that is to end takes it along. */
async function withdraw(
  deps: RunsDeps,
  session: ThreadSession,
  intent_id: string,
): Promise<PermissionAnswer> {
  return session.change(async () => {
    const intent = intentIn(session, intent_id);
    if (intent?.decision !== undefined) return intent.decision;
    if (intent?.status !== "open" || session.stop.signal.aborted || session.ending) return "deny";
    const receipt: EffectReceipt = {
      type: "effect.receipt",
      at: deps.clock.now(),
      run_id: (session.active as ActiveRun).run_id,
      intent_id,
      status: "cancelled",
      decision: "deny",
    };
    await commitEvents(deps, session, [receipt]);
    return "deny";
  });
}
