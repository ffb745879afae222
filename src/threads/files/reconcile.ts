import { join } from "node:path";
import { setImmediate as breathe } from "node:timers/promises";
import { HeddleError, unixSeconds } from "../../base/index.js";
import { isStoreFailure, notifications, threadFiles, workspaces } from "../../store/index.js";
import { treeChanged } from "../../tree/index.js";
import type { ThreadsDeps } from "../deps.js";
import { bringAlong } from "./bring-along.js";
import { type FoundFiles, findThreadFiles, threadsDirOf, type Unread } from "./find.js";
import { markReadOnly, reflectGone } from "./gone.js";
import { envelopeStamp, logStamp } from "./look.js";
import { pageThrough } from "./page-through.js";
import { announcements, type FilesOf, type Reading, readFiles, writeReading } from "./reflect.js";
import { isDirectory } from "./thread-files.js";

export interface Reconciled {
  readonly places: readonly string[];
  readonly threads: number;
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly problems: readonly Problem[];
}

interface Problem {
  readonly file: string;
  readonly message: string;
}

export interface ReconcileOptions {
  /** Reads every file, whether it seems changed or not. */
  readonly force?: boolean;
  readonly onProgress?: (done: number, total: number) => void;
}

/** Past this many changes at a time, clients are told to read again instead of hearing of each thread and message. */
const TOLD_ONE_BY_ONE = 25;
const BATCH = 100;
const AT_ONCE = 16;
const LOOKS_BEFORE_BREATH = 250;

/** Compares a workspace's files with the index and brings the index in line. Only what changed is read. */
export async function reconcile(
  deps: ThreadsDeps,
  workspace: FilesOf["workspace"],
  options: ReconcileOptions = {},
): Promise<Reconciled> {
  const main = deps.files.directoryOf(workspace);
  const rows: threadFiles.FileStateRow[] = [];
  for await (const row of pageThrough(deps, workspace.id, threadFiles.pageOfFileStates)) rows.push(row);
  // A directory that is not there (an unmounted disk, another data directory) says nothing about its threads.
  if (!(await isDirectory(main))) return giveFiles(deps, workspace, rows);
  const left = await bringAlong(deps, workspace);
  const places = new Map(rows.flatMap(({ id, file_root }) => (file_root === null ? [] : [[id, file_root]])));
  const found = await findThreadFiles(deps, main, places);
  const stale = await staleAmong(found, rows, { main, force: options.force ?? false });
  const files = stale.map((each) => ({ workspace, ...each }));
  const read = await readAll(deps, workspace, files, options);
  const missing = rows.filter(({ id, file_root, deleted_at }) => {
    if (deleted_at !== null || found.roots.has(id)) return false;
    return !isUnread(found, file_root) && !(left && file_root === null);
  });
  const removed = await reflectMissing(
    deps,
    workspace,
    missing.map(({ id }) => id),
  );
  const problems = [...(left ? [left] : []), ...found.unread.values()].map(problemOf).concat(read.problems);
  return { places: found.places, threads: found.roots.size, ...read, removed, problems };
}

/** What was found, and is another than the index knows. */
async function staleAmong(
  found: FoundFiles,
  rows: readonly threadFiles.FileStateRow[],
  { main, force }: { main: string; force: boolean },
): Promise<Pick<FilesOf, "thread_id" | "root">[]> {
  const known = new Map(rows.map((row) => [row.id, row]));
  const stale: Pick<FilesOf, "thread_id" | "root">[] = [];
  let looked = 0;
  for (const [thread_id, place] of found.roots) {
    if (++looked % LOOKS_BEFORE_BREATH === 0) await breathe();
    // The workspace's directory by its own name, so that the index does not take a link to it for a worktree.
    const root = place === found.places[0] ? main : place;
    const row = known.get(thread_id);
    // A copy elsewhere must not take over what can't be read at the moment.
    if (row && isUnread(found, row.file_root)) continue;
    if (force || !row || isStale(row, root, main)) stale.push({ thread_id, root });
  }
  return stale;
}

/** A directory of threads that can't be read says nothing about those that stand there. */
function isUnread({ unread, places: [main = ""] }: FoundFiles, file_root: string | null): boolean {
  return unread.has(file_root ?? main);
}

function problemOf({ file, error }: Unread): Problem {
  return { file, message: error instanceof Error ? error.message : String(error) };
}

function isStale(row: threadFiles.FileStateRow, root: string, main: string): boolean {
  const dir = join(threadsDirOf(root), row.id);
  const elsewhere = row.file_root !== (root === main ? null : root);
  if (row.deleted_at !== null || elsewhere) return true;
  return row.envelope_stamp !== envelopeStamp(dir) || row.log_stamp !== logStamp(dir);
}

async function readAll(
  deps: ThreadsDeps,
  workspace: FilesOf["workspace"],
  stale: readonly FilesOf[],
  options: ReconcileOptions,
): Promise<Pick<Reconciled, "added" | "changed"> & { problems: Problem[] }> {
  const problems: Problem[] = [];
  const onProblem = (file: string, error: unknown) => {
    problems.push(problemOf({ file, error }));
  };
  let added = 0;
  let changed = 0;
  for (let done = 0; done < stale.length; done += BATCH) {
    const batch = stale.slice(done, done + BATCH);
    const ids = batch.map(({ thread_id }) => thread_id);
    await deps.files.turns(workspace.id, ids, async () => {
      const readings = await readBatch(deps, batch, options.force ?? false, onProblem);
      const lacking = readings.filter(({ log }) => log?.log_size).map(({ files }) => files.thread_id);
      const writing = writeBatch(deps, workspace, readings);
      const counts = await deps.words.missingAfter(workspace.id, lacking, writing);
      added += counts.added;
      changed += counts.changed;
    });
    options.onProgress?.(Math.min(done + BATCH, stale.length), stale.length);
  }
  return { added, changed, problems };
}

async function readBatch(
  deps: ThreadsDeps,
  batch: readonly FilesOf[],
  force: boolean,
  onProblem: (file: string, error: unknown) => void,
): Promise<Reading[]> {
  const readings: Reading[] = [];
  const queue = [...batch];
  const work = async () => {
    for (let files = queue.shift(); files; files = queue.shift()) {
      const reading = await readOrReport(deps, files, force, onProblem);
      if (reading) readings.push(reading);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  // The newest comes last and so ends up on top.
  return readings.sort((a, b) => (a.changes.updated_at ?? 0) - (b.changes.updated_at ?? 0));
}

/** A thread that can't be read hides no other; one that was known stays listed, and can't be written to. */
async function readOrReport(
  deps: ThreadsDeps,
  files: FilesOf,
  force: boolean,
  onProblem: (file: string, error: unknown) => void,
): Promise<Reading | undefined> {
  try {
    return await readFiles(deps, files, { force, stamps: true });
  } catch (error) {
    onProblem(join(threadsDirOf(files.root), files.thread_id), error);
    await keepUnreadable(deps, files, error);
    return undefined;
  }
}

/** Lists a thread whose files can't be read as one that can't be written to. That the store is in trouble is no fault of the files. */
export async function keepUnreadable(deps: ThreadsDeps, files: FilesOf, error: unknown): Promise<void> {
  if (isStoreFailure(error)) throw error;
  const row = await deps.store.read(() => threadFiles.findIndexed(files.workspace.id, files.thread_id));
  if (!row || row.deleted_at !== null) return;
  // Files that moved since they were found say nothing about the thread where it is now.
  if ((row.file_root ?? deps.files.directoryOf(files.workspace)) !== files.root) return;
  // Back as they were, they are read all the same.
  deps.files.remember(files.workspace.id, files.thread_id, "");
  const why = error instanceof HeddleError ? error.message.replace(/\.$/, "") : "its files can't be read";
  await markReadOnly(deps, row, why);
}

async function writeBatch(
  deps: ThreadsDeps,
  workspace: FilesOf["workspace"],
  readings: readonly Reading[],
): Promise<{ added: number; changed: number }> {
  if (readings.length === 0) return { added: 0, changed: 0 };
  return deps.store.write({ key: workspace.id }, function* () {
    const counts = { added: 0, changed: 0 };
    if (!(yield* workspaces.lockWorkspace(workspace.id))) return counts;
    const news: (readonly notifications.Announcement[])[] = [];
    for (const reading of readings) {
      const written = yield* writeReading(deps, reading);
      counts.added += Number(written.made);
      counts.changed += Number(written.visible && !written.made);
      const told = announcements(reading, written);
      // Files that were only touched are no news, and do not crowd out what is.
      if (told.length > 0) news.push(told);
    }
    const told = news.length <= TOLD_ONE_BY_ONE ? news.flat() : [treeChanged(workspace.id, undefined)];
    yield* notifications.announce(workspace.id, unixSeconds(deps.clock), told);
    return counts;
  });
}

async function reflectMissing(
  deps: ThreadsDeps,
  workspace: FilesOf["workspace"],
  ids: readonly string[],
): Promise<number> {
  let removed = 0;
  for (const thread_id of ids) {
    const gone = await deps.files
      .turn(workspace.id, thread_id, () => reflectGone(deps, workspace, thread_id))
      .catch((error) => {
        deps.report(error, "a thread whose files are gone could not be taken out of the index");
        return false;
      });
    if (gone) removed++;
  }
  return removed;
}

/** Threads from before threads had files get them, where there is no project that would have to be there first. */
async function giveFiles(
  deps: ThreadsDeps,
  workspace: FilesOf["workspace"],
  rows: readonly threadFiles.FileStateRow[],
): Promise<Reconciled> {
  const bare = rows.filter(
    ({ envelope_stamp, deleted_at }) => envelope_stamp === null && deleted_at === null,
  );
  if (workspace.root_path === null)
    await reflectMissing(
      deps,
      workspace,
      bare.map(({ id }) => id),
    );
  return { places: [], threads: rows.length, added: 0, changed: 0, removed: 0, problems: [] };
}
