import {
  type CompiledStep,
  compileStep,
  type EncodedMessage,
  type FrozenConfig,
  type ToTell,
} from "../prompts/index.js";
import { isProgram } from "../providers/index.js";
import type { threadFiles } from "../store/index.js";
import { tellAnswers } from "./call-tools.js";
import type { RunsDeps } from "./deps.js";
import { runsError } from "./errors.js";
import type { PromptCompiled } from "./fold/events.js";
import { planEvents } from "./fold/plan.js";
import type { ActiveRun } from "./fold/state.js";
import { inputOf, steeringOf } from "./input.js";
import { Live } from "./live.js";
import { logQuestion } from "./log-question.js";
import { prepareRun, restorePrepared } from "./prepare.js";
import { recordAhead } from "./record-ahead.js";
import { adoptPlan, commitEvents, type Extras, writePlan } from "./session/commit.js";
import {
  type AddedHistory,
  addHistory,
  isPresent,
  loadHistory,
  type SessionHistory,
  untold,
} from "./session/history.js";
import type { Input, PreparedRun } from "./session/parts.js";
import type { ThreadSession } from "./session/session.js";

const MAX_STEPS = 200;

/** Compiles the next step of the run under way and decides to ask the model, in one commit with what it was told. */
export async function compileNext(deps: RunsDeps, session: ThreadSession): Promise<void> {
  const active = session.active as ActiveRun;
  if (active.step >= MAX_STEPS) throw tooManySteps();
  if (active.step === 0) await setUp(deps, session);
  tellAnswers(session);
  // Whoever stopped it meanwhile need not wait for hooks; the loop that called this ends it.
  if (session.stop.signal.aborted) return;
  const prepared = await preparedOf(deps, session, active);
  session.live ??= new Live(session.key, active.run_id, (note) => deps.live.tell(note));
  await session.change(async () => {
    const now = session.active as ActiveRun;
    const asked = now.step === 0 ? [await inputOf(deps, session, now)] : [];
    const steered = await Promise.all(now.steered.map((one) => steeringOf(deps, session, one)));
    await logQuestion(deps, session);
    if (asked.length + steered.length > 0)
      await recordAndCompile(deps, session, prepared, [...asked, ...steered]);
    else await compileOnly(deps, session, prepared);
  });
  session.live?.begin((session.active as ActiveRun).step);
}

/** The worktree must be ready, unless nobody wants the run any more. */
async function setUp(deps: RunsDeps, { key, stop: { signal } }: ThreadSession): Promise<void> {
  if (signal.aborted) return;
  let stopped = () => {};
  const stop = new Promise<void>((resolve) => {
    stopped = resolve;
    signal.addEventListener("abort", stopped, { once: true });
  });
  await Promise.race([deps.setups.ended(key.workspace_id, key.thread_id), stop]);
  signal.removeEventListener("abort", stopped);
}

async function preparedOf(deps: RunsDeps, session: ThreadSession, active: ActiveRun): Promise<PreparedRun> {
  if (session.prepared) return session.prepared;
  if (deps.hooks.reachesOut("turn.pre_prompt_compile")) await session.durable;
  const prepared =
    active.step > 0 && active.inputs
      ? await restorePrepared(deps, active.inputs)
      : await prepareRun(deps, {
          key: session.key,
          run_id: active.run_id,
          configRef: active.config,
          config: await deps.values.load<FrozenConfig>(active.config),
          input: (await inputOf(deps, session, active)).preview,
          signal: session.stop.signal,
          before: session.lastPrepared,
        });
  session.prepared = prepared;
  session.lastPrepared = prepared;
  return prepared;
}

/** A step without a new message from anyone: the log stays as it is. */
async function compileOnly(deps: RunsDeps, session: ThreadSession, prepared: PreparedRun): Promise<void> {
  const history = session.history as SessionHistory;
  const added = addHistory(history, session.toTell);
  const next = nextStep(session.active as ActiveRun);
  const { event, told, marker } = compile(deps, session, {
    ...next,
    prepared,
    history,
    added,
    turn: session.turn,
  });
  const extras: Extras = { told, blobs: [...prepared.blobs, ...marker] };
  await commitEvents(deps, session, [event], extras);
  session.toTell = [];
}

/** Messages go to the log first. What the agent has said so far is closed before somebody else's message stands there. */
async function recordAndCompile(
  deps: RunsDeps,
  session: ThreadSession,
  prepared: PreparedRun,
  inputs: readonly Input[],
): Promise<void> {
  const active = session.active as ActiveRun;
  const closed = session.transcript.message({
    id: active.agent_message_id,
    runId: active.run_id,
    at: deps.clock.now(),
    model: prepared.config.model,
    stopReason: "steered",
  });
  await recordAhead(deps, session, {
    messages: [...(closed ? [closed] : []), ...inputs.map(({ message }) => message)],
    withIt: async (files) => {
      const history = await presentHistory(deps, session, files.located.row);
      const found = await untold(deps.store, session.key, {
        file: files.file,
        known: history,
        own: new Map<string, EncodedMessage[]>([
          [active.agent_message_id, []],
          ...inputs.map(({ message, encoded }): [string, EncodedMessage[]] => [message.id, [encoded]]),
        ]),
      });
      const messages = [...session.toTell, ...found.messages];
      const turn = isTurnAnew(active, prepared)
        ? turnOf(history, messages, (inputs[0] as Input).message.id)
        : session.turn;
      const added = addHistory(history, messages, found.covered);
      const next = nextStep(active);
      const { event, told, marker } = compile(deps, session, { ...next, prepared, history, added, turn });
      const plan = planEvents(session.position, session.key, [event]);
      const extras = { told, blobs: [...prepared.blobs, ...marker] };
      const adopt = () => {
        adoptPlan(deps, session, plan, extras);
        session.turn = turn;
        session.toTell = [];
      };
      return { unit: () => writePlan(deps, session, plan, extras), adopt };
    },
  });
  for (const { message } of inputs) session.inputs.delete(message.id);
  if (!closed) return;
  session.transcript.clear();
  session.live?.forget();
}

/** What is said to a program while it works is a turn of its own: what it has done since may be more than fits. */
function isTurnAnew({ step }: ActiveRun, { config }: PreparedRun): boolean {
  return step === 0 || isProgram(config.provider);
}

export async function presentHistory(
  deps: RunsDeps,
  session: ThreadSession,
  row: threadFiles.IndexedThreadRow,
): Promise<SessionHistory> {
  const known = session.history;
  if (known && isPresent(known, row)) return known;
  session.history = await loadHistory(deps.store, session.key, row);
  return session.history;
}

function turnOf(history: SessionHistory, messages: readonly ToTell[], user_message_id: string): number {
  const index = messages.findIndex(({ message_id }) => message_id === user_message_id);
  return history.end.length + Math.max(0, index);
}

function nextStep({ run_id, step }: ActiveRun) {
  return { run_id, step: step + 1 };
}

interface ToCompile {
  readonly run_id: string;
  readonly step: number;
  readonly prepared: PreparedRun;
  readonly history: SessionHistory;
  readonly added: AddedHistory;
  readonly turn: number;
}

export function compile(
  deps: RunsDeps,
  session: ThreadSession,
  { run_id, step, prepared, history, added, turn }: ToCompile,
): { event: PromptCompiled; told: AddedHistory; marker: readonly { ref: string; text: string }[] } {
  const view = history.view(added.rows, turn);
  const compiled: CompiledStep = compileStep(prepared.prefix, view);
  const { from, to, list_hash, marker, tokens_estimate, request_hash } = compiled;
  const event: PromptCompiled = {
    type: "prompt.compiled",
    at: deps.clock.now(),
    run_id,
    step,
    compiler_version: prepared.inputs.compiler_version,
    inputs: prepared.inputsRef,
    prefix: prepared.prefixRef,
    history: { epoch: added.epoch, start: view.start, from, to, turn, list_hash },
    ...(marker && { marker: marker.ref }),
    tokens_estimate,
    request_hash,
    ...(prepared.diagnostics.length > 0 && step === 1 && { diagnostics: prepared.diagnostics }),
  };
  session.marker = marker;
  return { event, told: { ...added, from }, marker: marker ? [marker] : [] };
}

function tooManySteps() {
  return runsError(
    { kind: "run.too_many_steps", limit: MAX_STEPS },
    `The run was ended after ${MAX_STEPS} steps. Send another message to let the agent go on.`,
  );
}
