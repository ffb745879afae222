import type { Run } from "../../../protocol/index.js";
import type { WorkspaceOptions } from "../../options.js";
import { paint, print, printJson } from "../../output.js";
import { withSession } from "../../session.js";
import { hasEnded } from "./follow.js";
import { readMessage } from "./message-input.js";
import { findRun, runById } from "./of-run.js";
import { statusText } from "./run-text.js";

export interface OfThread extends WorkspaceOptions {
  readonly thread?: string;
}

/** Ends a run that is under way, or takes one that waits out of the queue. */
export async function cancel(given: string, options: OfThread): Promise<void> {
  const { before, run } = await withSession(options, async (session) => {
    const before = await named(session, given, options);
    const { run_id, workspace_id } = idsOf(before);
    return { before, ...(await session.call("run/cancel", { run_id, workspace_id })) };
  });
  if (options.json) return printJson({ run });
  if (hasEnded(before)) print(`It had ended already: ${shownRun(run)}`);
  else print(`Cancelled ${shownRun(run)}`);
}

/** Gives a run that is under way another message. */
export async function steer(given: string, words: readonly string[], options: OfThread): Promise<void> {
  const content = await readMessage(words);
  const result = await withSession(options, async (session) => {
    const run = await named(session, given, options);
    return session.call("run/steer", { ...idsOf(run), content });
  });
  if (options.json) return printJson(result);
  print(`${shownRun(result.run)} gets it with its next step`);
}

type Session = Parameters<typeof findRun>[0];

/** A thread's id does not say which of its runs is meant: that of a run does, or its number in the thread. */
function named(session: Session, given: string, { thread }: OfThread): Promise<Run> {
  return thread === undefined ? runById(session, given) : findRun(session, { given, thread });
}

function idsOf({ id, workspace_id }: Run) {
  return { run_id: id, workspace_id };
}

function shownRun({ id, number, status }: Run): string {
  return `run ${number}  ${statusText(status)}  ${paint.dim(id)}`;
}
