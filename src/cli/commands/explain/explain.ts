import type { Run } from "../../../protocol/index.js";
import { cliError, UsageError } from "../../errors.js";
import type { WorkspaceOptions } from "../../options.js";
import { print, printJson, printText } from "../../output.js";
import { type Session, withSession } from "../../session.js";
import { findRun, walkRuns } from "../run/of-run.js";
import { type Comparison, compare, type Told } from "./compare.js";
import { comparisonLines } from "./compare-text.js";
import { type ShownRequest, toldLines } from "./told-text.js";

interface ExplainOptions extends WorkspaceOptions {
  readonly thread?: string;
  readonly step?: number;
  readonly diff?: boolean;
  readonly exact?: boolean;
}

interface Explained {
  readonly told: Told;
  readonly comparison?: Comparison | undefined;
}

/** Shows what a model was told and why: section by section, against the run before, or to the letter. */
export async function explain(given: string | undefined, options: ExplainOptions): Promise<void> {
  if (options.exact && (options.json || options.diff))
    throw new UsageError("--exact prints the request and nothing else: use it without --json and --diff");
  if (!options.exact && !options.diff && !options.json) return show(given, options);
  const { told, comparison } = await withSession(options, (session) => read(session, given, options));
  const { run, manifest, context } = told;
  if (options.exact) printExact(told);
  else if (options.json)
    printJson({ run, manifest, request: context.request, ...(comparison && { diff: comparison }) });
  else print(...comparisonLines(run, comparison));
}

async function show(given: string | undefined, options: ExplainOptions): Promise<void> {
  const lines = await withSession(options, async (session) => {
    const run = await findRun(session, { given, thread: options.thread });
    const params = paramsOf(run, options.step);
    const { manifest } = await session.call("run/manifest", params);
    const { workspace_id, thread_id } = run;
    const { thread } = await session.call("thread/get", { workspace_id, thread_id });
    return toldLines({ run, manifest, thread, request: await requestOf(session, params) });
  });
  print(...lines);
}

/** The words may be damaged where the account of them is not: then that is what is told. */
async function requestOf({ call }: Session, params: RunStep): Promise<ShownRequest> {
  try {
    return (await call("run/context", params)).request;
  } catch (error) {
    if ((error as Error).name !== "CallError") throw error;
    return { problem: (error as Error).message };
  }
}

async function read(
  session: Session,
  given: string | undefined,
  { thread, step, diff }: ExplainOptions,
): Promise<Explained> {
  const run = await findRun(session, { given, thread });
  const told = await readTold(session, run, step);
  const before = diff ? await runBefore(session, run) : undefined;
  return { told, comparison: before && compare(await readTold(session, before), told) };
}

interface RunStep {
  readonly run_id: string;
  readonly workspace_id: string;
  readonly step?: number;
}

function paramsOf({ id: run_id, workspace_id }: Run, step: number | undefined): RunStep {
  return { run_id, workspace_id, ...(step !== undefined && { step }) };
}

async function readTold({ call }: Session, run: Run, step?: number): Promise<Told> {
  const params = paramsOf(run, step);
  const { manifest } = await call("run/manifest", params);
  return { run, manifest, context: await call("run/context", params) };
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
function printExact({ run, context }: Told): void {
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
