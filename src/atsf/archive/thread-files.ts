import { constants } from "node:fs";
import { type FileHandle, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { reading } from "../disk.js";
import { isMissing } from "../files.js";
import { unusable } from "../json-file.js";
import { ENVELOPE, LOG } from "../layout.js";
import { readTail } from "../log/torn.js";

/** A file of a thread, open: `body` gives exactly `size` bytes, or fails. */
export interface ThreadFile {
  /** Below the thread's directory, with slashes. */
  readonly path: string;
  readonly size: number;
  readonly mtime: Date;
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * The regular files of a thread's directory, each in its turn: the envelope, the log, then the others by name. The log
 * ends with its last complete line at the moment of the call, whoever appends meanwhile. Links are passed over.
 */
export async function* threadFiles(
  dir: string,
  leaveOut: (path: string) => boolean,
): AsyncGenerator<ThreadFile> {
  const log = await openRegular(dir, LOG);
  try {
    const end = log && (await readTail(log, (await log.stat()).size)).end;
    yield* opened(dir, ENVELOPE);
    // An asset is written before the line that names it: listed later than the log's end, none is missed.
    const others = await reading(dir, () => listFiles(dir));
    if (log) yield { path: LOG, ...(await contents(log, join(dir, LOG), end)) };
    for (const path of others.sort()) {
      if (path !== ENVELOPE && path !== LOG && !leaveOut(path)) yield* opened(dir, path);
    }
  } finally {
    await log?.close();
  }
}

async function* opened(dir: string, path: string): AsyncGenerator<ThreadFile> {
  const file = await openRegular(dir, path);
  if (!file) {
    if (path === ENVELOPE) throw unusable(join(dir, path), "missing", "there is none");
    // Any other file may have been removed since it was listed; but one whose name could not be read is still there.
    if (path.includes("\uFFFD"))
      throw unusable(join(dir, path), "name_not_utf8", "its name is not UTF-8; rename it");
    return;
  }
  try {
    yield { path, ...(await contents(file, join(dir, path))) };
  } finally {
    await file.close();
  }
}

/** A name can become a link or a pipe after it was listed: neither may be followed or waited for. */
const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

async function openRegular(dir: string, path: string): Promise<FileHandle | undefined> {
  const whole = join(dir, path);
  const file = await reading(whole, () => open(whole, FLAGS)).catch((error) => {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ELOOP" || code === "EMLINK") return "link" as const;
    if (isMissing(error)) return undefined;
    throw error;
  });
  if (file === undefined) return undefined;
  if (file !== "link") {
    if ((await file.stat()).isFile()) return file;
    await file.close();
  }
  // Without these two it would be another thread; anything else that is no file is passed over.
  if (path === ENVELOPE || path === LOG) throw unusable(whole, "not_a_file", "it is a link, or no file");
  return undefined;
}

async function listFiles(dir: string, below = ""): Promise<string[]> {
  const entries = await readdir(join(dir, below), { withFileTypes: true });
  const found = await Promise.all(
    entries.map((entry) => {
      const path = below === "" ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) return listFiles(dir, path);
      return entry.isFile() ? [path] : [];
    }),
  );
  return found.flat();
}

const CHUNK = 256 * 1024;

async function contents(file: FileHandle, whole: string, end?: number): Promise<Omit<ThreadFile, "path">> {
  const { mtime, size: now } = await file.stat();
  const size = end ?? now;
  async function* body(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < size; ) {
      const buffer = Buffer.allocUnsafe(Math.min(CHUNK, size - at));
      const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
      if (bytesRead === 0) throw unusable(whole, "changed", "it was cut short while it was read; try again");
      yield buffer.subarray(0, bytesRead);
      at += bytesRead;
    }
  }
  return { size, mtime, body: body() };
}
