import type { Message, Run } from "../../src/protocol/index.js";
import type { KnownThread, Ledger, Said } from "./ledger.js";
import { LAST_WORDS } from "./model.js";
import { type State, textOf } from "./state.js";

/** Holds for a thread in which nothing is under way. */
export async function checkThreads(ledger: Ledger, state: State): Promise<string[]> {
  const runs = await state.runs();
  const problems: string[] = [];
  for (const thread of ledger.threads()) {
    if (thread.deleted || !state.threads.has(thread.id)) continue;
    const messages = await state.messages(thread.id);
    problems.push(...doubledIds(thread.id, messages), ...checkOrder(thread, messages));
    for (const said of thread.log)
      problems.push(...checkSaid(thread, said, { messages, runs, mayFail: ledger.mayFail }));
  }
  const everywhere = await Promise.all([...state.threads.keys()].map((id) => state.messages(id)));
  const answers = answersByRun(everywhere.flat());
  for (const run of runs.values()) {
    if (state.threads.has(run.thread_id)) problems.push(...checkEnd(run, answers.get(run.id), ledger));
  }
  return problems;
}

function doubledIds(thread_id: string, messages: readonly Message[]): string[] {
  const ids = messages.map(({ id }) => id);
  return ids
    .filter((id, at) => ids.indexOf(id) !== at)
    .map((id) => `doubled: message ${id} stands twice in thread ${thread_id}`);
}

interface Found {
  readonly messages: readonly Message[];
  readonly runs: ReadonlyMap<string, Run>;
  readonly mayFail: boolean;
}

/**
 * A log that could not be written ended the run visibly (RUN96): nobody thinks that its messages stand there. One that was
 * cancelled or interrupted meanwhile says so and nothing else.
 */
export function couldNotBeWritten({ status }: Run, mayFail: boolean): boolean {
  return status === "failed" || (mayFail && (status === "cancelled" || status === "interrupted"));
}

/** A message stands there once; one of a run that was cancelled before it began does not. */
function checkSaid({ id: thread_id }: KnownThread, said: Said, { messages, runs, mayFail }: Found): string[] {
  const same = messages.filter((message) => textOf(message) === said.text);
  const what = `"${said.text}" (message ${said.id}, run ${said.run}) in thread ${thread_id}`;
  if (same.length > 1) return [`doubled: ${what} stands there ${same.length} times`];
  const run = runs.get(said.run ?? said.steers ?? "");
  if (said.run !== undefined && !run) return [`lost: the run of ${what} was acknowledged and is not there`];
  if (same.length === 0 && run && couldNotBeWritten(run, mayFail)) return [];
  if (said.maybe && (said.run === undefined || run?.started_at === undefined)) return [];
  const [only] = same;
  if (!only) return [`lost: ${what} was acknowledged and is not there`];
  return only.id === said.id ? [] : [`lost: ${what} stands there as ${only.id}`];
}

/** Runs in the order they were asked for, others in the order they were recorded, and before runs that came later. */
function checkOrder({ id: thread_id, log }: KnownThread, messages: readonly Message[]): string[] {
  const at = new Map(messages.map(({ id }, index) => [id, index]));
  let runsFrom = Number.POSITIVE_INFINITY;
  let appendsFrom = Number.POSITIVE_INFINITY;
  for (const { id, how, text } of log.toReversed()) {
    const index = at.get(id ?? "");
    if (index === undefined || how === "steer") continue;
    const before = how === "run" ? runsFrom : Math.min(runsFrom, appendsFrom);
    if (index > before)
      return [`lost: the order in thread ${thread_id}: "${text}" stands behind what came later`];
    if (how === "run") runsFrom = index;
    else appendsFrom = index;
  }
  return [];
}

function answersByRun(messages: readonly Message[]): Map<string, Message[]> {
  const answers = new Map<string, Message[]>();
  for (const message of messages) {
    if (message.role !== "agent" || message.run_id === undefined) continue;
    answers.set(message.run_id, [...(answers.get(message.run_id) ?? []), message]);
  }
  return answers;
}

/** How a run ended is how its answer ended. Runs whose thread was cleared have none. */
function checkEnd(run: Run, answers: readonly Message[] | undefined, ledger: Ledger): string[] {
  const what = `run ${run.id} of thread ${run.thread_id}`;
  if (run.ended_at === undefined) return [`stuck: ${what} is ${run.status}`];
  if (run.status === "failed") return ledger.mayFail ? [] : [`lost: ${what} failed: ${run.error?.message}`];
  if (!answers) return isOwed(run, ledger) ? [`lost: the answer of ${what}, which is ${run.status}`] : [];
  const reason = String(answers.at(-1)?.stopReason);
  const right = RIGHT_REASONS[run.status];
  if (right && right !== reason)
    return [`lost: ${what} is ${run.status}, and its answer ended with ${reason}`];
  const ends = answers.map(textOf).join("").split(LAST_WORDS).length - 1;
  if (ends > answers.length) return [`doubled: the answer of ${what} ends ${ends} times`];
  const isHelper = answers.some((answer) => textOf(answer).includes("did it"));
  return run.status === "completed" && ends === 0 && !isHelper
    ? [`lost: the end of the answer of ${what}`]
    : [];
}

const RIGHT_REASONS: Readonly<Record<string, string>> = { completed: "end_turn", interrupted: "interrupted" };

/** Threads that were cleared keep their runs, and no answers. */
function isOwed({ id, status, thread_id }: Run, ledger: Ledger): boolean {
  const known = ledger.threads().find((thread) => thread.id === thread_id);
  const isKept = !known || known.log.some(({ run }) => run === id);
  return isKept && status in RIGHT_REASONS && !(ledger.mayFail && status === "interrupted");
}
