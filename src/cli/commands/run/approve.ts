import type { Run, RunApproval } from "../../../protocol/index.js";
import { cliError, UsageError } from "../../errors.js";
import { oneLine } from "../../message-text.js";
import { note, paint, paintErr, print, printJson, visible } from "../../output.js";
import { type Session, withSession } from "../../session.js";
import type { Decision } from "./approving.js";
import { askedLines, wholeCall } from "./asked-call.js";
import { untilEnded } from "./carry-on.js";
import type { OfThread } from "./change.js";
import { followThread } from "./follow.js";
import { findRun, runById } from "./of-run.js";
import { statusText } from "./run-text.js";
import { Screen } from "./screen.js";
import { ShowRun } from "./show-run.js";

interface ApproveOptions extends OfThread {
  readonly always?: boolean;
  readonly deny?: boolean;
  readonly show?: boolean;
}

/** Answers a call that waits: of this run, or of one that it delegated to. */
export async function approve(
  given: string,
  call_id: string | undefined,
  options: ApproveOptions,
): Promise<void> {
  const { always, deny, show } = options;
  if ([always, deny, show].filter(Boolean).length > 1)
    throw new UsageError("--always, --deny and --show exclude each other");
  if (show) return showAsked(given, call_id, options);
  const run = await withSession(
    options,
    async (session) => {
      const named = await namedRun(session, given, options);
      const asked = await wholeCall(session, named.workspace_id, pending(named, call_id));
      if (!options.json) note(...askedLines(asked).map(paintErr.dim));
      const answer = async () => {
        const run = await decide(session, named, asked, options);
        if (!options.json) tell(run, asked, options);
        return run;
      };
      return session.place === "private" ? carryOn(session, named, { answer, options }) : answer();
    },
    { staying: true },
  );
  if (options.json) printJson({ run });
}

/** What waits, whole; nothing is answered. */
async function showAsked(given: string, call_id: string | undefined, options: ApproveOptions): Promise<void> {
  const data = await withSession(options, async (session) => {
    const named = await namedRun(session, given, options);
    const found = call_id === undefined ? (named.approvals ?? []) : [pending(named, call_id)];
    if (found.length === 0) pending(named, call_id);
    return Promise.all(found.map((asked) => wholeCall(session, named.workspace_id, asked)));
  });
  if (options.json) return printJson({ data });
  print(...data.flatMap((asked) => [...askedLines(asked, { whole: true }), paint.dim(asked.tool_call_id)]));
}

function namedRun(session: Session, given: string, { thread }: ApproveOptions): Promise<Run> {
  return thread === undefined ? runById(session, given) : findRun(session, { given, thread });
}

async function decide(
  { call }: Session,
  { workspace_id }: Run,
  { run_id, tool_call_id }: RunApproval,
  options: ApproveOptions,
): Promise<Run> {
  const decision = decisionOf(options);
  return (await call("run/approve", { workspace_id, run_id, tool_call_id, decision })).run;
}

/** No gateway runs but this command's own: it stays until the run has ended, or it would stop it by leaving. */
async function carryOn(
  session: Session,
  run: Run,
  { answer, options }: { answer: () => Promise<Run>; options: ApproveOptions },
): Promise<Run> {
  const { workspace_id, thread_id } = run;
  const { thread } = await session.call("thread/get", { workspace_id, thread_id });
  const following = await followThread(session, thread);
  await answer();
  const { run: now } = await session.call("run/get", { workspace_id, run_id: run.id });
  const screen = new Screen();
  const shown = new ShowRun(screen, options);
  try {
    return await untilEnded(session, following, now, { shown, standing: undefined, json: options.json });
  } finally {
    screen.end();
  }
}

function decisionOf({ deny, always }: ApproveOptions): Decision {
  if (deny) return "deny";
  return always ? "always" : "allow";
}

const SAID: Readonly<Record<Decision, string>> = {
  allow: "Allowed",
  always: "Allowed from now on",
  deny: "Not allowed",
};

function tell(run: Run, { name }: RunApproval, options: ApproveOptions): void {
  const line = `${SAID[decisionOf(options)]}: ${visible(name)}  run ${run.number}  ${statusText(run.status)}`;
  print(`${line}  ${paint.dim(run.id)}`);
  if (run.approvals?.length) note(paintErr.dim("It waits for another answer."));
}

function pending({ id, approvals = [], number, status }: Run, call_id: string | undefined): RunApproval {
  const found = approvals.filter(({ tool_call_id }) => call_id === undefined || tool_call_id === call_id);
  const [one, another] = found;
  if (one && !another) return one;
  if (!one) {
    const asked = call_id === undefined ? "waits for no answer" : `asks nothing about ${call_id}`;
    throw cliError(
      {
        kind: "run.not_asking",
        run_id: id,
        status,
        ...(call_id !== undefined && { tool_call_id: call_id }),
      },
      `Run ${number} ${asked} (${status}).`,
    );
  }
  const listed = found.map((each) => `  ${each.tool_call_id}  ${oneLine(`${each.name} ${each.arguments}`)}`);
  throw new UsageError(`Run ${number} asks about several calls. Name one:\n${listed.join("\n")}`);
}
