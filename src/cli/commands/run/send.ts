import { randomUUID } from "node:crypto";
import type { Message, Params, Run, Thread } from "../../../protocol/index.js";
import { cliError } from "../../errors.js";
import type { WorkspaceOptions } from "../../options.js";
import { note, paintErr, printJson } from "../../output.js";
import { type Session, withSession } from "../../session.js";
import { answerIn } from "./answer.js";
import { standingOf } from "./approving.js";
import { Cancelling } from "./cancelling.js";
import { untilEnded } from "./carry-on.js";
import { assertChoice, type ChosenThread, chooseThread, type ThreadChoice } from "./choose-thread.js";
import { AWAY_MS, followThread } from "./follow.js";
import { readMessage } from "./message-input.js";
import { type PromptOptions, putPrompt, readPrompt } from "./prompt-option.js";
import { readAnswer } from "./read-answer.js";
import { runLine } from "./run-text.js";
import { Screen } from "./screen.js";
import { ShowRun } from "./show-run.js";

interface SendOptions extends WorkspaceOptions, ThreadChoice, PromptOptions {
  readonly model?: string;
  readonly thinking?: boolean;
  readonly approve?: string;
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
  standingOf(options.approve);
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
  cancelling.listen();
  const config = await configOf(session, sending);
  const chosen = await chooseThread(session, options);
  const { thread } = chosen;
  const { workspace_id, id: thread_id } = thread;
  const following = await followThread(session, thread);
  if (cancelling.cause) return discard(session, chosen);
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
    const standing = standingOf(options.approve);
    const ended = await untilEnded(session, following, run, { shown, standing, json: options.json });
    const read = await Promise.all([
      readAnswer(session, ended),
      call("thread/get", { workspace_id, thread_id }, { timeoutMs: AWAY_MS }),
    ]).catch(ifGone);
    const [messages, now] = read ?? [[], { thread }];
    if (!options.json) showRest(shown, { screen, messages: read && messages, run: ended });
    const message = messages.at(-1);
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
async function start(session: Session, chosen: ChosenThread, asked: Asked): Promise<Run> {
  const { call } = session;
  const { workspace_id, id: thread_id } = chosen.thread;
  const params = { workspace_id, thread_id, ...asked, idempotency_key: randomUUID() };
  const again = (error: Error) => {
    if (!isLost(error)) throw error;
    // Nobody knows whether the first one arrived: by its key it is asked once all the same.
    return call("run/start", params);
  };
  try {
    return (await call("run/start", params).catch(again)).run;
  } catch (error) {
    if ((error as Error).name === "CallError") await discard(session, chosen);
    throw error;
  }
}

/** Takes back the thread that was made for a message. A worktree is left alone: it may be set up already. */
async function discard({ call }: Session, { thread, made }: ChosenThread): Promise<undefined> {
  const { workspace_id, id: thread_id, worktree } = thread;
  if (made && !worktree) await call("thread/delete", { workspace_id, thread_id }).catch(() => {});
}

const NO_ANSWER = new Set(["connection_lost", "closed", "timeout", "stopping"]);

function isLost({ kind = "" }: Error & { kind?: string }): boolean {
  return NO_ANSWER.has(kind);
}

/** A gateway that stops ends its runs, tells it, and is gone: what it told is all there is. */
function ifGone(error: Error): undefined {
  if (!isLost(error)) throw error;
  return undefined;
}

interface Shown {
  readonly screen: Screen;
  /** Undefined when the log could not be read. */
  readonly messages: readonly Message[] | undefined;
  readonly run: Run;
}

/** What was missed while the connection was away comes from the thread's log. */
function showRest(shown: ShowRun, { screen, messages, run }: Shown): void {
  // Long messages are cut for the wire: then the words that came are all that can be had here.
  const whole = messages?.some(({ truncated }) => truncated === true) ? undefined : messages;
  const rest = whole && shown.answer.rest(answerIn(whole));
  if (rest) screen.say(rest);
  if (rest === undefined && shown.missed) {
    shown.aside(
      `A part of the answer may be missing: \`heddle threads messages ${run.thread_id}\` has it whole.`,
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
