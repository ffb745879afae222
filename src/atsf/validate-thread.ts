import { readdir, stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { isKind } from "../base/index.js";
import { isAssetRef } from "./assets.js";
import { isInside } from "./confined.js";
import { isMissing, kindOf } from "./disk.js";
import { type ReadEnvelope, readEnvelope } from "./envelope.js";
import { ASSETS, ENVELOPE, isThreadId, LOG, threadsDir } from "./layout.js";
import type { LineProblem } from "./log/parse.js";
import { streamLog } from "./log/read.js";
import { errorIn, type Problem, refusalOf, warningIn } from "./problems.js";
import type { ThreadEnvelope } from "./schemas.js";
import { type Derived, derivedAtStart, derivedOf, deriveWith, sameDerived } from "./stats.js";
import { isUtc, parseTime } from "./time.js";
import { validateMessage } from "./validate-message.js";

/** Everything that is wrong with one thread. */
export async function* validateThread(root: string, name: string): AsyncGenerator<Problem> {
  const dir = join(threadsDir(root), name);
  const misplaced = await misplacedThread(root, dir, name);
  if (misplaced) {
    yield misplaced;
    return;
  }
  for (const file of [ENVELOPE, LOG, ASSETS]) {
    if (await isInside(dir, join(dir, file)).catch(() => true)) continue;
    const message = "It is a link that leads out of the thread, and is not followed.";
    yield errorIn(join(dir, file), { is: "leads_out", message, advice: "Replace it by what it leads to." });
    return;
  }
  const found = yield* readableEnvelope(dir);
  if (found) yield* validateEnvelope(join(dir, ENVELOPE), found);
  try {
    yield* validateLog(dir, found?.envelope);
  } catch (error) {
    yield refusalOf(join(dir, LOG), error, "Put it right by hand; until then the thread can't be read.");
  }
  yield* validateAssets(join(dir, ASSETS));
}

async function misplacedThread(root: string, dir: string, name: string): Promise<Problem | undefined> {
  if (!isThreadId(name)) {
    const message = "Its name can't be a thread's id, so nobody opens it.";
    return errorIn(dir, { is: "invalid_thread_id", message, advice: "Rename the directory." });
  }
  if (!(await isInside(root, dir).catch(() => true))) {
    const message = "It is a link that leads out of the project, and is not followed.";
    return errorIn(dir, { is: "leads_out", message, advice: "Replace it by a directory." });
  }
  const is = await noDirectory(dir);
  if (is === undefined) return undefined;
  const message = `It is ${is} where threads have their directories.`;
  return warningIn(dir, { is: "not_a_directory", message, advice: "Move it away." });
}

/** What stands where a thread's directory should, links followed. Undefined: a directory, or what may not be looked at. */
async function noDirectory(dir: string): Promise<string | undefined> {
  try {
    const found = await stat(dir);
    return found.isDirectory() ? undefined : kindOf(found);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ELOOP") return "a link in a circle";
    return isMissing(error) ? "a link to nothing" : undefined;
  }
}

async function* readableEnvelope(dir: string): AsyncGenerator<Problem, ReadEnvelope | undefined> {
  try {
    return await readEnvelope(dir);
  } catch (error) {
    const repairable = isKind(error, "atsf.invalid_file") && error.data.problem !== "not_a_file";
    const advice = repairable
      ? "Repair makes it whole from what it says and from the log."
      : adviceFor(error);
    yield refusalOf(join(dir, ENVELOPE), error, advice, { repairable });
    return undefined;
  }
}

function* validateEnvelope(file: string, { text, envelope, readOnly }: ReadEnvelope): Generator<Problem> {
  if (readOnly !== undefined) {
    const message = `The thread is read-only: ${readOnly}.`;
    yield errorIn(file, { is: "other_id", message, advice: "Give directory and threadId the same name." });
  }
  if (!("specVersion" in JSON.parse(text))) {
    const message = "It has no specVersion and is read as 1.0.";
    yield warningIn(file, { is: "no_version", message, advice: "Repair adds it." }, { repairable: true });
  }
  for (const key of ["createdAt", "updatedAt"] as const) {
    if (isUtc(envelope[key])) continue;
    const message = `${key} is ${envelope[key]}, which is not in UTC.`;
    yield warningIn(file, { is: "not_utc", message, advice: "It is read all the same; write times in UTC." });
  }
  if (isAbsolute(envelope.context.workingDir)) return;
  const message = `context.workingDir is ${envelope.context.workingDir}, which is no absolute path here.`;
  yield warningIn(file, {
    is: "not_absolute",
    message,
    advice: "context.relativeDir is used where it is given.",
  });
}

async function* validateLog(dir: string, envelope: ThreadEnvelope | undefined): AsyncGenerator<Problem> {
  const file = join(dir, LOG);
  const ids = new Map<string, number>();
  let derived: Derived | undefined = envelope && derivedAtStart(envelope);
  let latest = Number.NEGATIVE_INFINITY;
  for await (const entry of streamLog(file)) {
    const { line } = entry;
    if ("problem" in entry) {
      yield lineProblem(file, line, entry.problem);
      continue;
    }
    yield* validateMessage(dir, entry.message, line);
    const before = ids.get(entry.message.id);
    if (before !== undefined) {
      const message = `Its id ${entry.message.id} stands in line ${before} too; this one counts.`;
      yield warningIn(file, { is: "duplicate_id", message, advice: "Nothing needs to be done." }, { line });
    }
    ids.set(entry.message.id, line);
    const at = parseTime(entry.message.timestamp) ?? latest;
    if (at < latest) {
      const message = "It is older than a message above it.";
      yield warningIn(
        file,
        { is: "out_of_order", message, advice: "It is shown in its place in the file." },
        { line },
      );
    }
    if (at > latest) latest = at;
    derived = derived && deriveWith(derived, entry.message);
  }
  if (!envelope || !derived || sameDerived(derivedOf(envelope), derived)) return;
  const message = "Its counts or its time of change are not those of the log.";
  const told = { is: "stale_stats", message, advice: "Repair counts anew." };
  yield warningIn(join(dir, ENVELOPE), told, { repairable: true });
}

const LINES: Readonly<Record<LineProblem, string>> = {
  torn: "The last line was not written to its end.",
  too_long: "The line is too long to be read.",
  not_utf8: "The line is not UTF-8.",
  not_json: "The line is not JSON.",
  not_a_message: "The line is no message: it needs id, role and content.",
  no_id: "The message has no id, so nobody can refer to it.",
  unknown_role: "The message is by nobody known: role must be user, agent or system.",
};

function lineProblem(file: string, line: number, is: LineProblem): Problem {
  const torn = is === "torn";
  const advice = torn
    ? "Repair puts it aside; so does the next append."
    : "Readers skip it; its bytes stay. Correct it by hand.";
  return errorIn(file, { is, message: LINES[is], advice }, { line, repairable: torn });
}

async function* validateAssets(dir: string): AsyncGenerator<Problem> {
  const names = await readdir(dir).catch(() => []);
  for (const name of names.sort()) {
    if (isAssetRef(name) || name.startsWith(".")) continue;
    const message = `${name} can't be an asset's name, so no message can show it.`;
    const advice = "Name it sha256-<first 16 hex digits of its content's hash>.<extension>.";
    yield warningIn(join(dir, name), { is: "asset_name", message, advice });
  }
}

function adviceFor(error: unknown): string {
  if (isKind(error, "atsf.version_unsupported")) return "Use a program that knows this version.";
  if (isKind(error, "atsf.invalid_file")) return "Move it away.";
  return "Give this user the right to read it.";
}
