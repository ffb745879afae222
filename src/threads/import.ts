import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { Readable } from "node:stream";
import { type ImportedThread, importDirectory, unpackThreads } from "../atsf/index.js";
import type { ParsedParams, Result } from "../protocol/index.js";
import { threadFiles } from "../store/index.js";
import type { Call } from "../tree/index.js";
import type { ThreadsDeps } from "./deps.js";
import { pathInvalid } from "./export.js";
import { threadsDirOf } from "./files/find.js";
import { type FilesOf, reflect } from "./files/reflect.js";
import { isDirectory } from "./files/thread-files.js";
import { requireDirectory } from "./locate.js";

/** Takes threads in from an archive or a directory. What is there already stays as it is. */
export async function importThreads(
  deps: ThreadsDeps,
  params: ParsedParams<"thread/import">,
  call: Call,
): Promise<Result<"thread/import">> {
  const { workspace, root } = await requireDirectory(deps, params.workspace_id);
  const results = await takeIn(await deps.files.project(root), params);
  const data: Result<"thread/import">["data"] = [];
  for (const { threadId: thread_id, status, reason } of results) {
    const files = { workspace, thread_id, root };
    const isNew = await deps.files.turn(workspace.id, thread_id, async () => {
      if (status !== "imported" || (await yieldToWorktree(deps, files))) return false;
      await reflect(deps, files, call);
      return true;
    });
    const kept = status === "imported" && !isNew ? "exists" : status;
    data.push({ thread_id, status: kept, ...(reason !== undefined && { reason }) });
  }
  return { data };
}

/** A thread that stands in a worktree is there already: the copy that was just made must not take its place. */
async function yieldToWorktree(deps: ThreadsDeps, { workspace, thread_id, root }: FilesOf): Promise<boolean> {
  const row = await deps.store.read(() => threadFiles.findIndexed(workspace.id, thread_id));
  if (!row || row.deleted_at !== null || row.file_root === null) return false;
  if (!(await isDirectory(join(threadsDirOf(row.file_root), thread_id)))) return false;
  await (await deps.files.project(root)).remove(thread_id);
  return true;
}

async function takeIn(
  project: Parameters<typeof unpackThreads>[1],
  { archive_base64, path }: ParsedParams<"thread/import">,
): Promise<readonly ImportedThread[]> {
  if (archive_base64 !== undefined) {
    return unpackThreads(Readable.from([Buffer.from(archive_base64, "base64")]), project);
  }
  const given = path as string;
  if (!isAbsolute(given)) throw pathInvalid(given, "it is not absolute");
  const found = await stat(given).catch((error: NodeJS.ErrnoException) => {
    throw pathInvalid(given, error.code === "ENOENT" ? "there is nothing" : error.message);
  });
  if (found.isDirectory()) return importDirectory(given, project);
  if (!found.isFile()) throw pathInvalid(given, "it is neither a file nor a directory");
  return unpackThreads(createReadStream(given), project);
}
