import { resolve } from "node:path";
import type { Result } from "../../../protocol/index.js";
import { UsageError } from "../../errors.js";
import { count, note, paint, paintErr, print, printJson, visible } from "../../output.js";
import { type Progress, progressLine } from "../../progress.js";
import { EXIT_FAILED } from "../../report.js";
import { NO_HURRY, type Session, withSession } from "../../session.js";
import { type ImportOptions, TOOL_NAMES } from "./options.js";
import { type Scope, scopeOf } from "./scope.js";

type Answer = Result<"thread/import">;
type Imported = Answer["data"][number];
type Tool = NonNullable<ImportOptions["from"]>;

/** All answers of the gateway as one. */
interface Whole {
  readonly data: Imported[];
  total: number;
  elsewhere: number;
  not_read: { readonly path: string; readonly reason: string }[];
}

/** Takes in the sessions of a tool. What is wrong with one keeps no other out, and makes the command fail in the end. */
export async function importFrom(
  tool: Tool,
  paths: readonly string[],
  options: ImportOptions,
): Promise<void> {
  const [path, more] = paths;
  if (more !== undefined || path === "-")
    throw new UsageError("With --from, name one file or directory of the tool, or none");
  const { whole, scope } = await withSession(options, async (session) => {
    const scope = await scopeOf(session, options);
    const progress = progressLine(options);
    try {
      return { scope, whole: await takeAll(session, { tool, path, scope, options, progress }) };
    } finally {
      progress.end();
    }
  });
  const summary = Object.fromEntries(STATUSES.map((status) => [status, ofStatus(whole, status).length]));
  if (summary.invalid) process.exitCode = EXIT_FAILED;
  if (options.json) return printJson({ ...whole, summary, lossy: lostIn(whole) });
  tell(whole, { tool, scope, options });
}

const STATUSES = ["imported", "updated", "exists", "skipped", "invalid"] as const;

function ofStatus({ data }: Whole, status: Imported["status"]): Imported[] {
  return data.filter((each) => each.status === status);
}

interface Given {
  readonly tool: Tool;
  readonly path: string | undefined;
  readonly scope: Scope;
  readonly options: ImportOptions;
  readonly progress: Progress;
}

/** Some sessions a call, so that a gateway that stops loses no more than a few. */
async function takeAll(session: Session, { tool, path, scope, options, progress }: Given): Promise<Whole> {
  const { workspace_id, directory } = scope;
  const stop = session.client.on("import/progress", ({ workspace_id: of, done, total, title = "" }) => {
    if (of === workspace_id) progress.show(`${TOOL_NAMES[tool]}: ${done} of ${total}  ${visible(title)}`);
  });
  progress.show(`${TOOL_NAMES[tool]}: looking for sessions`);
  const params = {
    workspace_id,
    from: tool,
    directory: options.all ? undefined : directory,
    all: options.all,
    dry_run: options.dryRun,
    path: path === undefined || session.place === "elsewhere" ? path : resolve(path),
  };
  const whole: Whole = { data: [], total: 0, elsewhere: 0, not_read: [] };
  try {
    await session.call("subscribe", { workspace_id });
    let cursor: string | undefined;
    do {
      const answer = await session.call("thread/import", { ...params, cursor }, NO_HURRY);
      whole.data.push(...answer.data);
      whole.total = answer.total ?? 0;
      whole.elsewhere = answer.elsewhere ?? 0;
      whole.not_read = answer.not_read ?? [];
      cursor = answer.next_cursor;
    } while (cursor !== undefined);
    return whole;
  } finally {
    stop();
  }
}

/** What threads have no place for, of all sessions together. */
function lostIn({ data }: Whole): { what: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const { lossy = [] } of data)
    for (const { what, count } of lossy) counts.set(what, (counts.get(what) ?? 0) + count);
  return [...counts].map(([what, count]) => ({ what, count })).sort((a, b) => b.count - a.count);
}

const PAINT = {
  imported: paint.green,
  updated: paint.green,
  exists: paint.dim,
  skipped: paint.yellow,
  invalid: paint.red,
};
const MOST_LINES = 20;

function tell(whole: Whole, { tool, scope, options }: Pick<Given, "tool" | "scope" | "options">): void {
  const name = TOOL_NAMES[tool];
  if (options.dryRun) note(paintErr.bold("Nothing is changed. This is what would be done:"));
  for (const each of whole.data) if (each.status !== "exists") print(describe(each));
  const counts = STATUSES.flatMap((status) => {
    const { length } = ofStatus(whole, status);
    return length > 0 ? [`${length} ${status}`] : [];
  });
  const into = options.all ? "the workspaces of their directories" : visible(scope.name);
  if (counts.length > 0) note(paintErr.dim(`${name} into ${into}: ${counts.join(", ")}`));
  else note(`No sessions of ${name} for ${into} were found.`);
  if (whole.elsewhere > 0 && !options.all)
    note(
      paintErr.dim(
        `${count(whole.elsewhere, "session")} of other directories stayed there: --all takes them too.`,
      ),
    );
  list(
    "Not carried over:",
    lostIn(whole).map(({ what, count }) => `${count} × ${what}`),
  );
  list(
    "Not read:",
    whole.not_read.map(({ path, reason }) => `${path}: ${reason}`),
  );
}

function list(heading: string, lines: readonly string[]): void {
  if (lines.length === 0) return;
  const shown = lines.slice(0, MOST_LINES).map((line) => `  ${visible(line)}`);
  const rest = lines.length - shown.length;
  note(heading, ...shown, ...(rest > 0 ? [`  and ${rest} more (--json lists them all)`] : []));
}

function describe({ status, title, session_id, messages, added, reason }: Imported): string {
  const what = visible(title ?? session_id ?? "");
  const many =
    status === "updated"
      ? `${added} of ${count(messages ?? 0, "message")} new`
      : count(messages ?? 0, "message");
  const detail = messages === undefined ? "" : `  ${paint.dim(many)}`;
  return `${PAINT[status](status.padEnd(8))}  ${what}${detail}${reason === undefined ? "" : `: ${visible(reason)}`}`;
}
