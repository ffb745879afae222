import type { Run, RunStatus } from "../../../protocol/index.js";
import type { WorkspaceOptions } from "../../options.js";
import { formatTime, note, paint, paintErr, print, printJson, printTable, visible } from "../../output.js";
import { type Session, withSession } from "../../session.js";
import { findRun, placeOf } from "./of-run.js";
import { number, statusText } from "./run-text.js";
import { treeLines } from "./tree-text.js";

interface ListOptions extends WorkspaceOptions {
  readonly thread?: string;
  readonly status?: RunStatus[];
  readonly tree?: string | true;
  readonly limit: number;
}

const PAGE = 500;

export async function list(options: ListOptions): Promise<void> {
  const { data, more } = await withSession(options, (session) => readRuns(session, options));
  if (options.json) return printJson({ data, more });
  if (data.length === 0) return print(paint.dim("No runs found. Ask something: heddle send TEXT"));
  if (options.tree !== undefined) return print(...treeLines(data));
  const several = options.thread === undefined;
  const rows = data.map((run) => [
    paint.dim(run.id),
    ...(several ? [paint.dim(run.thread_id)] : []),
    String(run.number),
    formatTime(run.created_at),
    statusText(run.status),
    visible(run.agent_id),
    tokens(run),
    visible(run.model ?? ""),
  ]);
  const heading = [
    "ID",
    ...(several ? ["THREAD"] : []),
    "RUN",
    "ASKED",
    "STATUS",
    "AGENT",
    "TOKENS",
    "MODEL",
  ];
  printTable(heading, rows);
  if (more) note(paintErr.dim(`There are more: --limit ${options.limit * 10}`));
}

function tokens({ usage }: Run): string {
  return usage ? `${number(usage.input)} + ${number(usage.output)}` : "";
}

async function readRuns(session: Session, options: ListOptions): Promise<{ data: Run[]; more: boolean }> {
  const { thread, status, limit, tree } = options;
  if (typeof tree === "string") return { data: await readTree(session, tree, options), more: false };
  const place =
    thread === undefined ? { workspace_id: (await session.workspace()).id } : await placeOf(session, thread);
  const data: Run[] = [];
  let cursor: string | undefined;
  do {
    const page = await session.call("run/list", {
      ...place,
      order: "created",
      limit: Math.min(PAGE, limit - data.length),
      ...(status && { status }),
      ...(cursor !== undefined && { cursor }),
    });
    data.push(...page.data);
    cursor = page.next_cursor;
  } while (cursor !== undefined && data.length < limit);
  return { data, more: cursor !== undefined };
}

/** The whole delegation that a run belongs to, whichever run of it was named. */
async function readTree(session: Session, given: string, { thread, status }: ListOptions): Promise<Run[]> {
  const run = await findRun(session, { given, thread });
  const { workspace_id } = run;
  let root: Run = run;
  for (let above: Run | undefined = run; above; above = await runAbove(session, root)) root = above;
  const params = { workspace_id, tree_of: root.id, ...(status && { status }) };
  return (await session.call("run/list", params)).data;
}

/** None as well when it was forgotten with its thread: what is left of a delegation is shown without it. */
async function runAbove({ call }: Session, { workspace_id, parent_run_id }: Run): Promise<Run | undefined> {
  if (parent_run_id === undefined) return undefined;
  try {
    return (await call("run/get", { workspace_id, run_id: parent_run_id })).run;
  } catch (error) {
    if ((error as { kind?: string }).kind === "run.not_found") return undefined;
    throw error;
  }
}
