import { canonicalJson, sha256 } from "../../base/index.js";
import type { RunUsage } from "../../protocol/index.js";
import type {
  EffectProgress,
  EffectReceipt,
  EffectRequested,
  ExternalPosted,
  ProgramAsked,
  ProgramHanded,
  ProgramWorked,
  PromptCompiled,
  RunEnded,
  RunEvent,
  RunRequested,
  RunSteered,
} from "./events.js";
import {
  type ActiveRun,
  type AdmittedRun,
  awaitsAnswer,
  type Effect,
  type Intent,
  isEnd,
  type Phase,
  type RunsState,
  type Steering,
} from "./state.js";

/** Where an event stands: intent ids are made of it, so they are the same whenever it is folded. */
export interface Place {
  readonly thread_id: string;
  readonly seq: number;
}

export type Reduced =
  | { readonly state: RunsState; readonly effects: readonly Effect[] }
  | { readonly rejected: string };

/** Pure: the state after an event and what is to be done then. What does not fit the state is rejected and changes nothing. */
export function reduce(state: RunsState, event: RunEvent, place: Place): Reduced {
  switch (event.type) {
    case "run.requested":
      return requested(state, event);
    case "run.steered":
      return onActive(state, event, (active) => steered(active, event));
    case "prompt.compiled":
      return onActive(state, event, (active) => compiled(active, event, place));
    case "effect.requested":
      return onActive(state, event, (active) => effectRequested(active, event));
    case "effect.progress":
      return onActive(state, event, (active) => progressed(active, event));
    case "tool.called":
      return { state, effects: [] };
    case "program.handed":
      return onActive(state, event, (active) => handed(active, event));
    case "external.posted":
      return onActive(state, event, (active) => posted(active, event));
    case "program.worked":
      return onActive(state, event, (active) => worked(active, event));
    case "program.asked":
      return onActive(state, event, (active) => programAsked(active, event, place));
    case "effect.receipt":
      return onActive(state, event, (active) => received(active, event, place));
    default:
      return isEnd(event.type) ? ended(state, event) : { rejected: `${event.type} is no event of a run` };
  }
}

type Change =
  | { readonly active: ActiveRun; readonly effects?: readonly Effect[] }
  | { readonly rejected: string };

function onActive(state: RunsState, event: RunEvent, change: (active: ActiveRun) => Change): Reduced {
  const { active } = state;
  if (!active || active.run_id !== event.run_id) return { rejected: `run ${event.run_id} is not under way` };
  if (active.due.length > 0 && event.type !== "effect.requested")
    return { rejected: "effects that were decided on are not in the journal yet" };
  const changed = change(active);
  if ("rejected" in changed) return changed;
  const { effects = [] } = changed;
  const next = effects.length > 0 ? { ...changed.active, due: effects } : changed.active;
  return { state: { ...state, active: next }, effects };
}

function requested(state: RunsState, event: RunRequested): Reduced {
  const { run_id, number, config, input, user_message_id, agent_message_id, overrides } = event;
  const run: AdmittedRun = {
    run_id,
    number,
    config,
    input,
    user_message_id,
    agent_message_id,
    ...(overrides && { overrides }),
    ...(event.origin && { origin: event.origin }),
  };
  if (state.active?.run_id === run_id) return { rejected: `run ${run_id} is under way already` };
  if (state.queue.some((queued) => queued.run_id === run_id)) {
    const queue = state.queue.map((queued) => (queued.run_id === run_id ? run : queued));
    return { state: { ...state, queue }, effects: [] };
  }
  if (!state.active) return { state: { ...state, active: begin(run) }, effects: [] };
  return { state: { ...state, queue: [...state.queue, run] }, effects: [] };
}

function begin(run: AdmittedRun): ActiveRun {
  return { ...run, phase: "prompt", step: 0, due: [], intents: [], steered: [] };
}

function steered(active: ActiveRun, event: RunSteered): Change {
  if (active.phase === "ending") return { rejected: "the run is about to end" };
  const { input, user_message_id, agent_message_id, content, origin, at } = event;
  const steering: Steering = {
    input,
    user_message_id,
    agent_message_id,
    ...(content !== undefined && { said: { content, at } }),
    ...(origin && { origin }),
  };
  const hops = Math.max(active.hops ?? active.origin?.hops ?? 0, origin?.hops ?? 0);
  const next = { ...active, steered: [...active.steered, steering], ...(origin && { hops }) };
  return { active: awaitsAnswer(active) ? withFurther(next) : next };
}

/** An agent elsewhere may take days to answer: what is said to it meanwhile goes out at once, as a message of its own. */
function withFurther(active: ActiveRun): ActiveRun {
  const intents = active.intents.map((intent) =>
    intent.elsewhere && intent.status === "open" ? { ...intent, status: "ok" as const } : intent,
  );
  return { ...active, intents, phase: "prompt" };
}

function compiled(active: ActiveRun, event: PromptCompiled, place: Place): Change {
  if (active.phase !== "prompt") return { rejected: "no prompt is due" };
  if (event.step !== active.step + 1) return { rejected: `step ${active.step + 1} is due` };
  const { step, inputs, request_hash } = event;
  const effect = effectAt(place, 0, "llm.generate", { step, request_hash });
  const last = active.steered.at(-1);
  return {
    active: {
      ...active,
      step,
      inputs,
      phase: "model",
      intents: [],
      // What was steered is in this prompt; the rest of the answer is a message of its own.
      steered: [],
      ...(last && { agent_message_id: last.agent_message_id }),
    },
    effects: [effect],
  };
}

function effectAt(place: Place, index: number, kind: Effect["kind"], params: object): Effect {
  const intent_id = `int_${sha256(`${place.thread_id} ${place.seq} ${index}`).slice(0, 24)}`;
  return { intent_id, kind, params_hash: sha256(canonicalJson(params)) };
}

function effectRequested(active: ActiveRun, event: EffectRequested): Change {
  const [next, ...due] = active.due;
  const { intent_id, kind, params_hash } = event;
  const same = next?.intent_id === intent_id && next.kind === kind && next.params_hash === params_hash;
  if (!next || !same) return { rejected: `${kind} ${intent_id} was not decided on` };
  const intent: Intent = {
    ...next,
    status: "open",
    ...(kind === "approval.ask" && { asked_at: event.at }),
  };
  return { active: { ...active, due, intents: [...active.intents, intent] } };
}

function progressed(active: ActiveRun, event: EffectProgress): Change {
  if (!isOpen(active, event.intent_id)) return { rejected: `${event.intent_id} is not open` };
  const { text = "", thinking = "", begun, ended } = event;
  const calls = begun || ended ? [begun ?? [], ended ?? []] : [];
  const { chars = 0, digest = "" } = active.progress ?? {};
  const progress = {
    chars: chars + text.length + thinking.length,
    digest: sha256(canonicalJson([digest, text, thinking, ...calls])),
  };
  return { active: { ...active, progress } };
}

function whileOpen(active: ActiveRun, intent_id: string, change: Change): Change {
  return isOpen(active, intent_id) ? change : { rejected: `${intent_id} is not open` };
}

function handed(active: ActiveRun, { intent_id, callback }: ProgramHanded): Change {
  return whileOpen(active, intent_id, { active: callback ? elsewhere(active, intent_id, "handed") : active });
}

function posted(active: ActiveRun, { intent_id }: ExternalPosted): Change {
  const isHanded = active.intents.some((one) => one.intent_id === intent_id && one.elsewhere === "handed");
  if (!isHanded) return { rejected: `${intent_id} was not handed over` };
  const next = elsewhere(active, intent_id, "accepted");
  return whileOpen(active, intent_id, { active: active.steered.length > 0 ? withFurther(next) : next });
}

function elsewhere(active: ActiveRun, intent_id: string, how: "handed" | "accepted"): ActiveRun {
  const intents = active.intents.map((one) =>
    one.intent_id === intent_id ? { ...one, elsewhere: how } : one,
  );
  return { ...active, intents };
}

/** What was said before it is whole now, and kept in another way. */
function worked(active: ActiveRun, event: ProgramWorked): Change {
  const { progress: _, ...rest } = active;
  return whileOpen(active, event.intent_id, { active: rest });
}

function programAsked(active: ActiveRun, event: ProgramAsked, place: Place): Change {
  const { intent_id, call } = event;
  const effect = { ...effectAt(place, 0, "approval.ask", call), call };
  return whileOpen(active, intent_id, { active, effects: [effect] });
}

function isOpen({ intents }: ActiveRun, intent_id: string): boolean {
  return intents.some((intent) => intent.intent_id === intent_id && intent.status === "open");
}

function received(active: ActiveRun, event: EffectReceipt, place: Place): Change {
  if (!isOpen(active, event.intent_id)) return { rejected: `${event.intent_id} is not open` };
  const intents = active.intents.map((intent) =>
    intent.intent_id === event.intent_id
      ? { ...intent, status: event.status, ...(event.result && { result: event.result }) }
      : intent,
  );
  const { progress: _, ...rest } = active;
  const next: ActiveRun = { ...rest, intents, ...sumOf(active.usage, event.usage) };
  const intent = intents.find(({ intent_id }) => intent_id === event.intent_id) as Intent;
  if (intent.kind === "llm.generate") return answered(next, event, place);
  if (intent.kind === "approval.ask") return decided(next, event, intent, place);
  return toolAnswered(next);
}

/** The model's tools are called; without any the run ends, unless somebody has said something meanwhile. */
function answered(before: ActiveRun, event: EffectReceipt, place: Place): Change {
  const { status, calls = [], error } = event;
  const active = { ...before, intents: before.intents.map(unanswered) };
  if (status !== "ok") return { active: { ...active, phase: "ending", ...(error && { error }) } };
  if (calls.length === 0) {
    const phase: Phase = active.steered.length > 0 ? "prompt" : "ending";
    return { active: { ...active, phase } };
  }
  const effects = calls.map((call, index) => ({
    ...effectAt(place, index, call.approval === "ask" ? "approval.ask" : "tool.call", call),
    call,
  }));
  return { active: { ...active, phase: "tools" }, effects };
}

/** What a program still asks when it has ended, nobody can answer any more. */
function unanswered(intent: Intent): Intent {
  return intent.kind === "approval.ask" && intent.status === "open"
    ? { ...intent, status: "cancelled" }
    : intent;
}

/** What is allowed is called; what is not was answered with that. A program goes on by itself, whatever was said. */
function decided(active: ActiveRun, event: EffectReceipt, { call, intent_id }: Intent, place: Place): Change {
  const { decision } = event;
  if (decision === undefined) return { rejected: "nobody has decided anything" };
  if (active.phase === "model") {
    const intents = active.intents.map((one) => (one.intent_id === intent_id ? { ...one, decision } : one));
    return { active: { ...active, intents } };
  }
  if (event.decision === "deny") return toolAnswered(active);
  return { active, effects: [{ ...effectAt(place, 0, "tool.call", call ?? {}), ...(call && { call }) }] };
}

function toolAnswered(active: ActiveRun): Change {
  const open = active.intents.some(({ status }) => status === "open");
  return { active: open ? active : { ...active, phase: "prompt" } };
}

function ended(state: RunsState, event: RunEnded): Reduced {
  const { run_id, type } = event;
  if (state.active?.run_id === run_id) {
    if (type === "run.completed" && state.active.phase !== "ending")
      return { rejected: "there is more to be done" };
    const [next, ...queue] = state.queue;
    return { state: next ? { active: begin(next), queue } : { queue }, effects: [] };
  }
  const queue = state.queue.filter((queued) => queued.run_id !== run_id);
  if (queue.length === state.queue.length) return { rejected: `run ${run_id} is not there` };
  if (type === "run.completed") return { rejected: `run ${run_id} has not begun` };
  return { state: { ...state, queue }, effects: [] };
}

function sumOf(before: RunUsage | undefined, added: RunUsage | undefined): { usage?: RunUsage } {
  if (!added) return before ? { usage: before } : {};
  const sum = (key: keyof RunUsage) => (before?.[key] ?? 0) + (added[key] ?? 0);
  const optional = (key: "cached_input" | "reasoning") =>
    before?.[key] === undefined && added[key] === undefined ? {} : { [key]: sum(key) };
  return {
    usage: {
      input: sum("input"),
      output: sum("output"),
      ...optional("cached_input"),
      ...optional("reasoning"),
    },
  };
}

/** What an event records of the state after it. */
export function stateHash(state: RunsState): string {
  return sha256(canonicalJson(state));
}
