import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { HeddleError } from "../base/index.js";
import { readConfig } from "./config.js";
import { isInside } from "./confined.js";
import { readEnvelope } from "./envelope.js";
import { isMissing } from "./files.js";
import { ASSETS, configFile, ENVELOPE, gitignoreFile, isThreadId, LOG, threadsDir } from "./layout.js";
import { streamLog } from "./log/read.js";
import { type Message, message as messageSchema, type ThreadEnvelope } from "./schemas.js";
import { findSecret } from "./secrets.js";
import { countIn, type Derived, derivedOf, emptyStats, sameDerived } from "./stats.js";

export interface Problem {
  readonly file: string;
  readonly line?: number;
  /** A stable name of what is wrong. */
  readonly problem: string;
  readonly severity: "error" | "warning";
  readonly message: string;
  /** What a person can do; `repair` does it where `repairable`. */
  readonly advice: string;
  readonly repairable: boolean;
}

/** Everything that is wrong with the threads of a project directory, file by file. Changes nothing. */
export async function* validate(root: string): AsyncGenerator<Problem> {
  yield* validateConfig(root);
  yield* validateGitignore(root);
  const names = await readdir(threadsDir(root)).catch((error) => {
    if (isMissing(error)) return [];
    throw error;
  });
  for (const name of names.sort()) yield* validateThread(root, name);
}

async function* validateConfig(root: string): AsyncGenerator<Problem> {
  const file = configFile(root);
  try {
    const secret = findSecret(await readConfig(root));
    if (secret) {
      yield problem(
        file,
        "secret",
        `${secret} looks like a key or token.`,
        "Move it to where the application keeps its secrets.",
      );
    }
  } catch (error) {
    yield fromError(file, error, "Correct it by hand.");
  }
}

async function* validateGitignore(root: string): AsyncGenerator<Problem> {
  const there = await lstat(threadsDir(root)).then(
    () => true,
    () => false,
  );
  if (
    !there ||
    (await lstat(gitignoreFile(root)).then(
      () => true,
      () => false,
    ))
  )
    return;
  yield {
    ...problem(
      gitignoreFile(root),
      "missing",
      "There is none, so threads could be committed by accident.",
      "Repair writes the default one.",
    ),
    severity: "warning",
    repairable: true,
  };
}

async function* validateThread(root: string, name: string): AsyncGenerator<Problem> {
  const dir = join(threadsDir(root), name);
  if (name.startsWith(".")) return;
  if (!isThreadId(name)) {
    yield problem(dir, "invalid_thread_id", "Its name can't be a thread's id.", "Rename the directory.");
    return;
  }
  if (!(await isInside(root, dir).catch(() => true))) {
    yield problem(
      dir,
      "leads_out",
      "It is a link that leads out of the project.",
      "Replace it by a directory.",
    );
    return;
  }
  let envelope: ThreadEnvelope | undefined;
  try {
    const found = await readEnvelope(dir);
    envelope = found.envelope;
    yield* validateEnvelope(dir, found.text, found.readOnly);
  } catch (error) {
    const repairable = error instanceof HeddleError && error.kind === "atsf.invalid_file";
    yield {
      ...fromError(
        join(dir, ENVELOPE),
        error,
        repairable ? "Repair makes a new one from the log." : "Use a newer program.",
      ),
      repairable,
    };
  }
  yield* validateLog(dir, envelope);
}

async function* validateEnvelope(
  dir: string,
  text: string,
  readOnly: string | undefined,
): AsyncGenerator<Problem> {
  const file = join(dir, ENVELOPE);
  if (readOnly !== undefined) {
    yield problem(
      file,
      "other_id",
      `It is read-only: ${readOnly}.`,
      "Give directory and threadId the same name.",
    );
  }
  if (!("specVersion" in JSON.parse(text))) {
    yield {
      ...problem(file, "no_version", "It has no specVersion and is read as 1.0.", "Repair adds it."),
      severity: "warning",
      repairable: true,
    };
  }
}

async function* validateLog(dir: string, envelope: ThreadEnvelope | undefined): AsyncGenerator<Problem> {
  const file = join(dir, LOG);
  const ids = new Map<string, number>();
  let derived: Derived | undefined = envelope && {
    stats: { ...envelope.stats, ...emptyStats() },
    updatedAt: envelope.createdAt,
  };
  for await (const entry of streamLog(file)) {
    const { line } = entry;
    if ("problem" in entry) {
      yield { ...lineProblem(file, entry.problem), line };
      continue;
    }
    yield* validateMessage(dir, entry.message, line);
    const before = ids.get(entry.message.id);
    if (before !== undefined) {
      const told = `Its id ${entry.message.id} stands in line ${before} too; this one counts.`;
      yield {
        ...problem(file, "duplicate_id", told, "Nothing needs to be done."),
        severity: "warning",
        line,
      };
    }
    ids.set(entry.message.id, line);
    derived = derived && { stats: countIn(derived.stats, entry.message), updatedAt: entry.message.timestamp };
  }
  if (!envelope || !derived || sameDerived(derivedOf(envelope), derived)) return;
  const told = "Its counts or its time of change are not those of the log.";
  yield {
    ...problem(join(dir, ENVELOPE), "stale_stats", told, "Repair counts anew."),
    severity: "warning",
    repairable: true,
  };
}

async function* validateMessage(dir: string, message: Message, line: number): AsyncGenerator<Problem> {
  const file = join(dir, LOG);
  const parsed = messageSchema.safeParse(message);
  for (const issue of parsed.error?.issues.slice(0, 3) ?? []) {
    yield {
      ...problem(
        file,
        "schema",
        `${issue.path.join(".")}: ${issue.message}`,
        "Correct the program that wrote it.",
      ),
      line,
    };
  }
  for (const block of message.content) {
    if (block.type !== "image" || typeof block.assetRef !== "string") continue;
    const path = join(dir, ASSETS, block.assetRef);
    if (!/^sha256-[0-9a-f]{16,64}\.[a-z0-9]{1,8}$/.test(block.assetRef)) {
      yield {
        ...problem(
          file,
          "asset_invalid",
          `${block.assetRef} can't be an asset's name.`,
          "It is never opened.",
        ),
        line,
      };
    } else if (
      !(await lstat(path).then(
        () => true,
        () => false,
      ))
    ) {
      yield {
        ...problem(
          file,
          "asset_missing",
          `${block.assetRef} is not in assets/.`,
          "Bring it back from a backup.",
        ),
        severity: "warning",
        line,
      };
    }
  }
}

function lineProblem(file: string, what: string): Problem {
  const torn = what === "torn";
  const told: Record<string, string> = {
    torn: "The last line was not written to its end.",
    not_utf8: "The line is not UTF-8.",
    not_json: "The line is not JSON.",
    not_a_message: "The line is no message: it needs id, role and content.",
  };
  const advice = torn
    ? "Repair puts it aside; so does the next append."
    : "Readers skip it; its bytes stay. Correct it by hand.";
  return { ...problem(file, what, told[what] ?? what, advice), repairable: torn };
}

function problem(file: string, what: string, message: string, advice: string): Problem {
  return { file, problem: what, severity: "error", message, advice, repairable: false };
}

function fromError(file: string, error: unknown, advice: string): Problem {
  const { kind = "unreadable", data } = error as { kind?: string; data?: { problem?: string } };
  const what = data?.problem ?? kind.replace(/^atsf\./, "");
  return problem(file, what, error instanceof Error ? error.message : String(error), advice);
}
