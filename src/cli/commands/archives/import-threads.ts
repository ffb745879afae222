import { createWriteStream } from "node:fs";
import { resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Result } from "../../../protocol/index.js";
import { UsageError } from "../../errors.js";
import type { WorkspaceOptions } from "../../options.js";
import { note, paint, paintErr, print, printJson, visible } from "../../output.js";
import { progressLine } from "../../progress.js";
import { EXIT_FAILED } from "../../report.js";
import { NO_HURRY, type Session, withSession } from "../../session.js";
import { withScratchFile } from "./scratch.js";
import { archivesOf, assertThere } from "./sent-archives.js";

/** What becomes of the threads of an archive. */
type Imported = Omit<Result<"thread/import">["data"][number], "status"> & {
  readonly status: "imported" | "exists" | "invalid";
};

interface Outcome {
  readonly path: string;
  readonly thread_id?: string;
  readonly status: Imported["status"] | "refused";
  readonly reason?: string | undefined;
}

const STATUSES = ["imported", "exists", "invalid", "refused"] as const;

/** Takes in everything that was named. What is refused keeps nothing else out, and makes the command fail in the end. */
export async function importThreads(paths: readonly string[], options: WorkspaceOptions): Promise<void> {
  assertUsable(paths);
  const { outcomes, name } = await withInput(paths, (input) =>
    withSession(options, async (session) => {
      const { id, name } = await session.workspace();
      return { name, outcomes: await takeIn(session, id, paths, { input, options }) };
    }),
  );
  const summary = Object.fromEntries(
    STATUSES.map((status) => [status, outcomes.filter((each) => each.status === status).length]),
  );
  if (summary.invalid || summary.refused) process.exitCode = EXIT_FAILED;
  if (options.json) return printJson({ data: outcomes, summary });
  for (const outcome of outcomes) print(describe(outcome));
  const total = STATUSES.flatMap((status) => (summary[status] ? [`${summary[status]} ${status}`] : []));
  if (total.length > 0) note(paintErr.dim(`Into ${name}: ${total.join(", ")}`));
}

function assertUsable(paths: readonly string[]): void {
  if (paths.filter((path) => path === "-").length > 1)
    throw new UsageError("Standard input can be read once: give - once");
}

/** Standard input is read before a gateway is asked for: whoever writes it may be slow, or another command of ours. */
async function withInput<T>(paths: readonly string[], work: (input: string) => Promise<T>): Promise<T> {
  if (!paths.includes("-")) return work("");
  if (process.stdin.isTTY === true)
    throw new UsageError("There is no archive on standard input: it is a terminal");
  return withScratchFile(async (input) => {
    await pipeline(process.stdin, createWriteStream(input, { flags: "wx", mode: 0o600 }));
    return work(input);
  });
}

async function takeIn(
  session: Session,
  workspace_id: string,
  paths: readonly string[],
  { input, options }: { input: string; options: WorkspaceOptions },
): Promise<Outcome[]> {
  const progress = progressLine(options);
  const outcomes: Outcome[] = [];
  for (const [index, path] of paths.entries()) {
    if (paths.length > 1) progress.show(`Importing ${index + 1} of ${paths.length}: ${visible(path)}`);
    else progress.show(`Importing ${visible(path)}`);
    try {
      const data = await importOne(session, workspace_id, path === "-" ? input : path);
      outcomes.push(...data.map((each) => ({ path, ...each })));
      if (data.length === 0) outcomes.push({ path, status: "refused", reason: "there are no threads in it" });
    } catch (error) {
      outcomes.push({ path, status: "refused", reason: refusal(error) });
    }
  }
  progress.end();
  return outcomes;
}

/** A gateway on this machine reads the files itself; one elsewhere is sent them. */
async function importOne({ call, place }: Session, workspace_id: string, path: string): Promise<Imported[]> {
  await assertThere(path);
  if (place !== "elsewhere") {
    const { data } = await call("thread/import", { workspace_id, path: resolve(path) }, NO_HURRY);
    return data as Imported[];
  }
  const data: Imported[] = [];
  for await (const archive_base64 of archivesOf(path)) {
    const answer = await call("thread/import", { workspace_id, archive_base64 }, NO_HURRY);
    data.push(...(answer.data as Imported[]));
  }
  return data;
}

/** A refusal concerns one path; anything else (a lost connection, say) concerns all that follow. */
function refusal(error: unknown): string {
  const { name, message } = error as Error;
  if (name !== "CallError" && name !== "HeddleError") throw error;
  return message.replace(/\.$/, "");
}

const PAINT = { imported: paint.green, exists: paint.dim, invalid: paint.red, refused: paint.red };

function describe({ path, thread_id, status, reason }: Outcome): string {
  const line = `${PAINT[status](status.padEnd(8))}  ${visible(thread_id ?? path)}`;
  return reason === undefined ? line : `${line}: ${visible(reason)}`;
}
