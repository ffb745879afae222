import { createReadStream } from "node:fs";
import { lstat, open, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import type { Readable } from "node:stream";
import { cliError, UsageError } from "../../errors.js";
import type { WorkspaceOptions } from "../../options.js";
import { note, paint, paintErr, print, printJson } from "../../output.js";
import { NO_HURRY, type Session, withSession } from "../../session.js";
import { reason } from "../agents-md/text-file.js";
import { type NamedThread, onThread } from "../thread/of-thread.js";
import { withScratchFile } from "./scratch.js";

interface ExportOptions extends WorkspaceOptions {
  readonly force?: boolean;
}

export async function exportThread(
  thread: string,
  given: string | undefined,
  options: ExportOptions,
): Promise<void> {
  if (given === "-") return toOutput(thread, options);
  const path = await whereTo(thread, given);
  await assertFree(path, options);
  const size = await withSession(options, (session) =>
    onThread(session, thread, (named) => toFile(session, named, path, options.force)),
  );
  if (options.json) return printJson({ thread_id: thread, path, size });
  print(`Exported ${thread} to ${paint.bold(path)}  ${paint.dim(`${size} bytes`)}`);
  if (given === undefined) await tellGit(path);
}

/** Whoever names no place may not think of git: a conversation would be committed with the next `git add`. */
async function tellGit(path: string): Promise<void> {
  const { readGitHead } = await import("../../../atsf/index.js");
  const head = readGitHead(dirname(path));
  if (!head) return;
  const advice = `It stands in the git work tree ${head.top}: git sees it, unless an ignore file leaves it out. \`heddle export THREAD FILE\` puts it elsewhere.`;
  note(paintErr.yellow(advice));
}

async function whereTo(thread: string, given: string | undefined): Promise<string> {
  const name = `${thread}.tar.gz`;
  if (given === undefined) return resolve(name);
  const isDirectory = await stat(given).then(
    (found) => found.isDirectory(),
    () => false,
  );
  return isDirectory ? resolve(given, name) : resolve(given);
}

async function assertFree(path: string, { force }: ExportOptions): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (!found || (force && !found.isDirectory())) return;
  throw cliError(
    { kind: "file.exists", path },
    `${path} is there already. ${found.isDirectory() ? "Give another file." : "Give another file, or --force to replace it."}`,
  );
}

/** Whole or not at all: what is replaced goes only when its successor is complete; else nothing may be there. */
async function toFile(session: Session, thread: NamedThread, path: string, force = false): Promise<number> {
  if (!force) {
    return write(session, thread, path).catch((error) => {
      throw failed(path, error);
    });
  }
  const draft = join(dirname(path), `.${basename(path)}.${process.pid}.tmp`);
  try {
    const size = await write(session, thread, draft);
    await rename(draft, path);
    return size;
  } catch (error) {
    await rm(draft, { force: true });
    throw failed(path, error);
  }
}

/** A gateway on this machine writes the file itself; one elsewhere sends its bytes. */
async function write(session: Session, named: NamedThread, path: string): Promise<number> {
  if (session.place !== "elsewhere") {
    return (await session.call("thread/export", { ...named, path }, NO_HURRY)).size;
  }
  const { archive_base64 = "", size } = await session.call("thread/export", named, NO_HURRY);
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(Buffer.from(archive_base64, "base64"));
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  return size;
}

function failed(path: string, error: unknown): unknown {
  const { kind, code, message } = error as { kind?: string; code?: unknown; message: string };
  if (kind === "archive.path_invalid") {
    const why = /ENOENT/.test(message)
      ? "there is no such directory"
      : message.replace(/^.*can't be used: /, "");
    return cliError(
      { kind: "file.unwritable", path },
      `${path} can't be written: ${why.replace(/\.$/, "")}.`,
    );
  }
  if (kind !== undefined || typeof code !== "string") return error;
  const why = reason(error as NodeJS.ErrnoException);
  return cliError({ kind: "file.unwritable", path }, `${path} can't be written: ${why}.`, error);
}

async function toOutput(thread: string, options: ExportOptions): Promise<void> {
  if (options.json) throw new UsageError("The archive itself goes to standard output: leave --json out");
  if (process.stdout.isTTY === true) {
    throw new UsageError("An archive is no text for a terminal: give a file, or send it on with | or >");
  }
  await withScratchFile(async (path) => {
    await withSession(options, (session) =>
      onThread(session, thread, (named) => toFile(session, named, path)),
    );
    await send(createReadStream(path));
  });
}

/** As fast as the reader takes it; one that has seen enough is no failure. */
async function send(archive: Readable): Promise<void> {
  const { stdout } = process;
  for await (const chunk of archive) {
    if (!stdout.writable) return;
    await new Promise<void>((done) => stdout.write(chunk, () => done()));
  }
}
