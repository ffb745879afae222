import { randomUUID } from "node:crypto";
import type { Message, Params, Run, Thread } from "../../../protocol/index.js";
import { cliError } from "../../errors.js";
import type { WorkspaceOptions } from "../../options.js";
import { note, paintErr, printJson } from "../../output.js";
import { type Session, withSession } from "../../session.js";
import { answerIn } from "./answer.js";
import { Cancelling } from "./cancelling.js";
import { assertChoice, type ChosenThread, chooseThread, type ThreadChoice } from "./choose-thread.js";
import { followThread } from "./follow.js";
import { readMessage } from "./message-input.js";
import { type PromptOptions, putPrompt, readPrompt } from "./prompt-option.js";
import { readAnswer } from "./read-answer.js";
import { runLine } from "./run-text.js";
import { Screen } from "./screen.js";
import { ShowRun } from "./show-run.js";

interface SendOptions extends WorkspaceOptions, ThreadChoice, PromptOptions {
  readonly model?: string;
  readonly thinking?: boolean;
}

interface Outcome {
  readonly run: Run;
  readonly thread: Thread;
  /** The last thing the agent said; absent when it said nothing. */
  readonly message?: Message;
}

/** Asks an agent and shows its answer while it comes. */
export async function send(words: readonly string[], options: SendOptions): Promise<void> {
  assertChoice(options);
  const content = await readMessage(words);
  const prompt = await readPrompt(options);
  const cancelling = new Cancelling();
  try {
    const outcome = await withSession(
      options,
      (session) => converse(session, { content, prompt, options, cancelling }),
      { staying: true },
    );
    if (outcome) tell(outcome, options, cancelling);
    else process.exitCode = cancelling.exitCode;
  } finally {
    cancelling.stop();
  }
}

interface Sending {
  readonly content: string;
  readonly prompt: string | undefined;
  readonly options: SendOptions;
  readonly cancelling: Cancelling;
}

/** Undefined when it was given up before anyone was asked. */
async function converse(session: Session, sending: Sending): Promise<Outcome | undefined> {
  const { options, cancelling } = sending;
  const { call } = session;
  const config = await configOf(session, sending);
  const chosen = await chooseThread(session, options);
  const { thread } = chosen;
  const { workspace_id, id: thread_id } = thread;
  const following = await followThread(session, thread);
  if (cancelling.cause) return undefined;
  const run = await start(session, chosen, { content: sending.content, ...(config && { config }) });
  const screen = new Screen();
  const shown = new ShowRun(screen, options);
  cancelling.by(() => {
    if (cancelling.cause === "SIGINT" && process.stderr.isTTY === true)
      shown.aside("Cancelling; Ctrl-C again leaves at once.");
    // Whether it could be cancelled is seen by how it ends.
    call("run/cancel", { workspace_id, run_id: run.id }).catch(() => {});
  });
  try {
    const ended = await following.ended(run, shown);
    const messages = await readAnswer(session, ended);
    if (!options.json) showRest(shown, screen, messages, ended);
    const message = messages.at(-1);
    const now = await call("thread/get", { workspace_id, thread_id });
    return { run: ended, thread: now.thread, ...(message && { message }) };
  } finally {
    screen.end();
  }
}

/** What this message alone is asked with. */
async function configOf(
  session: Session,
  { prompt, options: { model } }: Sending,
): Promise<Params<"run/start">["config"]> {
  if (prompt === undefined && model === undefined) return undefined;
  return {
    ...(model !== undefined && { model }),
    ...(prompt !== undefined && { prompt_refs: [await putPrompt(session, prompt)] }),
  };
}

type Asked = Pick<Params<"run/start">, "content" | "config">;

/** A message that is refused leaves no empty thread behind. */
async function start({ call }: Session, { thread, made }: ChosenThread, asked: Asked): Promise<Run> {
  const { workspace_id, id: thread_id, worktree } = thread;
  const params = { workspace_id, thread_id, ...asked, idempotency_key: randomUUID() };
  const again = (error: Error) => {
    if (!isLost(error)) throw error;
    // Nobody knows whether the first one arrived: by its key it is asked once all the same.
    return call("run/start", params);
  };
  try {
    return (await call("run/start", params).catch(again)).run;
  } catch (error) {
    if (made && !worktree && (error as Error).name === "CallError")
      await call("thread/delete", { workspace_id, thread_id }).catch(() => {});
    throw error;
  }
}

function isLost(error: Error & { kind?: string }): boolean {
  return error.kind === "connection_lost";
}

/** What was missed while the connection was away comes from the thread's log. */
function showRest(shown: ShowRun, screen: Screen, messages: readonly Message[], run: Run): void {
  const cut = messages.some(({ truncated }) => truncated === true);
  const rest = cut ? "" : shown.answer.rest(answerIn(messages));
  if (rest) screen.say(rest);
  if (rest === undefined || (cut && shown.answer.text === "")) {
    shown.aside(
      `A part of the answer was missed: \`heddle threads messages ${run.thread_id}\` has it whole.`,
    );
  }
}

function tell(outcome: Outcome, { json }: SendOptions, cancelling: Cancelling): void {
  const { run, thread } = outcome;
  if (cancelling.cause === "reader_gone") return;
  if (json) printJson(outcome);
  else if (process.stderr.isTTY === true) note(paintErr.dim(runLine(run, thread)));
  if (run.status === "completed") return;
  if (run.status === "cancelled" && cancelling.exitCode !== undefined) {
    process.exitCode = cancelling.exitCode;
    return;
  }
  throw notCompleted(run);
}

function notCompleted({ id: run_id, thread_id, status, error }: Run): Error {
  const ids = { run_id, thread_id };
  const why = error?.message ?? "It did not say why.";
  if (status === "cancelled")
    return cliError({ kind: "run.cancelled", ...ids }, "Someone else cancelled the run.");
  if (status === "interrupted") {
    const how = error?.message ?? "The gateway stopped before the run ended.";
    return cliError(
      { kind: "run.interrupted", ...ids },
      `${how} Send the message again: heddle send --thread ${thread_id} …`,
    );
  }
  return cliError({ kind: "run.failed", code: error?.code ?? "internal", ...ids }, why);
}
