import { createWriteStream } from "node:fs";
import { open, rm } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { pipeline } from "node:stream/promises";
import { packThread } from "../atsf/index.js";
import type { ParsedParams, Result } from "../protocol/index.js";
import type { ThreadsDeps } from "./deps.js";
import { threadsError } from "./errors.js";
import { locateThread, openFiles } from "./locate.js";

/** What fits into one answer; larger archives go to a file. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** Packs a thread's directory into an archive: into the answer, or into a new file. */
export async function exportThread(
  deps: ThreadsDeps,
  params: ParsedParams<"thread/export">,
): Promise<Result<"thread/export">> {
  const { dir } = await openFiles(deps, await locateThread(deps, params));
  if (params.path === undefined) return inAnswer(dir);
  return { path: params.path, size: await toFile(dir, params.path) };
}

async function inAnswer(dir: string): Promise<Result<"thread/export">> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of packThread(dir)) {
    size += part.length;
    if (size > MAX_ANSWER_BYTES) {
      throw threadsError(
        { kind: "archive.too_large", size, limit: MAX_ANSWER_BYTES },
        `The archive is larger than ${MAX_ANSWER_BYTES} bytes, too large for an answer. Give a path to have it written to a file.`,
      );
    }
    parts.push(part);
  }
  return { archive_base64: Buffer.concat(parts).toString("base64"), size };
}

/** Never over a file that is there; one that could not be written to its end is removed. */
async function toFile(dir: string, path: string): Promise<number> {
  if (!isAbsolute(path)) throw pathInvalid(path, "it is not absolute");
  const file = await open(path, "wx", 0o600).catch((error: NodeJS.ErrnoException) => {
    throw pathInvalid(path, error.code === "EEXIST" ? "there is a file already" : error.message);
  });
  try {
    await pipeline(packThread(dir), createWriteStream(path, { fd: file.fd, autoClose: false }));
    await file.sync();
    return (await file.stat()).size;
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

export function pathInvalid(path: string, why: string) {
  return threadsError({ kind: "archive.path_invalid", path }, `${path} can't be used: ${why}.`);
}
