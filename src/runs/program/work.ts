import { contentRef, sha256 } from "../../base/index.js";
import { encodeMessage } from "../../prompts/index.js";
import type { Provider, ProviderEvent } from "../../providers/index.js";
import { keepProgress, PROGRESS_MS } from "../ask-model.js";
import { requestFor } from "../context.js";
import type { RunsDeps } from "../deps.js";
import type { EffectReceipt, ProgramHanded, ProgramWorked } from "../fold/events.js";
import type { ActiveRun } from "../fold/state.js";
import { Live } from "../live.js";
import { restorePrepared } from "../prepare.js";
import { commitEvents } from "../session/commit.js";
import type { KeptBlob, PreparedRun } from "../session/parts.js";
import type { ThreadSession } from "../session/session.js";
import { endRun } from "../settle.js";
import type { KeptSession } from "./known-session.js";
import { type OpenPlace, openPlace } from "./place.js";
import { encodeStretch, type Stretch } from "./stretch.js";
import { WorkAnswer } from "./work-answer.js";

/** Has a program work on the step that was compiled: it calls tools by itself until it has answered. */
export async function workProgram(deps: RunsDeps, session: ThreadSession): Promise<void> {
  const active = session.active as ActiveRun;
  const { intent_id } = active.intents[0] as { intent_id: string };
  session.prepared ??= await restorePrepared(deps, active.inputs as string);
  const { prepared } = session;
  session.live ??= new Live(session.key, active.run_id, (note) => deps.live.tell(note));
  session.live.begin(active.step);
  const answer = new WorkAnswer(session.live, session.callIds, () => deps.clock.now());
  const place = await openPlace(deps, session, { prepared, answer });
  const work: Work = { deps, session, intent_id, answer, place };
  const progress = setInterval(() => keepProgress(deps, session, intent_id, answer), PROGRESS_MS);
  try {
    await takeEvents(work, prepared, deps.providers.for(prepared.config, session.key.workspace_id));
  } finally {
    clearInterval(progress);
    place.close();
  }
  await takeEnd(work, prepared);
}

interface Work {
  readonly deps: RunsDeps;
  readonly session: ThreadSession;
  readonly intent_id: string;
  readonly answer: WorkAnswer;
  readonly place: OpenPlace;
}

async function takeEvents(work: Work, prepared: PreparedRun, provider: Provider): Promise<void> {
  const { session, answer, place } = work;
  const { config, tools } = prepared;
  const messages = [...prepared.placed, ...place.said];
  const request = requestFor(config, messages, tools, session.key.thread_id);
  // A process is started when what it is for is on disk; what it is handed is durable before it is (below).
  const options = { signal: session.stop.signal, after: session.durable };
  for await (const event of provider.generate({ ...request, work: place.work }, options)) {
    // Nothing is sent before this is durable: the next event is not asked for yet.
    if (event.type === "request") await recordHandover(work, event);
    answer.take(event);
    const stretch = event.type === "tool_result" ? answer.takeStretch() : undefined;
    if (stretch) await recordStretch(work, stretch);
  }
}

async function recordHandover(
  { deps, session, intent_id, place }: Work,
  { url, body, delivery }: Extract<ProviderEvent, { type: "request" }>,
): Promise<void> {
  if (delivery) place.instructions = delivery.instructions;
  const blob: KeptBlob = { ref: contentRef(body), text: body };
  await session.change(async () => {
    const { run_id } = session.active as ActiveRun;
    const event: ProgramHanded = {
      type: "program.handed",
      at: deps.clock.now(),
      run_id,
      intent_id,
      url,
      request: blob.ref,
      ...(delivery && { delivery }),
    };
    // From here on nobody knows what its session holds, until the turn has ended well.
    const thread = { program_session: null };
    await commitEvents(deps, session, [event], { blobs: [blob], thread });
  });
}

/** What it did by itself is durable before anything more is taken from it. */
export async function recordStretch(
  { deps, session, intent_id }: Pick<Work, "deps" | "session" | "intent_id">,
  stretch: Stretch,
): Promise<void> {
  const { messages, diffs } = encodeStretch(stretch);
  await session.change(async () => {
    const { run_id, step, agent_message_id } = session.active as ActiveRun;
    const event: ProgramWorked = {
      type: "program.worked",
      at: deps.clock.now(),
      run_id,
      intent_id,
      messages: messages.map(({ ref }) => ref),
      calls: stretch.results.map(({ call }) => call),
      ...(stretch.thoughts_ms && { thoughts_ms: stretch.thoughts_ms }),
    };
    await commitEvents(deps, session, [event], {
      blobs: [...messages.map((message) => ({ ...message, soonTold: true })), ...diffs],
    });
    session.transcript.worked(step, stretch);
    session.toTell.push(...messages.map((encoded) => ({ encoded, message_id: agent_message_id })));
  });
}

/** How the turn ended. A session can be gone on with only when it ended well. */
async function takeEnd(work: Work, prepared: PreparedRun): Promise<void> {
  const { deps, session, answer } = work;
  const rest = answer.takeRest();
  if (rest) await recordStretch(work, rest);
  const message = answer.last.message();
  const encoded = message && encodeMessage(message);
  const receipt = receiptOf(work, encoded?.ref);
  await session.change(async () => {
    const active = session.active as ActiveRun;
    if (message && encoded) {
      session.transcript.answered(active.step, message, receipt);
      session.toTell.push({ encoded, message_id: active.agent_message_id });
    } else session.transcript.counted(receipt);
    const ok = receipt.status === "ok";
    const kept = ok ? keptSession(work, prepared) : undefined;
    const extras = {
      blobs: encoded ? [{ ...encoded, soonTold: true }] : [],
      thread: { program_session: kept ? JSON.stringify(kept) : null },
    };
    if (ok && active.steered.length > 0) await commitEvents(deps, session, [receipt], extras);
    else await endRun(deps, session, { receipt, ...extras });
  });
}

function receiptOf({ deps, session, intent_id, answer }: Work, result: string | undefined): EffectReceipt {
  const { finish, usage, error, sent, status } = answer.last;
  // A gateway that stops is not a person who cancels.
  const interrupted = status === "cancelled" && session.stop.signal.reason === "interrupted";
  return {
    type: "effect.receipt",
    at: deps.clock.now(),
    run_id: (session.active as ActiveRun).run_id,
    intent_id,
    status: interrupted ? "interrupted" : status,
    ...(result !== undefined && { result }),
    ...(finish !== undefined && { finish }),
    ...(usage && { usage }),
    ...answer.last.thoughts(),
    ...(sent && { request_sha256: sha256(sent.body), url: sent.url }),
    ...(error && { error }),
    ...(answer.diagnostics.length > 0 && { diagnostics: answer.diagnostics }),
  };
}

function keptSession({ session, answer, place }: Work, { config }: PreparedRun): KeptSession | undefined {
  const { session: id } = answer;
  const { history } = session;
  if (id === undefined || !history) return undefined;
  return {
    id,
    agent_id: config.agent_id,
    provider: config.provider,
    directory: place.work.directory,
    instructions: place.instructions,
    epoch: history.epoch,
    // What it has just said is told next, before whatever others said meanwhile.
    length: history.end.length + session.toTell.length,
  };
}
