import type { Message, Thread as ThreadFile } from "../atsf/index.js";
import type { Thread } from "../protocol/index.js";
import type { threadFiles, Unit } from "../store/index.js";
import type { Call } from "../tree/index.js";
import { findMessage } from "./append.js";
import type { ThreadsDeps } from "./deps.js";
import { logStamp } from "./files/look.js";
import { type FilesOf, reflect, type WithIt } from "./files/reflect.js";
import {
  assertWritable,
  type LocatedThread,
  locateAhead,
  locateThread,
  type ThreadRef,
  withThread,
} from "./locate.js";

export interface Recording {
  /** In this order. One whose id stands in the log already is not written again. */
  readonly messages: readonly Message[];
  /** They may be there already: a gateway was killed in between. */
  readonly perhapsThere?: boolean;
  /** Nothing is written before this has resolved. */
  readonly after?: Promise<unknown> | undefined;
  /** Called when they stand in the log: what is to be committed with them, once they are on disk. */
  readonly withIt: (files: RecordedFiles) => Promise<() => Unit<WithIt>>;
  /** As `WriteOptions.written`. */
  readonly written?: () => void;
  readonly call?: Call;
}

export interface RecordedFiles {
  readonly located: LocatedThread;
  readonly file: ThreadFile;
  /** As they stand in the log. */
  readonly messages: readonly Message[];
}

/**
 * Appends what a run was asked or said, and commits what belongs to it together with the index. On disk first, in the
 * thread's turn.
 */
export async function recordMessages(
  deps: ThreadsDeps,
  ref: ThreadRef,
  { messages, perhapsThere = false, after, withIt, written: committed, call = {} }: Recording,
): Promise<Thread | undefined> {
  const record = async (found: LocatedThread, file: ThreadFile) => {
    const located = await upToDate(deps, found, file);
    assertWritable(located);
    await after;
    // Looking for a message brings the index forward: what was known of the thread is old then.
    const now = perhapsThere ? { ...located, row: undefined } : located;
    const appended = perhapsThere
      ? await appendMissing(deps, now, file, messages)
      : await Promise.all(messages.map((message) => appendAhead(file, message)));
    const flushed = Promise.all(appended.map((one) => one.flushed));
    flushed.catch(() => {});
    // What is to be committed is put together during the flush, and committed after it.
    const unit = await withIt({ located, file, messages: appended.map(({ message }) => message) });
    return reflect(deps, now, call, { unit, after: flushed, written: committed });
  };
  return withThread(deps, ref, record, locateAhead);
}

interface Appended {
  readonly message: Message;
  /** Resolves when it is on disk. */
  readonly flushed: Promise<unknown>;
}

/** One after the other: one that could not be kept must not stand behind a gap, nor be told. */
async function appendMissing(
  deps: ThreadsDeps,
  files: FilesOf,
  file: ThreadFile,
  messages: readonly Message[],
): Promise<Appended[]> {
  const appended: Appended[] = [];
  for (const message of messages) {
    await appended.at(-1)?.flushed;
    const there = await findMessage(deps, files, file, message.id);
    appended.push(there ? { message: there, flushed: Promise.resolve() } : await appendAhead(file, message));
  }
  return appended;
}

/** Resolves when a message stands in the log. Those that are given together are written and flushed together. */
function appendAhead(file: ThreadFile, given: Message): Promise<Appended> {
  return new Promise((resolve, reject) => {
    const flushed: Promise<unknown> = file.append(given, (message) => resolve({ message, flushed }));
    flushed.catch(reject);
  });
}

/** What another program did to the log counts first: the run's own messages come behind it, or begin a new history. */
export async function upToDate(
  deps: ThreadsDeps,
  located: LocatedThread,
  file: ThreadFile,
): Promise<LocatedThread> {
  if (logStamp(file.dir) === located.row.log_stamp) return located;
  await reflect(deps, located);
  return locateThread(deps, { workspace_id: located.workspace.id, thread_id: located.thread_id });
}

/** Whether the log stands as the index has it: nobody has written to it since. Looks at the file, and reads nothing. */
export function isLogIndexed(
  { files }: Pick<ThreadsDeps, "files">,
  { workspace_id, thread_id }: { readonly workspace_id: string; readonly thread_id: string },
  row: Pick<threadFiles.ThreadSettingsRow, "file_root" | "workspace_root" | "log_stamp">,
): boolean {
  const workspace = { id: workspace_id, root_path: row.workspace_root };
  const root = row.file_root ?? files.directoryOf(workspace);
  return row.log_stamp !== null && logStamp(files.pathOf(root, thread_id)) === row.log_stamp;
}

/** A message of a thread's log by its id. */
export async function findLogged(
  deps: ThreadsDeps,
  ref: ThreadRef,
  message_id: string,
): Promise<Message | undefined> {
  return withThread(deps, ref, (located, file) => findMessage(deps, located, file, message_id));
}
