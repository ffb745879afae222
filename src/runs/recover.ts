import type { Message } from "../atsf/index.js";
import { encodeMessage } from "../prompts/index.js";
import type { PromptMessage } from "../providers/index.js";
import { runs, threadFiles } from "../store/index.js";
import { findLogged } from "../threads/index.js";
import { answerCall } from "./call-tools.js";
import type { RunsDeps } from "./deps.js";
import { drive } from "./drive.js";
import type { EffectReceipt, RunEvent } from "./fold/events.js";
import type { ActiveRun, Intent } from "./fold/state.js";
import { restoreRun } from "./restore.js";
import { loadHistory } from "./session/history.js";
import type { SessionKey } from "./session/parts.js";
import type { ThreadSession } from "./session/session.js";
import { endRun } from "./settle.js";

/** Takes up what a gateway that stopped left behind. Every run goes on or ends visibly. */
export async function recoverRuns(deps: RunsDeps): Promise<void> {
  const keys = await deps.store.read(() => runs.threadsWithUnfinishedRuns());
  await Promise.all(
    keys.map((key) =>
      recoverThread(deps, key).catch((error) => deps.report(error, "a run could not be taken up again")),
    ),
  );
}

async function recoverThread(deps: RunsDeps, key: SessionKey): Promise<void> {
  const session = await deps.sessions.open(key);
  const { active } = session;
  if (active) {
    session.restored = true;
    const events = await restoreRun(deps, session, active);
    const row = await deps.store.read(() => threadFiles.findIndexed(key.workspace_id, key.thread_id));
    if (row) session.history = await loadHistory(deps.store, key, row);
    if (active.phase === "model") await recoverAnswer(deps, session, active, events);
    else if (active.phase === "tools") await recoverTools(deps, session, active);
  }
  drive(deps, session);
}

/** Nothing had come: the model is asked again. Something had: that is the answer, and the run ends with it. */
async function recoverAnswer(
  deps: RunsDeps,
  session: ThreadSession,
  active: ActiveRun,
  events: readonly RunEvent[],
): Promise<void> {
  const [{ intent_id } = { intent_id: "" }] = active.intents;
  const logged = await findLogged(deps, session.key, active.agent_message_id).catch(() => undefined);
  const said = logged ? lastSaid(logged) : partOf(events, intent_id);
  if (!said) return;
  const message: PromptMessage = { role: "assistant", content: said.content };
  session.transcript.answered(active.step, message, { finish: "stop" });
  const encoded = encodeMessage({ role: "assistant", content: said.text });
  if (said.text !== "") session.toTell.push({ encoded, message_id: active.agent_message_id });
  const receipt: EffectReceipt = {
    type: "effect.receipt",
    at: deps.clock.now(),
    run_id: active.run_id,
    intent_id,
    status: logged ? "ok" : "interrupted",
    result: encoded.ref,
    recovered: true,
  };
  const error = { code: "run.interrupted", message: "The gateway stopped while the agent was answering." };
  await session.change(() =>
    endRun(deps, session, { receipt, blobs: [{ ...encoded, soonTold: true }], ...(!logged && { error }) }),
  );
}

interface Said {
  readonly content: PromptMessage["content"];
  readonly text: string;
}

/** The answer was in the log, only its end was not committed. */
function lastSaid({ content }: Message): Said {
  const after = content.findLastIndex((block) => block?.type === "tool_call_ref");
  const text = content
    .slice(after + 1)
    .flatMap((block) => (block?.type === "text" ? [String(block.text)] : []))
    .join("");
  return { content: text, text };
}

function partOf(events: readonly RunEvent[], intent_id: string): Said | undefined {
  let text = "";
  let thinking = "";
  for (const event of events) {
    if (event.type !== "effect.progress" || event.intent_id !== intent_id) continue;
    text += event.text ?? "";
    thinking += event.thinking ?? "";
  }
  if (text === "" && thinking === "") return undefined;
  if (thinking === "") return { content: text, text };
  return {
    content: [
      { type: "thinking", text: thinking },
      { type: "text", text },
    ],
    text,
  };
}

/** A call that may have had its effect is not made again: the model is told that nobody knows. */
async function recoverTools(deps: RunsDeps, session: ThreadSession, active: ActiveRun): Promise<void> {
  const asked = session.answer?.tool_calls ?? [];
  const intents = active.intents.filter(({ kind }) => kind === "tool.call");
  for (const [at, intent] of intents.entries()) {
    const call = asked[at];
    if (!call || intent.status !== "open" || deps.tools.get(call.name)?.safeToRepeat) continue;
    await answerCall(deps, session, {
      intent: intent as Intent,
      call,
      output: UNKNOWN,
      status: "interrupted",
    });
  }
}

const UNKNOWN =
  "Interrupted: the gateway stopped while this tool was running. It may or may not have had its effect, and was not called again. Find out before you call it again.";
