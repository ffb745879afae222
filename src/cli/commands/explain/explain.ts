import type { Run, Thread } from "../../../protocol/index.js";
import { cliError, UsageError } from "../../errors.js";
import type { WorkspaceOptions } from "../../options.js";
import { print, printJson, printText } from "../../output.js";
import { type Session, withSession } from "../../session.js";
import { findRun, walkRuns } from "../run/of-run.js";
import { type Comparison, compare, type Told } from "./compare.js";
import { comparisonLines } from "./compare-text.js";
import { toldLines } from "./told-text.js";

interface ExplainOptions extends WorkspaceOptions {
  readonly thread?: string;
  readonly step?: number;
  readonly diff?: boolean;
  readonly exact?: boolean;
}

interface Explained extends Told {
  readonly thread: Thread;
  readonly comparison?: Comparison | undefined;
}

/** Shows what a model was told and why: section by section, against the run before, or to the letter. */
export async function explain(given: string | undefined, options: ExplainOptions): Promise<void> {
  if (options.exact && (options.json || options.diff))
    throw new UsageError("--exact prints the request and nothing else: use it without --json and --diff");
  const explained = await withSession(options, (session) => read(session, given, options));
  if (options.exact) return printExact(explained);
  const { run, manifest, context, comparison } = explained;
  if (options.json)
    return printJson({ run, manifest, request: context.request, ...(comparison && { diff: comparison }) });
  if (options.diff) return print(...comparisonLines(run, comparison));
  print(...toldLines(explained));
}

async function read(
  session: Session,
  given: string | undefined,
  { thread, step, diff }: ExplainOptions,
): Promise<Explained> {
  const run = await findRun(session, { given, thread });
  const told = await readTold(session, run, step);
  const { workspace_id, thread_id } = run;
  const { thread: of } = await session.call("thread/get", { workspace_id, thread_id });
  const before = diff ? await runBefore(session, run) : undefined;
  const comparison = before && compare(await readTold(session, before), told);
  return { ...told, thread: of, comparison };
}

async function readTold({ call }: Session, run: Run, step?: number): Promise<Told> {
  const { id: run_id, workspace_id } = run;
  const params = { run_id, workspace_id, ...(step !== undefined && { step }) };
  const [{ manifest }, context] = await Promise.all([
    call("run/manifest", params),
    call("run/context", params),
  ]);
  return { run, manifest, context };
}

/** The nearest run before it that told a model anything. */
async function runBefore(session: Session, run: Run): Promise<Run | undefined> {
  const { workspace_id, thread_id, number } = run;
  for await (const each of walkRuns(session, { workspace_id, thread_id })) {
    if (each.number < number && each.steps > 0) return each;
  }
  return undefined;
}

/** The bytes that were sent, or none: what is only like them would be taken for them. */
function printExact({ run, context }: Explained): void {
  const { request, step } = context;
  if (request.exact === true) {
    printText(request.body);
    return;
  }
  throw cliError(
    { kind: "run.not_exact", run_id: run.id, step },
    request.sha256 === undefined
      ? `Step ${step} of run ${run.number} has not been sent, or its model did not say that it was. \`heddle explain ${run.id}\` shows what it was told.`
      : `The request of step ${step} can't be built again byte for byte: this version of Heddle, or of what speaks to the provider, writes it otherwise. \`heddle explain ${run.id} --json\` has it as it would be sent now.`,
  );
}
