import type { Readable } from "node:stream";
import type { Project } from "../project.js";
import { Drafts, type ImportedThread, type Rewrite } from "./drafts.js";
import { type EntryPlace, placeOf, shown, unfitPath } from "./entry-place.js";
import { isPassing } from "./leftovers.js";
import { type ArchiveEntry, archiveEntries } from "./read-archive.js";

export interface UnpackOptions {
  /** Of all files together, unpacked; default: 1 GB. */
  readonly maxBytes?: number;
  /** Files and directories; default: 100,000. */
  readonly maxEntries?: number;
  readonly rewrite?: Rewrite;
}

const MAX_BYTES = 2 ** 30;
const MAX_ENTRIES = 100_000;

/**
 * Brings the threads of an archive into a project. A thread that is there already stays as it is; one that is not sound is
 * told with the reason and leaves nothing behind. An archive that is damaged or past a limit is refused as a whole.
 */
export async function unpackThreads(
  archive: Readable,
  into: Project,
  options: UnpackOptions = {},
): Promise<ImportedThread[]> {
  const { maxBytes = MAX_BYTES, maxEntries = MAX_ENTRIES, rewrite } = options;
  const drafts = new Drafts(into, maxEntries);
  let inProject = false;
  try {
    for await (const entry of archiveEntries(archive, { maxBytes, maxEntries })) {
      const place = placeOf(entry.header.name);
      if (place.inProject && !inProject) {
        // What came before stands beside `.agent`: the files of a project, not threads.
        await drafts.forget();
        inProject = true;
      }
      if (place.inProject === inProject) await take(drafts, place, entry);
    }
    return await drafts.settle(rewrite);
  } finally {
    await drafts.close();
  }
}

async function take(drafts: Drafts, { threadId, path }: EntryPlace, entry: ArchiveEntry): Promise<void> {
  const { type, pax = {} } = entry.header;
  if (threadId === undefined) return;
  if (type === "directory") {
    await drafts.wants(threadId);
    return;
  }
  const isSparse = Object.keys(pax).some((key) => key.startsWith("GNU.sparse."));
  if (type !== "file" || isSparse) {
    await drafts.refuse(threadId, `${shown(path)} is no regular file (${isSparse ? "sparse" : type})`);
    return;
  }
  if (path === "" || isPassing(path)) return;
  const unfit = unfitPath(path);
  if (unfit === undefined) await drafts.write(threadId, path, entry.body);
  else await drafts.refuse(threadId, unfit);
}
