import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { Readable } from "node:stream";
import { type ImportedThread, importDirectory, unpackThreads } from "../atsf/index.js";
import type { ParsedParams, Result } from "../protocol/index.js";
import type { Call } from "../tree/index.js";
import type { ThreadsDeps } from "./deps.js";
import { pathInvalid } from "./export.js";
import { reflect } from "./files/reflect.js";
import { requireDirectory } from "./locate.js";

/** Takes threads in from an archive or a directory. What is there already stays as it is. */
export async function importThreads(
  deps: ThreadsDeps,
  params: ParsedParams<"thread/import">,
  call: Call,
): Promise<Result<"thread/import">> {
  const { workspace, root } = await requireDirectory(deps, params.workspace_id);
  const results = await takeIn(await deps.files.project(root), params);
  for (const { threadId: thread_id, status } of results) {
    if (status !== "imported") continue;
    await deps.files.turn(workspace.id, thread_id, () => reflect(deps, { workspace, thread_id, root }, call));
  }
  return {
    data: results.map(({ threadId, status, reason }) => ({
      thread_id: threadId,
      status,
      ...(reason !== undefined && { reason }),
    })),
  };
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
  const found = await stat(given).catch((error: Error) => {
    throw pathInvalid(given, error.message);
  });
  if (found.isDirectory()) return importDirectory(given, project);
  if (!found.isFile()) throw pathInvalid(given, "it is neither a file nor a directory");
  return unpackThreads(createReadStream(given), project);
}
